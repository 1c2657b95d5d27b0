package store

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

// ChainEnd is the number and the hash of a seal. One that is stored elsewhere proves later that
// no event up to it was altered or removed, even to a reader who does not trust the key.
type ChainEnd struct {
	Seq  int64
	Hash []byte
}

// String returns the end as NUMBER:HASH, with the hash in hexadecimal.
func (e ChainEnd) String() string { return fmt.Sprintf("%d:%s", e.Seq, hex.EncodeToString(e.Hash)) }

func scanChainEnd(row scanner, e *ChainEnd) error { return row.Scan(&e.Seq, &e.Hash) }

// ChainFault is the first position at which an audit log differs from what was recorded.
type ChainFault struct {
	Seq     int64            // of the seal; 0 for an event without one
	Event   schemas.EventKey // zero if it is unknown
	Problem string
}

// ChainReport is the result of a verification.
type ChainReport struct {
	Events  int         // that are unchanged
	Removed int         // that the retention time has removed, but whose seals remain
	End     ChainEnd    // of the chain
	Fault   *ChainFault // nil for an intact log
}

const (
	selectChainEnd = `SELECT seq, hash FROM event_chain`
	selectSeals    = `SELECT ` + sealColumns + ` FROM event_seals WHERE seq > ? ORDER BY seq LIMIT ?`
	selectSealed   = `SELECT ` + eventColumns + ` FROM events JOIN (SELECT at, id FROM event_seals WHERE seq > ? AND seq <= ?) s USING (at, id)`
	selectTrims    = `SELECT detail FROM events WHERE action = 'audit.trimmed'`

	selectLost = `SELECT u.at, u.id FROM unsealed_events u LEFT JOIN events e ON e.at = u.at AND e.id = u.id
		WHERE e.id IS NULL AND u.at >= ? ORDER BY u.at, u.id LIMIT 1`
	selectAdded = `SELECT e.at, e.id FROM events e LEFT JOIN event_seals s ON s.at = e.at AND s.id = e.id
		LEFT JOIN unsealed_events u ON u.at = e.at AND u.id = e.id WHERE s.id IS NULL AND u.id IS NULL ORDER BY e.at, e.id LIMIT 1`
	verifyBatch = 1000
)

// chainCheck is the state of a verification.
type chainCheck struct {
	EventChain
	report    ChainReport
	expected  *ChainEnd
	last      ChainEnd
	keptFrom  time.Time // earlier events were removed by the retention time
	keyed     bool      // whether a seal had the current key
	lastKeyed bool
}

// Verify compares a snapshot of the audit log with its chain. The fault in the report is the first
// in the order of the chain. expected, unless nil, is an end of the chain that was noted earlier.
// Events that are not sealed yet are not covered: call Seal before.
func (c EventChain) Verify(ctx context.Context, expected *ChainEnd) (ChainReport, error) {
	v := &chainCheck{EventChain: c, expected: expected}
	err := c.store.Snapshot(ctx, func(r Reader) (err error) {
		if v.keptFrom, err = keptFrom(ctx, r); err != nil {
			return err
		}
		if err := v.checkSeals(ctx, r); err != nil || v.report.Fault != nil {
			return err
		}
		if err := v.checkEnd(ctx, r); err != nil || v.report.Fault != nil {
			return err
		}
		return v.checkUnsealed(ctx, r)
	})
	v.report.End = v.last
	return v.report, err
}

// VerifyPart is Verify for at most limit seals after the given end, so that a request has a bounded
// cost; nil starts at the beginning. Complete reports that it reached the end of the chain. Unlike
// Verify it does not find events that were added without a seal: that reads the whole log.
func (c EventChain) VerifyPart(ctx context.Context, after, expected *ChainEnd, limit int) (report ChainReport, complete bool, err error) {
	v := &chainCheck{EventChain: c, expected: expected}
	err = c.store.Snapshot(ctx, func(r Reader) (err error) {
		if v.keptFrom, err = keptFrom(ctx, r); err != nil {
			return err
		}
		if err := v.resume(ctx, r, after); err != nil {
			return err
		}
		if complete, err = v.checkPart(ctx, r, limit); err != nil || v.report.Fault != nil || !complete {
			return err
		}
		if err := v.checkEnd(ctx, r); err != nil || v.report.Fault != nil {
			return err
		}
		return v.checkLost(ctx, r)
	})
	v.report.End = v.last
	return v.report, complete, err
}

// resume continues after a seal, which must be as the earlier part reported it.
func (v *chainCheck) resume(ctx context.Context, r Reader, after *ChainEnd) error {
	if after == nil {
		return nil
	}
	seals, err := readAll(ctx, r, scanSeal, selectSeals, after.Seq-1, 1)
	if err != nil {
		return err
	}
	if len(seals) == 0 || seals[0].seq != after.Seq || !bytes.Equal(seals[0].hash, after.Hash) {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the log no longer has the seal %v; verify it again from the beginning", *after)
	}
	v.last, v.lastKeyed = *after, seals[0].keyID == v.keyID
	v.keyed = v.lastKeyed
	return nil
}

// keptFrom returns the time before which the log itself reports that events were removed.
func keptFrom(ctx context.Context, r Reader) (kept time.Time, err error) {
	type detail = map[string]string
	trims, err := readAll(ctx, r, func(row scanner, d *detail) error { return row.Scan(asJSON(d)) }, selectTrims)
	for _, d := range trims {
		if before, err := time.Parse(time.RFC3339, d["before"]); err == nil && before.After(kept) {
			kept = before
		}
	}
	return kept, err
}

// checkSeals checks all seals with their events.
func (v *chainCheck) checkSeals(ctx context.Context, r Reader) error {
	for {
		if complete, err := v.checkPart(ctx, r, verifyBatch); err != nil || complete || v.report.Fault != nil {
			return err
		}
	}
}

// checkPart checks at most limit further seals with their events. Complete reports that there are
// no more.
func (v *chainCheck) checkPart(ctx context.Context, r Reader, limit int) (complete bool, err error) {
	for limit > 0 {
		seals, err := readAll(ctx, r, scanSeal, selectSeals, v.last.Seq, min(limit, verifyBatch))
		if err != nil || len(seals) == 0 {
			return err == nil, err
		}
		limit -= len(seals)
		events, err := sealedEvents(ctx, r, v.last.Seq, seals[len(seals)-1].seq)
		if err != nil {
			return false, err
		}
		for i := range seals {
			if v.checkSeal(&seals[i], events[schemas.EventKey{At: seals[i].at, ID: seals[i].id}]); v.report.Fault != nil {
				return false, nil
			}
		}
	}
	return false, nil
}

// checkSeal checks the next seal. event is nil if it is not in the log.
func (v *chainCheck) checkSeal(s *eventSeal, event *schemas.Event) {
	removed := event == nil && s.at.Before(v.keptFrom)
	anchor := v.last.Seq == 0 && s.seq > 1 // the seals before it were removed with their events
	v.lastKeyed = s.keyID == v.keyID
	switch {
	case anchor && !s.at.Before(v.keptFrom):
		v.fault(s, "the events before it are missing")
	case !anchor && s.seq != v.last.Seq+1:
		v.fault(s, "the seals %d to %d before it are missing", v.last.Seq+1, s.seq-1)
	case event == nil && !removed:
		v.fault(s, "the event is missing")
	case event != nil && !bytes.Equal(eventDigest(event), s.digest):
		v.fault(s, "the event was altered")
	case !anchor && !bytes.Equal(s.chained(v.last.Hash), s.hash), v.lastKeyed && !hmac.Equal(v.mac(s.hash), s.mac), v.keyed && !v.lastKeyed:
		v.fault(s, "the seal of the event, or of one before it, was altered")
	case v.expected != nil && v.expected.Seq == s.seq && !bytes.Equal(v.expected.Hash, s.hash):
		v.fault(s, "the chain up to it differs from the expected %v", v.expected)
	case removed:
		v.report.Removed++
	default:
		v.report.Events++
	}
	v.keyed = v.keyed || v.lastKeyed
	v.last = ChainEnd{s.seq, s.hash}
}

func (v *chainCheck) fault(s *eventSeal, problem string, args ...any) {
	v.report.Fault = &ChainFault{s.seq, schemas.EventKey{At: s.at, ID: s.id}, fmt.Sprintf(problem, args...)}
}

// checkEnd checks that the last seal is the end of the chain and has the current key.
func (v *chainCheck) checkEnd(ctx context.Context, r Reader) error {
	end, err := readAll(ctx, r, scanChainEnd, selectChainEnd)
	if err != nil {
		return err
	}
	problem := ""
	switch {
	case len(end) == 0 || end[0].Seq != v.last.Seq || !bytes.Equal(end[0].Hash, v.last.Hash):
		problem = "the seals after it are missing, or the end of the chain was altered"
	case v.last.Seq > 0 && !v.lastKeyed:
		problem = "the last seal was not made with the current key, so the log may be forged"
	case v.expected != nil && v.expected.Seq > v.last.Seq:
		problem = fmt.Sprintf("the chain ends here, before the expected %v", v.expected)
	}
	if problem != "" {
		v.report.Fault = &ChainFault{Seq: v.last.Seq, Problem: problem}
	}
	return nil
}

// checkUnsealed finds recorded events that were removed before they were sealed, and events that
// were added without a seal.
func (v *chainCheck) checkUnsealed(ctx context.Context, r Reader) error {
	if err := v.checkLost(ctx, r); err != nil || v.report.Fault != nil {
		return err
	}
	added, err := readAll(ctx, r, scanEventKey, selectAdded)
	if err == nil && len(added) > 0 {
		v.report.Fault = &ChainFault{Event: added[0], Problem: "the event has no seal: its seal was removed, or the event was added to the database"}
	}
	return err
}

// checkLost finds recorded events that were removed before they were sealed.
func (v *chainCheck) checkLost(ctx context.Context, r Reader) error {
	lost, err := readAll(ctx, r, scanEventKey, selectLost, toMicros(v.keptFrom))
	if err == nil && len(lost) > 0 {
		v.report.Fault = &ChainFault{Event: lost[0], Problem: "the event is missing; it was removed before it was sealed"}
	}
	return err
}

func scanEventKey(row scanner, k *schemas.EventKey) error {
	return row.Scan((*microTime)(&k.At), &k.ID)
}
