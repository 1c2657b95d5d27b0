package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postern-id/postern/schemas"
)

// forgedLog is the database of a server whose log an attacker with write access changes. The
// events of the test have the seals from first to last.
type forgedLog struct {
	*testApp
	db          *sqlx.DB
	first, last int64
}

func (l forgedLog) exec(statement string, args ...any) {
	l.t.Helper()
	if _, err := l.db.Exec(l.db.Rebind(statement), args...); err != nil {
		l.t.Fatalf("%s: %v", statement, err)
	}
}

// onSeal changes the event of a seal.
func (l forgedLog) onSeal(seq int64, statement string) {
	l.t.Helper()
	l.exec(statement+" WHERE (at, id) = (SELECT at, id FROM event_seals WHERE seq = ?)", seq)
}

// removeFrom removes the seals from seq on with their events, and sets the end of the chain to the
// seal before.
func (l forgedLog) removeFrom(seq int64) {
	l.t.Helper()
	l.exec("DELETE FROM events WHERE (at, id) IN (SELECT at, id FROM event_seals WHERE seq >= ?)", seq)
	l.exec("DELETE FROM event_seals WHERE seq >= ?", seq)
	l.exec("UPDATE event_chain SET seq = ?, hash = (SELECT hash FROM event_seals WHERE seq = ?)", seq-1, seq-1)
}

// replaceFrom replaces the events from a seal on, in a chain that is right except for the key of its
// seals.
func (l forgedLog) replaceFrom(seq int64) {
	l.t.Helper()
	l.removeFrom(seq)
	for range l.last - seq + 1 {
		l.recordNumber("forged")
	}
	forger := l.store.EventChain(bytes.Repeat([]byte{9}, 32))
	if _, err := forger.Repair(l.t.Context(), nil, nil); err != nil {
		l.t.Fatal(err)
	}
	if _, err := forger.Seal(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

func (l forgedLog) recordNumber(n string) {
	l.t.Helper()
	e := schemas.Event{At: time.Now(), Action: "test.done", Actor: schemas.Actor{Type: schemas.UserActor, ID: "ann"}, Detail: map[string]string{"n": n}}
	if err := l.store.Apply(l.t.Context(), []schemas.Change{schemas.RecordEvent{Event: e}}); err != nil {
		l.t.Fatal(err)
	}
}

// forgery is a change of the log by an attacker who does not have the key.
type forgery struct {
	name    string
	change  func(l forgedLog)
	seal    func(l forgedLog) int64 // that the command reports
	problem string
	hidden  bool // unless the command gets the end of the chain that was noted before
}

const (
	missingEvent = "the event is missing"
	alteredEvent = "the event was altered"
	alteredSeal  = "the seal of the event, or of one before it, was altered"
	foreignSeal  = "the seal of the event was altered, or was not made with the key of the server"
)

func forgeries() []forgery {
	after := func(n int64) func(l forgedLog) int64 { return func(l forgedLog) int64 { return l.first + n } }
	exactly := func(n int64) func(l forgedLog) int64 { return func(forgedLog) int64 { return n } }
	return []forgery{
		{name: "an actor is altered", change: func(l forgedLog) { l.onSeal(l.first+1, "UPDATE events SET actor_id = 'bob'") }, seal: after(1), problem: alteredEvent},
		{name: "a detail is altered", change: func(l forgedLog) { l.onSeal(l.first+2, `UPDATE events SET detail = '{"n":"7"}'`) }, seal: after(2), problem: alteredEvent},
		{name: "an event is removed", change: func(l forgedLog) { l.onSeal(l.first+3, "DELETE FROM events") }, seal: after(3), problem: missingEvent},
		{name: "an event is removed with its seal", change: removeWithSeal, seal: after(3), problem: `the seals \d+ to \d+ before it are missing`},
		{name: "an event is inserted", change: insertEvent, seal: exactly(0), problem: "the event has no seal"},
		{name: "an event is inserted under another's seal", change: insertSealed, seal: after(3), problem: alteredEvent},
		{name: "two events change places", change: swapEvents, seal: after(1), problem: alteredSeal},
		{name: "the newest are removed", change: removeNewest, seal: after(3), problem: "the seals after it are missing"},
		{name: "the newest are removed, and the end of the chain is altered", change: func(l forgedLog) { l.removeFrom(l.first + 4) },
			seal: after(3), problem: `the chain ends here, before the expected \d+:[0-9a-f]{64}`, hidden: true},
		{name: "the newest are replaced", change: func(l forgedLog) { l.replaceFrom(l.first + 2) }, seal: after(2), problem: foreignSeal},
		{name: "the newest are replaced, under the name of the key", change: replaceUnderName, seal: after(2), problem: foreignSeal},
		{name: "all but the first are replaced", change: func(l forgedLog) { l.replaceFrom(2) }, seal: exactly(2), problem: foreignSeal},
	}
}

func removeWithSeal(l forgedLog) {
	l.onSeal(l.first+2, "DELETE FROM events")
	l.exec("DELETE FROM event_seals WHERE seq = ?", l.first+2)
}

// insertEvent adds an event, and removes it from the queue of the events that the server seals.
func insertEvent(l forgedLog) {
	l.exec("INSERT INTO events (at, id, action, user_id, application_id, execution_id, trace_id) VALUES (1, 'forged', 'user.created', '', '', '', '')")
	l.exec("DELETE FROM unsealed_events WHERE id = 'forged'")
}

// insertSealed gives the seal of an event to a new one.
func insertSealed(l forgedLog) {
	insertEvent(l)
	l.onSeal(l.first+3, "DELETE FROM events")
	l.exec("UPDATE event_seals SET at = 1, id = 'forged' WHERE seq = ?", l.first+3)
}

func swapEvents(l forgedLog) {
	for _, move := range [][2]int64{{l.first + 1, -1}, {l.first + 2, l.first + 1}, {-1, l.first + 2}} {
		l.exec("UPDATE event_seals SET seq = ? WHERE seq = ?", move[1], move[0])
	}
}

func removeNewest(l forgedLog) {
	l.onSeal(l.last, "DELETE FROM events")
	l.exec("DELETE FROM event_seals WHERE seq = ?", l.last)
}

func replaceUnderName(l forgedLog) {
	l.replaceFrom(l.first + 2)
	l.exec("UPDATE event_seals SET key_id = (SELECT key_id FROM event_seals WHERE seq = ?)", l.first)
}

// newForgedLog starts a server with five events of the test, and removes the triggers that protect
// the events. It returns the environment of the server too.
func newForgedLog(t *testing.T, environ ...string) (forgedLog, []string) {
	t.Helper()
	environ = append(testEnvironment(t.TempDir()), environ...)
	l := forgedLog{testApp: newTestAppIn(t, environ)}
	db, err := sqlx.Open(l.cfg.Database.Driver, l.cfg.Database.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	l.db = db
	for n := range 5 {
		l.recordNumber(strconv.Itoa(n))
	}
	if _, err := l.chain.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Get(&l.last, "SELECT seq FROM event_chain"); err != nil {
		t.Fatal(err)
	}
	l.first = l.last - 4
	on := map[string]string{"postgres": " ON events"}[l.cfg.Database.Driver]
	l.exec("DROP TRIGGER events_keep" + on)
	l.exec("DROP TRIGGER events_stay" + on)
	return l, environ
}

// verifyIntact runs the command on an intact log and returns the end of the chain.
func verifyIntact(t *testing.T, environ []string) (end string) {
	t.Helper()
	code, text := runProgram(t, environ, "audit", "verify")
	found := regexp.MustCompile(`(?m)^The audit log is intact: \d+ events, and 0 .*\nEnd of the chain: (\d+:[0-9a-f]{64})\n$`).FindStringSubmatch(text)
	if code != exitFine || found == nil {
		t.Fatalf("exit code %d and %q, expected an intact log", code, text)
	}
	return found[1]
}

// TestAudit14TamperedLog changes the log in the database of a server in several ways. The command
// reports the place of each change and exits with 1.
func TestAudit14TamperedLog(t *testing.T) {
	sequential(t)
	for _, f := range forgeries() {
		t.Run(f.name, func(t *testing.T) { onDatabases(t, f.run) })
	}
}

func (f forgery) run(t *testing.T, environ ...string) {
	l, environ := newForgedLog(t, environ...)
	end := verifyIntact(t, environ)
	f.change(l)
	args := []string{"audit", "verify"}
	if f.hidden {
		verifyIntact(t, environ)
		args = append(args, "--expect", end)
	}
	code, text := runProgram(t, environ, args...)
	want := regexp.MustCompile(fmt.Sprintf(`(?m)^The audit log was changed at seal %d( \(event \S+ of \S+\))?: %s[^\n]*\.\nThe \d+ events before it are unchanged\.\n$`, f.seal(l), f.problem))
	if code != exitFindings || !want.MatchString(text) {
		t.Errorf("exit code %d and %q, expected %d and %v", code, text, exitFindings, want)
	}
}
