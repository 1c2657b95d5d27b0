package store

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"

	"github.com/postern-id/postern/schemas"
)

// The audit log is a hash chain. Each event has a seal with a number, the time at which it was made, the
// digest of the event, the hash of all of these and of the hash before, and an HMAC of that hash. The key
// of the HMAC is not in the database in plain text, so write access to the database does not suffice to
// seal an altered log.
//
// A transaction that records events does not wait for others: it only queues its events, and one
// instance at a time seals the queue, in batches, a second later. The number of a seal therefore
// follows the order in which events became visible, without gaps. The end of a chain proves
// nothing about what came after it, so sealing at once would not prove more about the last second.
//
// A sealer extends the chain only if the last seal has the HMAC of its key, and if the chain still contains
// the end that this process knew before. Otherwise it would make a forged or shortened log valid. It then
// fails with ChainBroken until Repair states the break. Events stay in the queue meanwhile.

const (
	// lockChain returns the end of the chain and blocks other sealers until the transaction ends.
	lockChain = `UPDATE event_chain SET one = 1 WHERE one = 1 RETURNING seq, hash`

	existUnsealed = `SELECT 1 FROM unsealed_events LIMIT 1`

	// A batch starts after the one before, so that it does not read again what that one removed from
	// the queue.
	selectQueued   = `SELECT at, id FROM unsealed_events WHERE (at, id) > (?, ?) ORDER BY at, id LIMIT ?`
	selectUnsealed = `SELECT ` + eventColumns + ` FROM (SELECT at AS k_at, id AS k_id FROM unsealed_events WHERE (at, id) > (?, ?) AND (at, id) <= (?, ?) ORDER BY at, id LIMIT ?) k` +
		eventOfKey + ` ORDER BY at, id`

	// eventOfKey joins the events of the rows k. PostgreSQL cannot do so in another way than by the
	// primary key of the events, one row after the other: see forSQLite.
	eventOfKey = ` CROSS JOIN LATERAL (SELECT * FROM events WHERE events.at = k_at AND events.id = k_id LIMIT 1) e`

	insertSeals = `INSERT INTO event_seals (` + sealColumns + `) VALUES `
	sealRow     = `(?, ?, ?, ?, ?, ?, ?, ?)`

	// PostgreSQL plans a list of a thousand rows with parameters longer than it inserts them.
	insertSealArrays = `INSERT INTO event_seals (` + sealColumns + `)
		SELECT seq, at, id, digest, hash, CAST(? AS TEXT), mac, CAST(? AS BIGINT) FROM unnest(CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), CAST(? AS TEXT[]),
			CAST(? AS BYTEA[]), CAST(? AS BYTEA[]), CAST(? AS BYTEA[])) AS s (seq, at, id, digest, hash, mac)`

	deleteSealed = `DELETE FROM unsealed_events WHERE (at, id) IN (SELECT at, id FROM event_seals WHERE seq > ?)`
	advanceChain = `UPDATE event_chain SET seq = ?, hash = ? WHERE one = 1`
	sealColumns  = `seq, at, id, digest, hash, key_id, mac, sealed_at`
	sealBatch    = 1000
)

// SealGrace is how much later than an event its seal may be, if no seal was made in between. A server
// seals every second. Events that waited longer, while nothing was sealed, may have been sealed before and
// queued again, to hide that one of them was removed.
const SealGrace = 5 * time.Minute

// EventChain seals and verifies the audit log of a store. It knows the last end that it has seen, which must
// remain in the chain. Its methods are safe for concurrent use.
type EventChain struct {
	store *Store
	key   []byte
	keyID string

	// Late is called for events that were sealed much later than recorded: see SealGrace. Nil calls nothing.
	Late func(from, to time.Time)
	// Now is the clock.
	Now func() time.Time

	mu    sync.Mutex
	known KnownEnd
}

// EventChain returns the chain of the audit log with the key of its seals, 32 random bytes.
func (s *Store) EventChain(key []byte) *EventChain {
	derived := keyedHash(key, "event chain")
	return &EventChain{store: s, key: derived, keyID: hex.EncodeToString(keyedHash(derived, "id")[:8]), Now: time.Now}
}

func keyedHash(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// ChainBroken is the error of a sealer that may not extend the chain.
type ChainBroken struct{ Fault ChainFault }

// Error implements error.
func (e *ChainBroken) Error() string {
	return fmt.Sprintf("the audit log was changed at seal %d: %s; nothing is sealed until `postern audit reanchor` states the break", e.Fault.Seq, e.Fault.Problem)
}

func brokenAt(seq int64, problem string, args ...any) error {
	return &ChainBroken{ChainFault{Kind: faultEnd, Seq: seq, Problem: fmt.Sprintf(problem, args...)}}
}

// eventSeal is the seal of one event.
type eventSeal struct {
	seq      int64
	at       time.Time
	id       string
	keyID    string
	sealedAt int64 // in microseconds; 0 for a seal of an earlier version

	digest, hash, mac []byte
}

func scanSeal(row scanner, s *eventSeal) error {
	return row.Scan(&s.seq, (*microTime)(&s.at), &s.id, &s.digest, &s.hash, &s.keyID, &s.mac, &s.sealedAt)
}

// link is the seal that the next one follows.
type link struct {
	ChainEnd
	sealedAt int64
}

// Seal seals the recorded events that have no seal and returns their number. Any number of
// instances may call it concurrently.
func (c *EventChain) Seal(ctx context.Context) (sealed int, err error) {
	waiting, err := exists(ctx, c.store, existUnsealed)
	if err != nil {
		return 0, err
	}
	if !waiting {
		return 0, c.confirm(ctx)
	}
	for last := (schemas.EventKey{}); ; {
		n, next, err := c.sealBatch(ctx, last)
		if sealed += n; err != nil || next == nil {
			return sealed, err
		}
		last = *next
	}
}

// sealBatch seals the first events of the queue after a key. next is the last key of the batch, nil if the
// queue ends there.
func (c *EventChain) sealBatch(ctx context.Context, after schemas.EventKey) (sealed int, next *schemas.EventKey, err error) {
	var before, end link
	var events []schemas.Event
	err = c.store.writer.write(ctx, func(t *Tx) error {
		events, sealed = nil, 0
		if end, err = c.lock(t); err != nil {
			return err
		}
		before = end
		keys, err := readAll(t.ctx, t, scanEventKey, selectQueued, toMicros(after.At), after.ID, sealBatch)
		if next = nil; err != nil || len(keys) == 0 {
			return err
		}
		last := keys[len(keys)-1]
		if len(keys) == sealBatch {
			next = &last
		}
		events, err = readAll(t.ctx, t, scanEvent, selectUnsealed, toMicros(after.At), after.ID, toMicros(last.At), last.ID, sealBatch)
		if sealed = len(events); err != nil || sealed == 0 {
			return err
		}
		end, err = c.extend(t, end, events, toMicros(c.Now()))
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	c.learn(end)
	c.reportLate(before, end, events)
	return sealed, next, nil
}

// reportLate calls Late if events of a batch are late.
func (c *EventChain) reportLate(before, end link, events []schemas.Event) {
	late := func(e schemas.Event) bool { return isLate(before.sealedAt, toMicros(e.At), end.sealedAt) }
	if c.Late != nil && slices.ContainsFunc(events, late) {
		c.Late(fromMicros(before.sealedAt), fromMicros(end.sealedAt))
	}
}

// isLate reports whether an event of a time was recorded after the seal before, and sealed much later.
func isLate(before, at, sealedAt int64) bool {
	grace := SealGrace.Microseconds()
	return before > 0 && at > before+grace && sealedAt > at+grace
}

// lock returns the last seal, to which the transaction may append. It makes the events of an earlier
// version a part of the chain.
func (c *EventChain) lock(t *Tx) (last link, err error) {
	if err := c.planByIndex(t.ctx, t); err != nil {
		return last, err
	}
	end, err := readAll(t.ctx, t, scanChainEnd, lockChain)
	if err != nil {
		return last, err
	}
	if len(end) == 0 {
		return last, brokenAt(0, "the end of the chain is missing")
	}
	if last, err = c.checkLast(t.ctx, t, end[0], c.Known()); err != nil || last.Seq == 0 || last.sealedAt > 0 {
		return last, err
	}
	return c.upgrade(t, last)
}

// planByIndex makes PostgreSQL read the rows of this transaction by indexes, and join them one by one. Its
// usual plans depend on statistics, which may be missing or those of another size: then a batch
// would read the whole queue or the whole log.
func (c *EventChain) planByIndex(ctx context.Context, r Reader) error {
	if c.store.local {
		return nil
	}
	return rows(ctx, r, func(scanner) error { return nil }, setPlans)
}

// setPlans skips the settings that a database with the protocol of PostgreSQL does not have.
const setPlans = `SELECT set_config(name, value, true) FROM (VALUES ('plan_cache_mode', 'force_custom_plan'),
	('enable_seqscan', 'off'), ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off')) AS s (name, value)
	WHERE current_setting(name, true) IS NOT NULL`

// checkLast returns the last seal. It must have the code of the key, and the chain must contain the known end.
// known must have been read before end, unless the transaction blocks other sealers.
func (c *EventChain) checkLast(ctx context.Context, r Reader, end ChainEnd, known KnownEnd) (link, error) {
	seals, err := readAll(ctx, r, scanSeal, selectSeals, end.Seq-1, 2)
	if err != nil {
		return link{}, err
	}
	last := link{ChainEnd: end}
	switch {
	case end.Seq == 0 && len(seals) == 0:
	case end.Seq == 0:
		return link{}, brokenAt(0, "the end of the chain was set to its beginning")
	case len(seals) == 0 || seals[0].seq != end.Seq:
		return link{}, brokenAt(end.Seq, "the last seal is missing, or the end of the chain was altered")
	case !bytes.Equal(seals[0].hash, end.Hash):
		return link{}, brokenAt(end.Seq, "the last seal, or the end of the chain, was altered")
	case !c.made(&seals[0]):
		return link{}, brokenAt(end.Seq, "the last seal was not made with the key of this server")
	case len(seals) == 2:
		return link{}, brokenAt(end.Seq, "there are seals after the end of the chain")
	case seals[0].sealedAt == 0:
		if err := c.checkFormat(ctx, r, &seals[0]); err != nil {
			return link{}, err
		}
	default:
		last.sealedAt = seals[0].sealedAt
	}
	return last, c.checkKnown(ctx, r, end, known)
}

// checkFormat checks that a seal is one of an earlier version. Otherwise a writer to the database could remove
// the time from the last seal, and a server would accept the seals before as those of an earlier version: see upgrade.
func (c *EventChain) checkFormat(ctx context.Context, r Reader, s *eventSeal) error {
	before, err := hashBefore(ctx, r, s)
	if err != nil {
		return err
	}
	if s.seq > 1 && len(before) != sha256.Size {
		return brokenAt(s.seq, "the last seal has the format of an earlier version, and the seal before it is missing")
	}
	if !s.isEarlier(before) {
		return brokenAt(s.seq, "the last seal was altered: it has the format of an earlier version")
	}
	return nil
}

// hashBefore returns the hash of the seal before another, nil if there is none.
func hashBefore(ctx context.Context, r Reader, s *eventSeal) ([]byte, error) {
	seals, err := readAll(ctx, r, scanSeal, selectSeals, s.seq-2, 1)
	if err != nil || len(seals) == 0 || seals[0].seq != s.seq-1 {
		return nil, err
	}
	return seals[0].hash, nil
}

// isEarlier reports whether a seal is one of an earlier version that follows the seal with the given hash.
// Its hash covers no time. Only the lengths of the other members distinguish it from one that covers it.
func (s *eventSeal) isEarlier(before []byte) bool {
	isFirst := s.seq == 1 && len(before) == 0
	return s.sealedAt == 0 && len(s.digest) == sha256.Size && (isFirst || len(before) == sha256.Size) && bytes.Equal(s.chained(before), s.hash)
}

// made reports whether a seal has the code of the key.
func (c *EventChain) made(s *eventSeal) bool {
	return s.keyID == c.keyID && hmac.Equal(c.mac(s.hash), s.mac)
}

// extend appends the seals of events to the chain, with a time, and returns the last.
func (c *EventChain) extend(t *Tx, end link, events []schemas.Event, sealedAt int64) (link, error) {
	seals := make([]eventSeal, len(events))
	last := link{end.ChainEnd, sealedAt}
	code := hmac.New(sha256.New, c.key)
	for i := range events {
		e := &events[i]
		seal := eventSeal{seq: last.Seq + 1, at: e.At, id: e.ID, digest: eventDigest(e), keyID: c.keyID, sealedAt: last.sealedAt}
		seal.hash = seal.chained(last.Hash)
		code.Reset()
		code.Write(seal.hash)
		seal.mac = code.Sum(nil)
		seals[i], last.ChainEnd = seal, ChainEnd{seal.seq, seal.hash}
	}
	err := c.insert(t, seals)
	if isUniqueViolation(err) {
		return end, brokenAt(end.Seq, "there are seals after the end of the chain")
	}
	if err == nil {
		_, err = t.exec(deleteSealed, end.Seq)
	}
	if err == nil {
		err = t.count(events)
	}
	if err == nil {
		_, err = t.exec(advanceChain, last.Seq, last.Hash)
	}
	return last, err
}

// insert stores the seals of a batch, which have the same key and time.
func (c *EventChain) insert(t *Tx, seals []eventSeal) error {
	if !c.store.local {
		return insertArrays(t, seals)
	}
	args := make([]any, 0, 8*len(seals))
	for _, s := range seals {
		args = append(args, s.seq, toMicros(s.at), s.id, s.digest, s.hash, s.keyID, s.mac, s.sealedAt)
	}
	_, err := t.exec(insertSeals+sealRow+strings.Repeat(", "+sealRow, len(seals)-1), args...)
	return err
}

func insertArrays(t *Tx, seals []eventSeal) error {
	n := len(seals)
	seqs, times, ids := make([]int64, n), make([]int64, n), make([]string, n)
	digests, hashes, macs := make([][]byte, n), make([][]byte, n), make([][]byte, n)
	for i, s := range seals {
		seqs[i], times[i], ids[i], digests[i], hashes[i], macs[i] = s.seq, toMicros(s.at), s.id, s.digest, s.hash, s.mac
	}
	_, err := t.exec(insertSealArrays, seals[0].keyID, seals[0].sealedAt, pq.Array(seqs), pq.Array(times), pq.Array(ids), pq.Array(digests), pq.Array(hashes), pq.Array(macs))
	return err
}

// mac authenticates a hash of the chain.
func (c *EventChain) mac(hash []byte) []byte { return keyedHash(c.key, string(hash)) }

// chained returns the hash of a seal that follows the seal with the given hash.
func (s *eventSeal) chained(before []byte) []byte {
	b := append([]byte(nil), before...)
	b = binary.BigEndian.AppendUint64(b, uint64(s.seq))
	b = binary.BigEndian.AppendUint64(b, uint64(toMicros(s.at)))
	b = binary.BigEndian.AppendUint64(b, uint64(len(s.id)))
	b = append(append(b, s.id...), s.digest...)
	if s.sealedAt > 0 {
		b = binary.BigEndian.AppendUint64(b, uint64(s.sealedAt))
	}
	hash := sha256.Sum256(b)
	return hash[:]
}

// eventDigest is the SHA-256 of all members of an event. Members that a later version adds come
// last: as long as they are empty, they do not change the digest.
func eventDigest(e *schemas.Event) []byte {
	members := []string{
		e.ID, e.At.UTC().Format(time.RFC3339Nano), e.Action, e.UserID, e.ApplicationID, e.ExecutionDigest, e.TraceID, jsonText(e.Detail),
		string(e.Actor.Type), e.Actor.ID, e.Actor.Client, e.Resource.Type, e.Resource.ID, e.Before, e.After,
		e.Address, e.UserAgent, e.SessionID, jsonText(e.Changes),
	}
	for members[len(members)-1] == "" {
		members = members[:len(members)-1]
	}
	var b []byte
	for _, m := range members {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(m))), m...)
	}
	digest := sha256.Sum256(b)
	return digest[:]
}

// jsonText returns the JSON of a map or a list, "" for an empty one.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if s := string(text); err == nil && s != "null" && s != "{}" && s != "[]" {
		return s
	}
	return ""
}
