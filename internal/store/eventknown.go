package store

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// KnownEnd is an end of the chain with the time at which it was seen. It must remain in the chain, unless the
// log was restored from a backup or repaired later.
type KnownEnd struct {
	ChainEnd
	At time.Time
}

const selectFirstSeal = `SELECT COALESCE(MIN(seq), 0) FROM event_seals`

// Known returns the last end that this process has seen; its Seq is 0 if it has seen none.
func (c *EventChain) Known() KnownEnd {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

// Remember adds an end that was seen earlier, such as before a restart.
func (c *EventChain) Remember(end KnownEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end.Seq > c.known.Seq {
		c.known = end
	}
}

// learn remembers the end that a transaction has found or made.
func (c *EventChain) learn(end link) {
	if end.Seq > 0 {
		c.Remember(KnownEnd{end.ChainEnd, c.Now()})
	}
}

// forget replaces the known end.
func (c *EventChain) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = KnownEnd{}
}

// Check checks that the chain may be extended, and still contains the end that this process knows. It fails
// with ChainBroken.
func (c *EventChain) Check(ctx context.Context) error {
	_, err := c.check(ctx)
	return err
}

func (c *EventChain) check(ctx context.Context) (last link, err error) {
	known := c.Known()
	err = c.store.Snapshot(ctx, func(r Reader) error {
		end, err := chainEnd(ctx, r)
		if err != nil {
			return err
		}
		last, err = c.checkLast(ctx, r, end, known)
		return err
	})
	return last, err
}

// chainEnd returns the end of the chain.
func chainEnd(ctx context.Context, r Reader) (ChainEnd, error) {
	end, err := readAll(ctx, r, scanChainEnd, selectChainEnd)
	if err != nil || len(end) > 0 {
		return append(end, ChainEnd{})[0], err
	}
	return ChainEnd{}, brokenAt(0, "the end of the chain is missing")
}

// Contains checks that the chain contains an end that was seen earlier, unless the log was restored or
// repaired since. It fails with ChainBroken.
func (c *EventChain) Contains(ctx context.Context, end KnownEnd) error {
	return c.store.Snapshot(ctx, func(r Reader) error {
		last, err := chainEnd(ctx, r)
		if err != nil {
			return err
		}
		return c.checkKnown(ctx, r, last, end)
	})
}

// confirm is Check, and makes the log of an earlier version a part of the chain.
func (c *EventChain) confirm(ctx context.Context) error {
	last, err := c.check(ctx)
	if err != nil || last.Seq == 0 {
		return err
	}
	if last.sealedAt == 0 {
		err = c.store.writer.write(ctx, func(t *Tx) (err error) {
			last, err = c.lock(t)
			return err
		})
	}
	if err == nil {
		c.seen(last)
	}
	return err
}

// seen remembers that an end is still the last.
func (c *EventChain) seen(end link) {
	c.learn(end)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known.Seq == end.Seq {
		c.known.At = c.Now()
	}
}

// checkKnown checks that the chain contains an end that was seen earlier.
func (c *EventChain) checkKnown(ctx context.Context, r Reader, end ChainEnd, known KnownEnd) error {
	if known.Seq == 0 {
		return nil
	}
	problem, err := c.missingEnd(ctx, r, end, known.ChainEnd)
	if err != nil || problem == "" {
		return err
	}
	state, err := c.latestState(ctx, r)
	if err == nil && state.Restarted.After(known.At) {
		c.forget()
		return nil
	}
	if err == nil {
		err = brokenAt(end.Seq, "%s", problem)
	}
	return err
}

// missingEnd describes why the chain does not contain an end, "" if it does.
func (c *EventChain) missingEnd(ctx context.Context, r Reader, last, end ChainEnd) (problem string, err error) {
	if end.Seq > last.Seq {
		return fmt.Sprintf("the chain ends here, before the expected %v", end), nil
	}
	seals, err := readAll(ctx, r, scanSeal, selectSeals, end.Seq-1, 1)
	if err != nil || len(seals) > 0 && seals[0].seq == end.Seq && bytes.Equal(seals[0].hash, end.Hash) {
		return "", err
	}
	first, err := readValue[int64](ctx, r, selectFirstSeal)
	if err == nil && end.Seq < first {
		return "", nil // it was removed with its event; Verify checks that it was due
	}
	return fmt.Sprintf("the chain does not contain the expected %v", end), err
}
