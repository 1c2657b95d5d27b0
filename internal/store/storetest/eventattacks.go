package storetest

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// attacker can write to the database, but does not have the key. The log has the events e1 to e8, each
// sealed a second after it was recorded; e4 is the one to hide.
type attacker struct {
	testing.TB
	store  *store.Store
	db     *sql.DB
	driver string
}

// newAttacker connects to the database, and removes the triggers that protect the events.
func newAttacker(t testing.TB, s *store.Store, driver string, open func() (*sql.DB, error)) attacker {
	t.Helper()
	a := attacker{t, s, reply(open()).get(t), driver}
	t.Cleanup(func() { check(t, a.db.Close()) })
	on := map[string]string{"postgres": " ON events"}[driver]
	a.exec("DROP TRIGGER events_keep" + on + "; DROP TRIGGER events_stay" + on)
	return a
}

func (a attacker) exec(statements string, args ...any) {
	a.Helper()
	for statement := range strings.SplitSeq(statements, ";") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if a.driver == "postgres" {
			for i := range args {
				statement = strings.Replace(statement, "?", "$"+strconv.Itoa(i+1), 1)
			}
		}
		if _, err := a.db.Exec(statement, args...); err != nil {
			a.Fatalf("%s: %v", statement, err)
		}
	}
}

// cut removes the seals from a number on, and makes the one before the end of the chain.
func (a attacker) cut(seq int) {
	a.Helper()
	a.exec(fmt.Sprintf(`DELETE FROM event_seals WHERE seq >= %d`, seq))
	end := "X''"
	if a.driver == "postgres" {
		end = "''"
	}
	a.exec(fmt.Sprintf(`UPDATE event_chain SET seq = %d, hash = COALESCE((SELECT hash FROM event_seals WHERE seq = %d), %s)`, seq-1, seq-1, end))
}

// queue queues the events of the log that have no seal.
func (a attacker) queue() {
	a.Helper()
	a.exec(`INSERT INTO unsealed_events (at, id) SELECT at, id FROM events EXCEPT SELECT at, id FROM event_seals EXCEPT SELECT at, id FROM unsealed_events`)
}

// forge seals the queue with a key of the attacker.
func (a attacker) forge() {
	a.Helper()
	forger := a.store.EventChain(bytes.Repeat([]byte{9}, 32))
	reply(forger.Repair(a.Context(), nil, nil)).get(a)
	reply(forger.Seal(a.Context())).get(a)
}

// insert records an event without a code.
func (a attacker) insert(id, action string, at time.Time, detail string) {
	a.Helper()
	a.exec(`INSERT INTO events (at, id, action, user_id, application_id, execution_id, trace_id, detail, actor_type) VALUES (?, ?, ?, '', '', '', '', ?, 'SYSTEM')`,
		at.UnixMicro(), id, action, detail)
}

// sealed is the clock of a server.
func sealed(at time.Time) func() time.Time { return func() time.Time { return at } }

func eventTime(i int) time.Time { return noon().Add(time.Duration(i) * 10 * time.Minute) }

// recordSealed records the events from first to last, and seals each a second later.
func recordSealed(t testing.TB, s *store.Store, chain *store.EventChain, first, last int) {
	t.Helper()
	for i := first; i <= last; i++ {
		record(t, s, fmt.Sprint("e", i), eventTime(i))
		chain.Now = sealed(eventTime(i).Add(time.Second))
		reply(chain.Seal(t.Context())).equals(t, "the number of sealed events", 1)
	}
}

func record(t testing.TB, s *store.Store, id string, at time.Time) {
	t.Helper()
	must(t, s.Apply(t.Context(), []schemas.Change{schemas.RecordEvent{Event: schemas.Event{
		ID: id, At: at, Action: "role.replaced", Detail: map[string]string{"n": strings.TrimPrefix(id, "e")},
	}}}))
}

// recordUpgraded records the events e1 to e8. An earlier version sealed the first five with a trim of e0 before
// them, and the first three seals have a former key. Its seals are in the table copy.
func recordUpgraded(a attacker, s *store.Store) *store.EventChain {
	earlier := s.EventChain(chainKey)
	earlier.Now = sealed(time.UnixMicro(0))
	record(a, s, "e0", eventTime(0))
	a.insert("t0", "audit.trimmed", eventTime(0).Add(time.Minute), `{"before":"`+eventTime(0).Add(time.Second).Format(time.RFC3339)+`","events":"1"}`)
	for i := 1; i <= 5; i++ {
		record(a, s, fmt.Sprint("e", i), eventTime(i))
	}
	sealAll(a, s, earlier, 7)
	a.exec(`DELETE FROM events WHERE id = 'e0'; UPDATE event_seals SET key_id = 'former', mac = hash WHERE seq <= 3; CREATE TABLE copy AS SELECT * FROM event_seals`)
	chain := s.EventChain(chainKey)
	recordSealed(a, s, chain, 6, 8)
	wantNoticed(a, "a verification before the attack", reply(s.EventChain(chainKey).Verify(a.Context(), nil)).get(a), "")
	return chain
}

// attack is what an attacker does between two seals, and who notices.
type attack struct {
	name   string
	run    func(a attacker)
	after  func(a attacker) // after the server has sealed again; nil: nothing
	broken string           // why a server that starts afterwards seals no more; "" if it seals
	fault  string           // of a verification without an expected end; "" if only the others notice it
	late   bool             // whether the server and a verification report events that waited long
}

// attacks lists attacks. A server that runs meanwhile, a file with the last end, or an expected end notice each
// that removes seals.
func attacks() []attack { return slices.Concat(chainAttacks(), eventAttacks()) }

// The faults that attacks cause.
const (
	codeFault   = "not made with the key of the server"
	forgedFault = "that no server has recorded"
)

// hide removes an event.
func hide(a attacker) { a.exec(`DELETE FROM events WHERE id = 'e4'`) }

// removeOldest removes the oldest events with their seals.
func removeOldest(a attacker) {
	a.exec(`DELETE FROM events WHERE id <= 'e4'; DELETE FROM event_seals WHERE seq < 4`)
}

// chainAttacks are attacks on the end of the chain, and on what permits to leave events out.
func chainAttacks() []attack {
	const lastKey, lastSeal = "not made with the key of this server", "last seal is missing"
	trimmed := func(a attacker) {
		a.insert("t", "audit.trimmed", eventTime(9), `{"before":"2030-01-01T00:00:00Z","events":"4"}`)
	}
	return []attack{
		{name: "all seals are made again with another key", run: func(a attacker) { hide(a); a.cut(1); a.queue(); a.forge() }, broken: lastKey, fault: codeFault},
		{name: "all seals are made again and named after the key", run: func(a attacker) {
			id := reply(a.db.Query(`SELECT DISTINCT key_id FROM event_seals`)).get(a)
			var name string
			id.Next()
			must(a, errors.Join(id.Scan(&name), id.Close()))
			hide(a)
			a.cut(1)
			a.queue()
			a.forge()
			a.exec(`UPDATE event_seals SET key_id = ?`, name)
		}, broken: lastKey, fault: codeFault},
		{name: "the seals from the event on are made again", run: func(a attacker) { hide(a); a.cut(4); a.queue(); a.forge() }, broken: lastKey, fault: codeFault},
		{name: "a removal is reported without a code", run: trimmed, after: removeOldest, fault: "the events before it are missing"},
		{name: "a removal is reported, and nothing is removed", run: trimmed, fault: forgedFault},
		{name: "an anchor is reported without a code", run: func(a attacker) {
			a.insert("t", "audit.anchored", eventTime(9), `{"anchor":"8:00","knownFaults":"any:1-99","reason":"repaired","code":"00"}`)
		}, after: hide, fault: "the event is missing"},
		{name: "the later events are queued again", run: func(a attacker) { hide(a); a.cut(4); a.queue() }, late: true},
		{name: "all events are queued again", run: func(a attacker) { hide(a); a.cut(1); a.queue() }},
		{name: "the newest events are removed", run: func(a attacker) { a.exec(`DELETE FROM events WHERE id >= 'e4'`); a.cut(4) }},
		{name: "the newest seals are removed", run: func(a attacker) {
			a.exec(`DELETE FROM events WHERE id >= 'e4'; DELETE FROM event_seals WHERE seq >= 4`)
		}, broken: lastSeal, fault: "the seals after it are missing"},
		{name: "the end of the chain is set to its beginning", run: func(a attacker) { a.exec(`UPDATE event_chain SET seq = 0`) }, broken: "set to its beginning", fault: "the end of the chain was altered"},
		{name: "the row of the end is removed", run: func(a attacker) { a.exec(`DELETE FROM event_chain`) }, broken: "the end of the chain is missing", fault: "the end of the chain was altered"},
		{name: "the end of the chain is an earlier seal", run: func(a attacker) {
			a.exec(`UPDATE event_chain SET seq = 3, hash = (SELECT hash FROM event_seals WHERE seq = 3)`)
		}, broken: "there are seals after the end", fault: "the end of the chain was altered"},
		{name: "a seal is added after the end", run: func(a attacker) {
			a.exec(`INSERT INTO event_seals (seq, at, id, digest, hash, key_id, mac, sealed_at) SELECT 9, at, id, digest, hash, key_id, mac, sealed_at FROM event_seals WHERE seq = 8`)
		}, broken: "there are seals after the end", fault: "the seal of the event, or of one before it, was altered"},
	}
}

// eventAttacks are attacks on single events and seals.
func eventAttacks() []attack {
	return []attack{
		{name: "the detail of an event is altered", run: func(a attacker) { a.exec(`UPDATE events SET detail = '{"n":"5"}' WHERE id = 'e4'`) }, fault: "the event was altered"},
		{name: "two events change places", run: func(a attacker) {
			a.exec(`UPDATE event_seals SET seq = -1 WHERE seq = 4; UPDATE event_seals SET seq = 4 WHERE seq = 5; UPDATE event_seals SET seq = 5 WHERE seq = -1`)
		}, fault: "was altered"},
		{name: "a seal is removed with its event", run: func(a attacker) { hide(a); a.exec(`DELETE FROM event_seals WHERE seq = 4`) }, fault: "seals 4 to 4 before it are missing"},
		{name: "a seal names another key", run: func(a attacker) { a.exec(`UPDATE event_seals SET key_id = 'other' WHERE seq = 4`) }, fault: codeFault},
		{name: "the first seals name another key", run: func(a attacker) { a.exec(`UPDATE event_seals SET key_id = 'other' WHERE seq <= 4`) }, fault: codeFault},
		{name: "a seal gets the format of an earlier version", run: func(a attacker) { a.exec(`UPDATE event_seals SET sealed_at = 0 WHERE seq = 4`) }, fault: "was altered"},
		{name: "the last seal gets the format of an earlier version", run: func(a attacker) { a.exec(`UPDATE event_seals SET sealed_at = 0 WHERE seq = 8`) }, broken: "format of an earlier version", fault: "was altered"},
		{name: "the time of the last seal becomes a part of its digest", run: func(a attacker) {
			var digest []byte
			var at int64
			must(a, a.db.QueryRow(`SELECT digest, sealed_at FROM event_seals WHERE seq = 8`).Scan(&digest, &at))
			a.exec(`UPDATE event_seals SET digest = ?, sealed_at = 0 WHERE seq = 8`, binary.BigEndian.AppendUint64(digest, uint64(at)))
		}, broken: "format of an earlier version", fault: "was altered"},
		{name: "the time of a seal is altered", run: func(a attacker) { a.exec(`UPDATE event_seals SET sealed_at = sealed_at + 1 WHERE seq = 4`) }, fault: "was altered"},
		{name: "a sealed event is queued again", run: func(a attacker) {
			a.exec(`INSERT INTO unsealed_events (at, id) SELECT at, id FROM events WHERE id = 'e4'`)
		}, fault: "sealed before"},
		{name: "an event is added without a seal", run: func(a attacker) {
			a.insert("x", "user.created", eventTime(2), `{}`)
			a.exec(`DELETE FROM unsealed_events WHERE id = 'x'`)
		}, fault: "has no seal"},
		{name: "an event takes the place of another under its seal", run: func(a attacker) {
			hide(a)
			a.insert("x", "user.created", eventTime(4), `{}`)
			a.exec(`DELETE FROM unsealed_events WHERE id = 'x'; UPDATE event_seals SET id = 'x' WHERE seq = 4`)
		}, fault: "the event was altered"},
		{name: "the retention of the triggers is raised", run: func(a attacker) { a.exec(`UPDATE event_retention SET kept_from = 4102444800000000`); removeOldest(a) }, fault: "the events before it are missing"},
		{name: "the queue has entries without events", run: func(a attacker) {
			for i := range 1100 {
				a.exec(`INSERT INTO unsealed_events (at, id) VALUES (?, ?)`, i+1, fmt.Sprint("x", i))
			}
		}, fault: "removed before it was sealed"},
	}
}

// back cuts an upgraded log to a seal of the earlier version.
func (a attacker) back(seq int) {
	a.cut(seq + 1)
	a.exec(`DELETE FROM events WHERE action = 'audit.anchored'`)
}

// copied is back with the seals as they were before the upgrade.
func (a attacker) copied(seq int) {
	a.back(seq)
	a.exec(`DELETE FROM event_seals; INSERT INTO event_seals SELECT * FROM copy WHERE seq <= ` + strconv.Itoa(seq))
}

// report adds a report that the events up to one were removed.
func (a attacker) report(last int) {
	a.insert("t", "audit.trimmed", eventTime(9), `{"before":"`+eventTime(last).Add(time.Second).Format(time.RFC3339)+`","events":"4"}`)
}

func (a attacker) removeOldest() {
	a.exec(`DELETE FROM events WHERE id IN ('e1', 'e2', 'e3', 'e4'); DELETE FROM event_seals WHERE seq < 6`)
}

const missingBefore = "the events before it are missing"

// rollbacks lists attacks on a log of an earlier version after its upgrade: see recordUpgraded. Its seals 1 to 7 are
// of that version, 8 is the record of the upgrade, and 9 to 11 are those of e6 to e8.
func rollbacks() []attack {
	const lastKey = "not made with the key of this server"
	return append(copies(), []attack{
		{name: "the record of the upgrade is removed", run: func(a attacker) { a.exec(`DELETE FROM events WHERE action = 'audit.anchored'`) }, fault: "the event is missing"},
		{name: "the upgrade is undone, and a removal reported", run: func(a attacker) { a.back(7); a.report(4); a.removeOldest(); a.queue() }, broken: lastKey, fault: missingBefore},
		{name: "a part of the upgraded seals is undone, and a removal reported", run: func(a attacker) { a.back(6); a.report(4); a.removeOldest(); a.queue() }, broken: lastKey, fault: missingBefore},
		{name: "the upgrade is undone, and the oldest events are removed", run: func(a attacker) { a.back(7); a.removeOldest(); a.queue() }, broken: lastKey, fault: missingBefore},
		{name: "the upgrade is undone, and a later event removed", run: func(a attacker) {
			a.back(7)
			a.exec(`DELETE FROM events WHERE id = 'e6'`)
			a.queue()
		}, broken: lastKey, fault: "the event is missing"},
	}...)
}

// copies lists attacks with a copy of the seals from before the upgrade.
func copies() []attack {
	return []attack{
		{name: "a copy from before the upgrade, and a reported removal", run: func(a attacker) { a.copied(7); a.report(4); a.removeOldest(); a.queue() }, fault: missingBefore},
		{name: "a copy with a report of whole days", run: func(a attacker) {
			a.copied(7)
			a.insert("t", "audit.trimmed", eventTime(9).Add(48*time.Hour), `{"before":"`+eventTime(9).Add(48*time.Hour).Truncate(24*time.Hour).Format(time.RFC3339)+`","events":"4"}`)
			a.removeOldest()
			a.queue()
		}, fault: missingBefore},
		{name: "a copy with an old report", run: func(a attacker) {
			a.copied(7)
			a.insert("t", "audit.trimmed", eventTime(5), `{"before":"`+eventTime(5).Format(time.RFC3339)+`"}`)
			a.removeOldest()
			a.queue()
		}, fault: missingBefore},
		{name: "a copy with a report under the seal of another event", run: func(a attacker) {
			a.copied(7)
			a.report(4)
			a.removeOldest()
			a.exec(`DELETE FROM events WHERE id = 'e5'; UPDATE event_seals SET id = 't', at = ` + fmt.Sprint(eventTime(9).UnixMicro()) + ` WHERE seq = 6`)
		}, fault: missingBefore},
		{name: "a copy without the report of the earlier version", run: func(a attacker) {
			a.copied(7)
			a.exec(`DELETE FROM events WHERE id = 't0'`)
		}, fault: "the event is missing"},
		{name: "a copy with another time in the report of the earlier version", run: func(a attacker) {
			a.copied(7)
			a.exec(`UPDATE events SET detail = '{"before":"` + eventTime(4).Add(time.Second).Format(time.RFC3339) + `"}', at = ` + fmt.Sprint(eventTime(5).UnixMicro()+1) + ` WHERE id = 't0'`)
			a.removeOldest()
			a.queue()
		}, fault: missingBefore},
		{name: "a copy without a later event, and the rest queued again", run: func(a attacker) {
			a.copied(6)
			a.exec(`DELETE FROM events WHERE id = 'e5'`)
			a.queue()
		}, late: true},
		{name: "a copy from before the upgrade", run: func(a attacker) {
			a.copied(7)
			a.exec(`DELETE FROM events WHERE id IN ('e6', 'e7', 'e8')`)
		}},
	}
}
