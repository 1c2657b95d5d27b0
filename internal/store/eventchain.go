package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// The audit log is a hash chain. Each event has a seal with a number, the digest of the event, the
// hash of the digest and of the hash before, and an HMAC of that hash. The key of the HMAC is not
// in the database in plain text, so write access to the database does not suffice to seal an
// altered log.
//
// A transaction that records events does not wait for others: it only queues its events, and one
// instance at a time seals the queue, in batches, a second later. The number of a seal therefore
// follows the order in which events became visible, without gaps. The end of a chain proves
// nothing about what came after it, so sealing at once would not prove more about the last second.

const (
	// lockChain returns the end of the chain and blocks other sealers until the transaction ends.
	lockChain = `UPDATE event_chain SET one = 1 WHERE one = 1 RETURNING seq, hash`

	selectUnsealed = `SELECT ` + eventColumns + ` FROM events JOIN unsealed_events USING (at, id)` + recentlyRecorded + ` ORDER BY at, id LIMIT ?`

	// PostgreSQL may join by reading both tables in order. The condition, which is always met, lets it
	// begin at the queue and not at the oldest event.
	recentlyRecorded = ` WHERE events.at >= (SELECT MIN(at) FROM unsealed_events)`

	insertSeals   = `INSERT INTO event_seals (` + sealColumns + `) VALUES `
	deleteSealed  = `DELETE FROM unsealed_events WHERE (at, id) IN (SELECT at, id FROM event_seals WHERE seq > ?)`
	advanceChain  = `UPDATE event_chain SET seq = ?, hash = ? WHERE one = 1`
	sealColumns   = `seq, at, id, digest, hash, key_id, mac`
	sealBatch     = 200
	existUnsealed = `SELECT 1 FROM unsealed_events JOIN events USING (at, id)` + recentlyRecorded + ` LIMIT 1`
)

// EventChain seals and verifies the audit log of a store.
type EventChain struct {
	store *Store
	key   []byte
	keyID string
}

// EventChain returns the chain of the audit log with the key of its seals, 32 random bytes.
func (s *Store) EventChain(key []byte) EventChain {
	derived := keyedHash(key, "event chain")
	return EventChain{s, derived, hex.EncodeToString(keyedHash(derived, "id")[:8])}
}

func keyedHash(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// eventSeal is the seal of one event.
type eventSeal struct {
	seq   int64
	at    time.Time
	id    string
	keyID string

	digest, hash, mac []byte
}

func scanSeal(row scanner, s *eventSeal) error {
	return row.Scan(&s.seq, (*microTime)(&s.at), &s.id, &s.digest, &s.hash, &s.keyID, &s.mac)
}

// Seal seals the recorded events that have no seal and returns their number. Any number of
// instances may call it concurrently.
func (c EventChain) Seal(ctx context.Context) (sealed int, err error) {
	waiting, err := exists(ctx, c.store, existUnsealed)
	if err != nil || !waiting {
		return 0, err
	}
	for {
		n, err := c.sealBatch(ctx)
		if sealed += n; err != nil || n < sealBatch {
			return sealed, err
		}
	}
}

// sealBatch seals the oldest events of the queue.
func (c EventChain) sealBatch(ctx context.Context) (sealed int, err error) {
	err = c.store.writer.write(ctx, func(t *Tx) error {
		end, err := readAll(t.ctx, t, scanChainEnd, lockChain)
		if err != nil {
			return err
		}
		events, err := readAll(t.ctx, t, scanEvent, selectUnsealed, sealBatch)
		if sealed = len(events); err != nil || sealed == 0 {
			return err
		}
		return c.extend(t, end[0], events)
	})
	return sealed, err
}

// extend appends the seals of events to the chain.
func (c EventChain) extend(t *Tx, end ChainEnd, events []schemas.Event) error {
	var args []any
	last := end
	for i := range events {
		e := &events[i]
		seal := eventSeal{seq: last.Seq + 1, at: e.At, id: e.ID, digest: eventDigest(e), keyID: c.keyID}
		seal.hash = seal.chained(last.Hash)
		args = append(args, seal.seq, toMicros(seal.at), seal.id, seal.digest, seal.hash, seal.keyID, c.mac(seal.hash))
		last = ChainEnd{seal.seq, seal.hash}
	}
	values := strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?, ?, ?), ", len(events)), ", ")
	_, err := t.exec(insertSeals+values, args...)
	if err == nil {
		_, err = t.exec(deleteSealed, end.Seq)
	}
	if err == nil {
		err = t.count(events)
	}
	if err == nil {
		_, err = t.exec(advanceChain, last.Seq, last.Hash)
	}
	return err
}

// mac authenticates a hash of the chain.
func (c EventChain) mac(hash []byte) []byte { return keyedHash(c.key, string(hash)) }

// chained returns the hash of a seal that follows the seal with the given hash.
func (s *eventSeal) chained(before []byte) []byte {
	b := append([]byte(nil), before...)
	b = binary.BigEndian.AppendUint64(b, uint64(s.seq))
	b = binary.BigEndian.AppendUint64(b, uint64(toMicros(s.at)))
	b = binary.BigEndian.AppendUint64(b, uint64(len(s.id)))
	b = append(append(b, s.id...), s.digest...)
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
