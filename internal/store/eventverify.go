package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
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

// ChainReport is the result of a verification.
type ChainReport struct {
	Events  int // that are unchanged
	Removed int // that the retention time has removed, but whose seals remain
	Known   int // seals with a fault that an operator has acknowledged
	// Late counts the events that waited longer than SealGrace, while nothing was sealed: no server sealed,
	// or an event before them was removed and they were queued again.
	Late   int
	End    ChainEnd    // of the chain
	Fault  *ChainFault // the first; nil for an intact log
	Anchor Anchor      // the latest
}

// Anchor is the record that vouches for the seals up to its end, which may have the codes of former keys or
// be of an earlier version. The seals after it have the code of the current key.
type Anchor struct {
	End    ChainEnd // Seq is 0 if every seal has the code of the key
	Reason string   // "" if there is none
	At     time.Time
}

const (
	selectChainEnd = `SELECT seq, hash FROM event_chain`
	selectSeals    = `SELECT ` + sealColumns + ` FROM event_seals WHERE seq > ? ORDER BY seq LIMIT ?`
	selectSealed   = `SELECT ` + eventColumns + ` FROM (SELECT at AS k_at, id AS k_id FROM event_seals WHERE seq > ? AND seq <= ?) k` + eventOfKey

	selectEventKeys = `SELECT at, id FROM events`
	selectWaiting   = `SELECT k_at, k_id FROM (SELECT at AS k_at, id AS k_id FROM unsealed_events) k` + eventOfKey
	selectLost      = `SELECT at, id FROM unsealed_events WHERE at >= ?
		AND NOT EXISTS (SELECT 1 FROM events WHERE events.at = unsealed_events.at AND events.id = unsealed_events.id) ORDER BY at, id LIMIT 1`
	withoutSeal    = `SELECT at, id FROM events EXCEPT SELECT at, id FROM event_seals EXCEPT SELECT at, id FROM unsealed_events`
	selectAdded    = `SELECT at, id FROM (` + withoutSeal + `) added ORDER BY at, id LIMIT 1`
	selectRepeated = `SELECT MAX(seq), at, id FROM (SELECT seq, at, id FROM event_seals
		UNION ALL SELECT 0 AS seq, at, id FROM unsealed_events) sealed GROUP BY at, id HAVING COUNT(*) > 1 ORDER BY 1`
	verifyBatch = 1000
)

// chainCheck is the state of a verification.
type chainCheck struct {
	*EventChain
	report   ChainReport
	expected *ChainEnd
	known    KnownEnd // when the verification began
	state    chainState
	last     link
	sealed   keySet
	all      bool         // whether to find all faults
	faults   []ChainFault // all, unless they are acknowledged
}

// maxFaults bounds the faults of a verification.
const maxFaults = 100_000

// Verify compares a snapshot of the audit log with its chain, the expected end with the chain, and the last
// end that this process knows. The fault in the report is the first in the order of the chain. expected,
// unless nil, is an end of the chain that was noted earlier. Events that are not sealed yet are not
// covered: call Seal before.
func (c *EventChain) Verify(ctx context.Context, expected *ChainEnd) (ChainReport, error) {
	v := &chainCheck{EventChain: c, expected: expected, sealed: newKeySet()}
	err := v.verify(ctx)
	return v.report, err
}

// Faults returns all faults of the log that no anchor has acknowledged.
func (c *EventChain) Faults(ctx context.Context, expected *ChainEnd) ([]ChainFault, error) {
	v := &chainCheck{EventChain: c, expected: expected, sealed: newKeySet(), all: true}
	err := v.verify(ctx)
	return v.faults, err
}

func (v *chainCheck) verify(ctx context.Context) error {
	err := v.snapshot(ctx, func(r Reader) error {
		for _, check := range []func(context.Context, Reader) error{v.checkSeals, v.checkEnd, v.checkLost, v.checkUnsealed} {
			if err := check(ctx, r); err != nil || v.stops() {
				return err
			}
		}
		return nil
	})
	v.report.End = v.last.ChainEnd
	return err
}

// snapshot calls do with the log at one moment, after reading its state.
func (v *chainCheck) snapshot(ctx context.Context, do func(Reader) error) error {
	v.known = v.Known()
	return v.store.Snapshot(ctx, func(r Reader) (err error) {
		if err := v.planByIndex(ctx, r); err != nil {
			return err
		}
		if v.state, err = v.latestState(ctx, r); err != nil {
			return err
		}
		v.report.Anchor = Anchor{v.state.Anchor, v.state.reason, v.state.anchoredAt}
		return do(r)
	})
}

// stops reports whether the verification has found what it looks for.
func (v *chainCheck) stops() bool {
	return v.report.Fault != nil && !v.all || len(v.faults) >= maxFaults
}

// VerifyPart is Verify for at most limit seals after the given end, so that a request has a bounded
// cost; nil starts at the beginning. Complete reports that it reached the end of the chain. Unlike
// Verify it does not find events that were added without a seal: that reads the whole log.
func (c *EventChain) VerifyPart(ctx context.Context, after, expected *ChainEnd, limit int) (report ChainReport, complete bool, err error) {
	v := &chainCheck{EventChain: c, expected: expected}
	err = v.snapshot(ctx, func(r Reader) (err error) {
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
	v.report.End = v.last.ChainEnd
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
	v.last = link{*after, seals[0].sealedAt}
	return nil
}

// checkSeals checks all seals with their events.
func (v *chainCheck) checkSeals(ctx context.Context, r Reader) error {
	for {
		if complete, err := v.checkPart(ctx, r, verifyBatch); err != nil || complete || v.stops() {
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
			if v.checkSeal(&seals[i], events[schemas.EventKey{At: seals[i].at, ID: seals[i].id}]); v.stops() {
				return false, nil
			}
		}
	}
	return false, nil
}

// checkSeal checks the next seal. event is nil if it is not in the log.
func (v *chainCheck) checkSeal(s *eventSeal, event *schemas.Event) {
	removed := event == nil && s.at.Before(v.state.KeptFrom)
	intact := event != nil && bytes.Equal(eventDigest(event), s.digest)
	record, forged := v.recordOf(s, event)
	begins := v.last.Seq == 0 && s.seq > 1 // the seals before it were removed with their events
	follows := begins || s.seq == v.last.Seq+1 || record
	for _, check := range []struct {
		failed        bool
		kind, problem string
	}{
		{begins && s.seq > max(v.state.First, 1), faultGap, "the events before it are missing"},
		{!follows, faultGap, fmt.Sprintf("the seals %d to %d before it are missing", v.last.Seq+1, s.seq-1)},
		{event == nil && !removed, faultMissing, "the event is missing"},
		{event != nil && !intact, faultAltered, "the event was altered"},
		{follows && !begins && !bytes.Equal(s.chained(v.last.Hash), s.hash), faultSeal, "the seal of the event, or of one before it, was altered"},
		{!v.hasCode(s), faultSeal, "the seal of the event was altered, or was not made with the key of the server"},
		{v.expected != nil && v.expected.Seq == s.seq && !bytes.Equal(v.expected.Hash, s.hash), faultExpected, fmt.Sprintf("the chain up to it differs from the expected %v", v.expected)},
		{forged, faultRecord, "the event reports a removal of events, or a new beginning of the chain, that no server has recorded at this place"},
	} {
		if check.failed && v.fault(check.kind, s, check.problem) {
			break
		}
	}
	if !record && isLate(v.last.sealedAt, toMicros(s.at), s.sealedAt) {
		v.report.Late++
	}
	v.count(s, removed, intact)
	v.last = link{ChainEnd{s.seq, s.hash}, s.sealedAt}
}

// count counts a seal whose event is as it should be.
func (v *chainCheck) count(s *eventSeal, removed, intact bool) {
	switch {
	case v.report.Fault != nil:
	case removed:
		v.report.Removed++
	case intact:
		v.report.Events++
	}
	if !removed {
		v.sealed.add(schemas.EventKey{At: s.at, ID: s.id})
	}
}

// recordOf reports whether the event is a keyed one in its place, or claims to be.
func (v *chainCheck) recordOf(s *eventSeal, event *schemas.Event) (record, forged bool) {
	if event == nil || !isKeyed(event) || s.seq <= v.state.Anchor.Seq {
		return false, false
	}
	found, ok := v.read(event)
	begins := v.last.Seq == 0
	record = ok && found.seq == s.seq && (begins || found.previous.Seq == v.last.Seq && bytes.Equal(found.previous.Hash, v.last.Hash))
	return record, !record
}

// hasCode reports whether a seal has the code of the key, or is one that an anchor vouches for.
func (v *chainCheck) hasCode(s *eventSeal) bool {
	anchor := v.state.Anchor
	switch {
	case s.seq == anchor.Seq && !bytes.Equal(s.hash, anchor.Hash):
		return false
	case s.keyID == v.keyID && s.sealedAt > 0:
		return v.made(s)
	}
	return s.seq <= anchor.Seq
}

// fault adds a fault, unless it is acknowledged.
func (v *chainCheck) fault(kind string, s *eventSeal, problem string) (isNew bool) {
	if v.state.Known.has(kind, s.seq) {
		v.report.Known++
		return false
	}
	v.add(ChainFault{kind, s.seq, schemas.EventKey{At: s.at, ID: s.id}, problem})
	return true
}

func (v *chainCheck) add(f ChainFault) {
	if v.report.Fault == nil {
		v.report.Fault = &f
	}
	v.faults = append(v.faults, f)
}

// checkEnd checks that the last seal is the end of the chain, and that the chain contains the ends that are
// known.
func (v *chainCheck) checkEnd(ctx context.Context, r Reader) error {
	end, err := readAll(ctx, r, scanChainEnd, selectChainEnd)
	if err != nil {
		return err
	}
	last, problem := v.last.ChainEnd, ""
	switch {
	case len(end) == 0 || end[0].Seq != last.Seq || !bytes.Equal(end[0].Hash, last.Hash):
		problem = "the seals after it are missing, or the end of the chain was altered"
	case v.expected != nil && v.expected.Seq > last.Seq:
		problem = fmt.Sprintf("the chain ends here, before the expected %v", v.expected)
	case v.known.Seq > 0 && !v.state.Restarted.After(v.known.At):
		problem, err = v.missingEnd(ctx, r, last, v.known.ChainEnd)
	}
	if problem != "" {
		v.add(ChainFault{Kind: faultEnd, Seq: last.Seq, Problem: problem})
	}
	return err
}

// checkLost finds recorded events that were removed before they were sealed.
func (v *chainCheck) checkLost(ctx context.Context, r Reader) error {
	lost, err := readAll(ctx, r, scanEventKey, selectLost, toMicros(v.state.KeptFrom))
	if err == nil && len(lost) > 0 {
		v.add(ChainFault{Kind: faultLost, Event: lost[0], Problem: "the event is missing; it was removed before it was sealed"})
	}
	return err
}

// checkUnsealed finds events that were added without a seal, and those that were sealed twice. If the keys
// of the events are those of the seals and of the queue, there are none.
func (v *chainCheck) checkUnsealed(ctx context.Context, r Reader) error {
	recorded := v.sealed.empty()
	if err := recorded.read(ctx, r, selectEventKeys); err != nil {
		return err
	}
	if err := v.sealed.read(ctx, r, selectWaiting); err != nil || v.sealed.sum == recorded.sum {
		return err
	}
	added, err := readAll(ctx, r, scanEventKey, selectAdded)
	if err == nil && len(added) > 0 {
		v.add(ChainFault{Kind: faultAdded, Event: added[0], Problem: "the event has no seal: its seal was removed, or the event was added to the database"})
	}
	if err != nil || v.stops() {
		return err
	}
	return v.checkRepeated(ctx, r)
}

// checkRepeated finds the seals of events that an earlier seal has, or that are in the queue again.
func (v *chainCheck) checkRepeated(ctx context.Context, r Reader) error {
	return rows(ctx, r, func(row scanner) error {
		var s eventSeal
		err := row.Scan(&s.seq, (*microTime)(&s.at), &s.id)
		if err == nil && !v.stops() {
			v.fault(faultRepeated, &s, "the event was sealed before: it was queued again")
		}
		return err
	}, selectRepeated)
}

func scanEventKey(row scanner, k *schemas.EventKey) error {
	return row.Scan((*microTime)(&k.At), &k.ID)
}

// keySet is a digest of a set of keys, in which a key may occur several times: the sum of their hashes. The
// salt makes collisions unpredictable. It compares millions of keys in any order, without a join.
type keySet struct {
	salt []byte
	sum  [4]uint64
}

func newKeySet() keySet {
	salt := make([]byte, 16)
	rand.Read(salt) // never fails
	return keySet{salt: salt}
}

// empty returns an empty set with the same salt.
func (k keySet) empty() keySet { return keySet{salt: k.salt} }

func (k *keySet) add(key schemas.EventKey) {
	b := append(binary.BigEndian.AppendUint64(append([]byte(nil), k.salt...), uint64(toMicros(key.At))), key.ID...)
	hash := sha256.Sum256(b)
	carry := uint64(0)
	for i := range k.sum {
		k.sum[i], carry = bits.Add64(k.sum[i], binary.LittleEndian.Uint64(hash[8*i:]), carry)
	}
}

func (k *keySet) read(ctx context.Context, r Reader, q string) error {
	return rows(ctx, r, func(row scanner) error {
		var key schemas.EventKey
		err := scanEventKey(row, &key)
		k.add(key)
		return err
	}, q)
}
