package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Some events change what a verification accepts: audit.trimmed reports that old events were removed, and
// audit.anchored that a new chain begins after the previous seal. A writer to the database could add such
// events, and a server would seal them like others. So they have a code of the key over all members, their
// number in the chain and the seal before. Each contains the whole state of the log, so that a verification
// needs the latest only: the earlier ones may have been removed, or have the code of a former key.

// The actions of keyed events.
const (
	actionTrimmed  = "audit.trimmed"
	actionAnchored = "audit.anchored"
)

// The reasons of anchors.
const (
	anchorUpgrade  = "upgrade"  // the seals before are of an earlier version
	anchorKey      = "key"      // the key of the seals was replaced
	anchorRestored = "restored" // the store was restored from a backup
	anchorRepaired = "repaired" // an operator has acknowledged a break
)

// chainState is the state of the log since the latest keyed event.
type chainState struct {
	KeptFrom  time.Time // events before were removed after the retention time
	First     int64     // the number of the first seal that must exist; those before went with their events
	Anchor    ChainEnd  // the seals up to it may have the codes of other keys, or be of an earlier version
	Restarted time.Time // when the log was last restored or repaired
	Known     faultRanges

	reason     string // of the latest anchor
	anchoredAt time.Time
}

const selectKeyed = `SELECT ` + eventColumns + ` FROM events WHERE action = ? AND action NOT IN ('passkey.used', 'password.used', 'user.signed_in') ORDER BY at, id`

// The members of the detail of keyed events.
const (
	detailCode     = "code"
	detailSeal     = "seal"
	detailPrevious = "previousSeal"
	detailKept     = "before"
	detailFirst    = "firstSeal"
	detailAnchor   = "anchor"
	detailRestart  = "restartedAt"
	detailKnown    = "knownFaults"
	detailReason   = "reason"
	detailAnchored = "anchoredAt"

	detailRetention = "retention"
)

// detail returns the state as members of an event.
func (s *chainState) detail() map[string]string {
	d := map[string]string{}
	set := func(name, value string, isSet bool) {
		if isSet {
			d[name] = value
		}
	}
	set(detailKept, s.KeptFrom.UTC().Format(time.RFC3339Nano), !s.KeptFrom.IsZero())
	set(detailFirst, strconv.FormatInt(s.First, 10), s.First > 0)
	set(detailAnchor, s.Anchor.String(), s.Anchor.Seq > 0)
	set(detailRestart, s.Restarted.UTC().Format(time.RFC3339Nano), !s.Restarted.IsZero())
	set(detailKnown, s.Known.String(), len(s.Known) > 0)
	set(detailReason, s.reason, s.reason != "")
	set(detailAnchored, s.anchoredAt.UTC().Format(time.RFC3339Nano), !s.anchoredAt.IsZero())
	return d
}

// parseState is the inverse of detail. Its input has the code of the key.
func parseState(d map[string]string) (s chainState) {
	s.KeptFrom, _ = time.Parse(time.RFC3339, d[detailKept])
	s.First, _ = strconv.ParseInt(d[detailFirst], 10, 64)
	s.Anchor = parseEnd(d[detailAnchor])
	s.Restarted, _ = time.Parse(time.RFC3339, d[detailRestart])
	s.Known = parseFaultRanges(d[detailKnown])
	s.reason = d[detailReason]
	s.anchoredAt, _ = time.Parse(time.RFC3339, d[detailAnchored])
	return s
}

// parseEnd is the inverse of ChainEnd.String.
func parseEnd(text string) (end ChainEnd) {
	number, hash, _ := strings.Cut(text, ":")
	end.Seq, _ = strconv.ParseInt(number, 10, 64)
	end.Hash, _ = hex.DecodeString(hash)
	return end
}

// code returns the code of a keyed event.
func (c *EventChain) code(e *schemas.Event) string {
	signed := *e
	signed.Detail = maps.Clone(e.Detail)
	delete(signed.Detail, detailCode)
	return hex.EncodeToString(keyedHash(c.key, "keyed event "+string(eventDigest(&signed))))
}

// isKeyed reports whether an event changes what a verification accepts.
func isKeyed(e *schemas.Event) bool { return e.Action == actionTrimmed || e.Action == actionAnchored }

// record is a keyed event with a valid code.
type record struct {
	seq      int64
	previous ChainEnd
	key      schemas.EventKey
	state    chainState
}

// read returns the record of a keyed event; ok is false without a valid code of the key.
func (c *EventChain) read(e *schemas.Event) (r record, ok bool) {
	if !isKeyed(e) || !hmac.Equal([]byte(c.code(e)), []byte(e.Detail[detailCode])) {
		return r, false
	}
	r.seq, _ = strconv.ParseInt(e.Detail[detailSeal], 10, 64)
	r.previous, r.key, r.state = parseEnd(e.Detail[detailPrevious]), schemas.EventKey{At: e.At, ID: e.ID}, parseState(e.Detail)
	retention, _ := time.ParseDuration(e.Detail[detailRetention])
	return r, !r.state.KeptFrom.After(e.At.Add(-retention))
}

// latestState returns the state of the last record that is in the chain at its place.
func (c *EventChain) latestState(ctx context.Context, r Reader) (chainState, error) {
	var valid []record
	for _, action := range []string{actionTrimmed, actionAnchored} {
		err := rows(ctx, r, func(row scanner) error {
			var e schemas.Event
			err := scanEvent(row, &e)
			if found, ok := c.read(&e); ok {
				valid = append(valid, found)
			}
			return err
		}, selectKeyed, action)
		if err != nil {
			return chainState{}, err
		}
	}
	slices.SortFunc(valid, func(a, b record) int { return cmp.Compare(b.seq, a.seq) })
	for _, found := range valid {
		seals, err := readAll(ctx, r, scanSeal, selectSeals, found.seq-1, 1)
		if err != nil {
			return chainState{}, err
		}
		if len(seals) > 0 && seals[0].seq == found.seq && seals[0].id == found.key.ID && seals[0].at.Equal(found.key.At) {
			return found.state, nil
		}
	}
	return chainState{}, nil
}

// append records and seals a keyed event after the last seal. Its number is at least the given one, so that
// a number of a lost seal does not return.
func (c *EventChain) append(t *Tx, last link, seq int64, action string, at time.Time, state chainState, detail map[string]string) (link, error) {
	e := schemas.Event{ID: schemas.NewID(), At: at.UTC().Truncate(time.Microsecond), Action: action, Actor: schemas.Actor{Type: schemas.SystemActor}, Detail: state.detail()}
	maps.Copy(e.Detail, detail)
	seq = max(seq, last.Seq+1)
	e.Detail[detailSeal], e.Detail[detailPrevious] = strconv.FormatInt(seq, 10), last.String()
	if t.origin != nil {
		e.Origin = *t.origin
	}
	e.Detail[detailCode] = c.code(&e)
	if err := t.insertEvents(e); err != nil {
		return last, err
	}
	// The time of the seal is that of the seal before: it must not hide that events after it waited.
	end := link{ChainEnd{seq - 1, last.Hash}, cmp.Or(last.sealedAt, toMicros(c.Now()))}
	return c.extend(t, end, []schemas.Event{e}, end.sealedAt)
}

// upgrade makes the seals of an earlier version a part of the chain. The last of them has the code of the
// key. Their codes are removed, because the record proves them by their hashes: otherwise a writer to the
// database could remove all later seals, and what else is to hide, and a server would repeat the upgrade. One
// who has a copy from before the upgrade can, so it believes only what the seals of the earlier version prove.
func (c *EventChain) upgrade(t *Tx, last link) (link, error) {
	state := chainState{Anchor: last.ChainEnd, reason: anchorUpgrade, anchoredAt: c.Now()}
	var err error
	if state.KeptFrom, err = c.sealedRetention(t.ctx, t); err != nil {
		return last, err
	}
	seals, err := readAll(t.ctx, t, scanSeal, selectEnds)
	if err != nil {
		return last, err
	}
	if seals[0].at.Before(state.KeptFrom) {
		state.First = seals[0].seq // otherwise it must be the first of all
	}
	if _, err := t.exec(removeCodes, []byte{}); err != nil {
		return last, err
	}
	last.sealedAt = toMicros(seals[len(seals)-1].at) // it was made when its event was recorded, or later
	return c.append(t, last, 0, actionAnchored, c.Now(), state, nil)
}

const (
	selectEnds      = `SELECT ` + sealColumns + ` FROM event_seals WHERE seq IN ((SELECT MIN(seq) FROM event_seals), (SELECT MAX(seq) FROM event_seals)) ORDER BY seq`
	removeCodes     = `UPDATE event_seals SET mac = ? WHERE sealed_at = 0`
	selectSealsOfID = `SELECT ` + sealColumns + ` FROM event_seals WHERE at = ? AND id = ?`
)

// sealedRetention returns the time before which an earlier version reports that events were removed. Its
// reports have no code. One without a seal of that version, or with a time after its own, is not believed.
func (c *EventChain) sealedRetention(ctx context.Context, r Reader) (kept time.Time, err error) {
	reports, err := readAll(ctx, r, scanEvent, selectKeyed, actionTrimmed)
	if err != nil {
		return kept, err
	}
	slices.SortFunc(reports, func(a, b schemas.Event) int { return removedBefore(&b).Compare(removedBefore(&a)) })
	for i := range reports {
		proven, err := c.hasEarlierSeal(ctx, r, &reports[i])
		if err != nil || proven {
			return removedBefore(&reports[i]), err
		}
	}
	return kept, nil
}

// removedBefore returns the time of a report of removed events, zero if it is after that of the report.
func removedBefore(e *schemas.Event) time.Time {
	before, err := time.Parse(time.RFC3339, e.Detail[detailKept])
	if err != nil || before.After(e.At) {
		return time.Time{}
	}
	return before
}

// hasEarlierSeal reports whether an earlier version has sealed an event.
func (c *EventChain) hasEarlierSeal(ctx context.Context, r Reader, e *schemas.Event) (bool, error) {
	seals, err := readAll(ctx, r, scanSeal, selectSealsOfID, toMicros(e.At), e.ID)
	if err != nil {
		return false, err
	}
	for i := range seals {
		if !bytes.Equal(seals[i].digest, eventDigest(e)) {
			continue
		}
		if proven, err := c.provesEarlier(ctx, r, &seals[i]); err != nil || proven {
			return proven, err
		}
	}
	return false, nil
}

// provesEarlier reports whether a seal of the earlier format has the code of the key, or leads to one that
// has it: before the key was replaced, seals had the codes of others.
func (c *EventChain) provesEarlier(ctx context.Context, r Reader, s *eventSeal) (bool, error) {
	before, err := hashBefore(ctx, r, s)
	if err != nil {
		return false, err
	}
	for seals := []eventSeal{*s}; len(seals) > 0; {
		for i := range seals {
			if !seals[i].isEarlier(before) {
				return false, nil
			}
			if before = seals[i].hash; c.made(&seals[i]) {
				return true, nil
			}
		}
		if seals, err = readAll(ctx, r, scanSeal, selectSeals, seals[len(seals)-1].seq, verifyBatch); err != nil {
			return false, err
		}
	}
	return false, nil
}

// HandOver ends the seals of this key and begins those of another, as a part of a transaction that replaces
// the key. It fails with ChainBroken if the last seal is not one of this key.
func (c *EventChain) HandOver(t *Tx, to *EventChain) error {
	last, err := c.lock(t)
	if err != nil || last.Seq == 0 {
		return err
	}
	state, err := c.latestState(t.ctx, t)
	if err != nil {
		return err
	}
	state.Anchor, state.reason, state.anchoredAt = last.ChainEnd, anchorKey, c.Now()
	_, err = to.append(t, last, 0, actionAnchored, c.Now(), state, nil)
	return err
}

// Restart records that the store was restored from a backup, as a part of a transaction: an end that was
// seen after the backup need not be in the chain.
func (c *EventChain) Restart(t *Tx) error {
	last, err := c.lock(t)
	if err != nil {
		return err
	}
	state, err := c.latestState(t.ctx, t)
	if err != nil {
		return err
	}
	state.Restarted, state.reason, state.anchoredAt = c.Now(), anchorRestored, c.Now()
	last.sealedAt = 0 // that nothing was sealed since the backup is known
	_, err = c.append(t, last, 0, actionAnchored, c.Now(), state, nil)
	return err
}

// Repaired is what Repair did.
type Repaired struct {
	Faults []ChainFault // that it acknowledged
	Lost   int          // events in the queue that had been removed
	Added  int          // events without a seal that it queued
}

const (
	selectLastSeal  = `SELECT ` + sealColumns + ` FROM event_seals ORDER BY seq DESC LIMIT 1`
	selectMaxSink   = `SELECT COALESCE(MAX(seq), 0) FROM event_sinks`
	deleteLost      = `DELETE FROM unsealed_events WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.at = unsealed_events.at AND events.id = unsealed_events.id)`
	deleteRepeated  = `DELETE FROM unsealed_events WHERE EXISTS (SELECT 1 FROM event_seals WHERE event_seals.at = unsealed_events.at AND event_seals.id = unsealed_events.id)`
	queueAdded      = `INSERT INTO unsealed_events (at, id) ` + withoutSeal
	restoreChainEnd = `INSERT INTO event_chain (one, seq, hash) VALUES (1, 0, ?) ON CONFLICT (one) DO NOTHING`
)

// Repair acknowledges the faults of a verification of the whole log: it records them with the code of the
// key, and sealing goes on after that. The record does not make what is missing or altered right; it
// states that it was known at that time, and every later change is a fault again.
func (c *EventChain) Repair(ctx context.Context, faults []ChainFault, detail map[string]string) (done Repaired, err error) {
	known := c.Known()
	var last link
	err = c.store.writer.write(ctx, func(t *Tx) (err error) {
		done = Repaired{Faults: faults}
		last, err = c.repair(t, known, &done, detail)
		return err
	})
	if err == nil {
		c.forget()
		c.learn(last)
	}
	return done, err
}

func (c *EventChain) repair(t *Tx, known KnownEnd, done *Repaired, detail map[string]string) (last link, err error) {
	if _, err := t.exec(restoreChainEnd, []byte{}); err != nil {
		return last, err
	}
	end, err := readAll(t.ctx, t, scanChainEnd, lockChain)
	if err != nil {
		return last, err
	}
	state, err := c.latestState(t.ctx, t)
	if err != nil {
		return last, err
	}
	seals, err := readAll(t.ctx, t, scanSeal, selectLastSeal)
	if err != nil {
		return last, err
	}
	if len(seals) > 0 {
		last = link{ChainEnd: ChainEnd{seals[0].seq, seals[0].hash}}
	}
	if done.Lost, err = t.remove(deleteLost); err != nil {
		return last, err
	}
	if _, err := t.exec(deleteRepeated); err != nil {
		return last, err
	}
	if done.Added, err = t.remove(queueAdded); err != nil {
		return last, err
	}
	sent, err := readValue[int64](t.ctx, t, selectMaxSink)
	if err != nil {
		return last, err
	}
	state.Known = state.Known.with(done.Faults)
	state.Restarted, state.reason, state.anchoredAt = c.Now(), anchorRepaired, c.Now()
	text := map[string]string{"lost": strconv.Itoa(done.Lost), "added": strconv.Itoa(done.Added), "brokenAt": end[0].String()}
	if len(done.Faults) > 0 {
		text["fault"] = fmt.Sprintf("seal %d: %s", done.Faults[0].Seq, done.Faults[0].Problem)
	}
	maps.Copy(text, detail)
	return c.append(t, last, max(last.Seq, end[0].Seq, known.Seq, sent)+1, actionAnchored, c.Now(), state, text)
}
