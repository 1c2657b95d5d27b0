package store

import "context"

// signals report commits of this process to its background tasks, so that these need not poll an
// idle database. Commits of other processes are not reported.
type signals struct{ queued, recorded chan struct{} }

func newSignals() signals { return signals{make(chan struct{}, 1), make(chan struct{}, 1)} }

// Queued receives a value after deliveries were queued, one for any number of commits.
func (s *Store) Queued() <-chan struct{} { return s.signals.queued }

// Recorded is Queued for events of the audit log.
func (s *Store) Recorded() <-chan struct{} { return s.signals.recorded }

// effects are the effects of a write that others of this process need to know.
type effects struct {
	queued, recorded bool
	remembered       bool // whether it changed what remember returns
}

// note notes the effect of a statement.
func (e *effects) note(q string) {
	e.remembered = e.remembered || changesRemembered.MatchString(q)
}

// signalingWriter sends signals after its writes, and lets the store forget what they changed.
type signalingWriter struct {
	writer
	signals
	memo *memo
}

func (w signalingWriter) write(ctx context.Context, do func(*Tx) error) error {
	return w.signal(ctx, w.writer.write, do)
}

func (w signalingWriter) single(ctx context.Context, do func(*Tx) error) error {
	if aheadOf(ctx).assumption() != nil {
		return w.write(ctx, do) // two statements
	}
	return w.signal(ctx, w.writer.single, do)
}

func (w signalingWriter) serial(ctx context.Context, do func(*Tx) error) error {
	return w.signal(ctx, w.writer.serial, do)
}

func (w signalingWriter) signal(ctx context.Context, write func(context.Context, func(*Tx) error) error, do func(*Tx) error) error {
	kept := aheadOf(ctx)
	kept.discard()
	do = onAssumption(kept.assumption(), do)
	var did effects
	err := write(ctx, func(t *Tx) error {
		t.did = effects{} // SQLite runs the writes of many callers in one transaction
		defer func() { did = t.did }()
		return do(t)
	})
	if err == nil {
		kept.confirm()
	}
	if did.remembered {
		w.memo.forget()
	}
	if err == nil && did.queued {
		notify(w.queued)
	}
	if err == nil && did.recorded {
		notify(w.recorded)
	}
	return err
}

// notify leaves one value in a channel.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
