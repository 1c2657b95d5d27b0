package storetest

import (
	"bytes"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// chainKey is the key of the seals.
var chainKey = bytes.Repeat([]byte{7}, 32)

// EventChain tests the hash chain of the audit log. fresh returns the location of a new and empty
// store, and a function that opens its database with SQL.
func EventChain(t *testing.T, fresh func(t *testing.T) (store.Config, func() (*sql.DB, error))) {
	for _, tamper := range tamperings() {
		t.Run(tamper.name, func(t *testing.T) {
			c, open := fresh(t)
			tamper.run(t, Open(t, c), c.Driver, open)
		})
	}
	for _, attack := range attacks() {
		t.Run(attack.name, func(t *testing.T) {
			c, open := fresh(t)
			s := Open(t, c)
			chain := s.EventChain(chainKey)
			recordSealed(t, s, chain, 1, 8)
			attack.test(t, s, newAttacker(t, s, c.Driver, open), chain)
		})
	}
	for _, attack := range rollbacks() {
		t.Run(attack.name, func(t *testing.T) {
			c, open := fresh(t)
			s := Open(t, c)
			a := newAttacker(t, s, c.Driver, open)
			attack.test(t, s, a, recordUpgraded(a, s))
		})
	}
	for name, run := range map[string]func(t *testing.T, c store.Config){
		"an intact log, and the retention time":    testChainTrimmed,
		"instances that record and seal at once":   testChainInstances,
		"the key is replaced":                      testChainKeyReplaced,
		"the origin of a request is in its events": testEventOrigin,
		"the end of the chain was noted before":    testChainExpected,
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := fresh(t)
			run(t, c)
		})
	}
	for name, run := range map[string]func(t *testing.T, s *store.Store, a attacker){
		"a broken log is repaired":               testChainRepaired,
		"a log of an earlier version":            testChainUpgraded,
		"a log whose last seal has a former key": testChainForeign,
		"an older state is restored":             testChainRestored,
	} {
		t.Run(name, func(t *testing.T) {
			c, open := fresh(t)
			s := Open(t, c)
			a := newAttacker(t, s, c.Driver, open)
			run(t, s, a)
		})
	}
}

// tampering is a change of the database by an attacker, and the fault that it causes.
type tampering struct {
	name, sql string
	seq       int64
	problem   string
}

// tamperings change a log with the events e1 to e9; e9 is not sealed. They run without the
// triggers that protect the events.
func tamperings() []tampering {
	return []tampering{
		{"nothing", "", 0, ""},
		{"an event is altered", `UPDATE events SET user_id = 'bob' WHERE id = 'e4'`, 4, "the event was altered"},
		{"the address of an event is altered", `UPDATE events SET address = '192.0.2.1' WHERE id = 'e5'`, 5, "the event was altered"},
		{"the first of two altered events is found", `UPDATE events SET action = 'x' WHERE id IN ('e3', 'e6')`, 3, "the event was altered"},
		{"an event is removed", `DELETE FROM events WHERE id = 'e6'`, 6, "the event is missing"},
		{"an event is removed with its seal", `DELETE FROM events WHERE id = 'e6'; DELETE FROM event_seals WHERE id = 'e6'`, 7, "seals 6 to 6 before it are missing"},
		{"the oldest events are removed with their seals", `DELETE FROM events WHERE id <= 'e3'; DELETE FROM event_seals WHERE seq <= 3`, 4, "events before it are missing"},
		{"the newest events are removed with their seals", `DELETE FROM events WHERE id >= 'e7'; DELETE FROM event_seals WHERE seq >= 7; DELETE FROM unsealed_events`, 6, "seals after it are missing"},
		{"all events are removed", `DELETE FROM events; DELETE FROM event_seals; DELETE FROM unsealed_events`, 0, "seals after it are missing"},
		{"two events change places", `UPDATE event_seals SET seq = 100 WHERE seq = 2; UPDATE event_seals SET seq = 2 WHERE seq = 3; UPDATE event_seals SET seq = 3 WHERE seq = 100`, 2, "was altered"},
		{"the seal of an event is altered", `UPDATE event_seals SET digest = hash WHERE seq = 5`, 5, "the event was altered"},
		{"the code of a seal is altered", `UPDATE event_seals SET mac = hash WHERE seq = 5`, 5, "seal of the event"},
		{"a seal names another key", `UPDATE event_seals SET key_id = 'other' WHERE seq = 5`, 5, "seal of the event"},
		{"all seals name another key", `UPDATE event_seals SET key_id = 'other'`, 1, "not made with the key of the server"},
		{"a removed event has no seal yet", `DELETE FROM events WHERE id = 'e9'`, 0, "removed before it was sealed"},
		{"an event is added without a seal", `INSERT INTO events (at, id, action, user_id, application_id, execution_id, trace_id) VALUES (1, 'e0', 'x', '', '', '', ''); DELETE FROM unsealed_events WHERE id = 'e0'`, 0, "has no seal"},
	}
}

func (c tampering) run(t *testing.T, s *store.Store, driver string, open func() (*sql.DB, error)) {
	for i := 1; i <= 9; i++ {
		recordNumbered(t, s, i)
		if i == 8 {
			sealAll(t, s, s.EventChain(chainKey), 8)
		}
	}
	newAttacker(t, s, driver, open).exec(c.sql)
	report := reply(s.EventChain(chainKey).Verify(t.Context(), nil)).get(t)
	wantFault(t, report, c.seq, c.problem)
}

// recordNumbered records the event e<i>, a minute after the one before.
func recordNumbered(t testing.TB, s *store.Store, i int) {
	t.Helper()
	must(t, s.Apply(t.Context(), []schemas.Change{schemas.RecordEvent{Event: schemas.Event{
		ID: fmt.Sprint("e", i), At: noon().Add(time.Duration(i) * time.Minute), Action: "role.replaced", Detail: map[string]string{"a": "b", "c": "d"},
		Changes: []schemas.MemberChange{{Member: "name", From: `"a"`, To: `"b"`}},
	}}}))
}

func sealAll(t testing.TB, s *store.Store, chain *store.EventChain, want int) {
	t.Helper()
	reply(chain.Seal(t.Context())).equals(t, "the number of sealed events", want)
}

// wantFault compares the fault of a report; "" is none.
func wantFault(t testing.TB, report store.ChainReport, seq int64, problem string) {
	t.Helper()
	switch f := report.Fault; {
	case f == nil && problem == "":
	case f == nil:
		t.Errorf("found no fault, expected %q at %d", problem, seq)
	case problem == "" || f.Seq != seq || !strings.Contains(f.Problem, problem):
		t.Errorf("found the fault %+v, expected %q at %d", *f, problem, seq)
	}
}

func verifyChain(t testing.TB, s *store.Store, key []byte, expected *store.ChainEnd) store.ChainReport {
	t.Helper()
	report := reply(s.EventChain(key).Verify(t.Context(), expected)).get(t)
	verifyParts(t, s, key, expected, report)
	return report
}

// verifyParts verifies the log in parts and compares the result with that of the whole. Parts do
// not find events without a seal.
func verifyParts(t testing.TB, s *store.Store, key []byte, expected *store.ChainEnd, whole store.ChainReport) {
	t.Helper()
	if f := whole.Fault; f != nil && strings.Contains(f.Problem, "has no seal") {
		whole.Fault = nil
	}
	var sum store.ChainReport
	var after *store.ChainEnd
	for complete := false; !complete && sum.Fault == nil; {
		report, done, err := s.EventChain(key).VerifyPart(t.Context(), after, expected, 2)
		must(t, err)
		sum = store.ChainReport{Events: sum.Events + report.Events, Removed: sum.Removed + report.Removed, Known: sum.Known + report.Known, End: report.End, Fault: report.Fault, Anchor: report.Anchor}
		complete, after = done, &report.End
	}
	wantEqual(t, "the sum of the parts", sum, whole)
	if whole.End.Seq > 0 {
		_, _, err := s.EventChain(key).VerifyPart(t.Context(), &store.ChainEnd{Seq: whole.End.Seq, Hash: []byte("x")}, nil, 2)
		wantError(t, err, schemas.Invalid, schemas.CodeInvalidRequest)
	}
}

// testChainTrimmed removes old events. Some of them follow newer events in the chain.
func testChainTrimmed(t *testing.T, c store.Config) {
	s := Open(t, c)
	wantFault(t, verifyChain(t, s, chainKey, nil), 0, "")
	for _, i := range []int{1, 2, 6, 3, 4, 7, 8} {
		recordNumbered(t, s, i)
		sealAll(t, s, s.EventChain(chainKey), 1)
	}
	recordNumbered(t, s, 5) // never sealed
	wantEqual(t, "the number of removed events", trimAll(t, s, noon().Add(6*time.Minute), noon().Add(time.Hour)), 5)
	report := verifyChain(t, s, chainKey, nil)
	wantFault(t, report, 0, "")
	wantEqual(t, "what the chain has", []int{report.Events, report.Removed, int(report.End.Seq)}, []int{4, 3, 8})
	wantEqual(t, "the number of removed events", trimAll(t, s, noon().Add(8*time.Minute), noon().Add(2*time.Hour)), 2)
	wantFault(t, verifyChain(t, s, chainKey, nil), 0, "")
	expected := report.End
	wantFault(t, verifyChain(t, s, chainKey, &expected), 0, "")
}

// testChainInstances records and seals events on two instances concurrently.
func testChainInstances(t *testing.T, c store.Config) {
	one := Open(t, c)
	two := reply(store.Open(t.Context(), c)).get(t)
	defer two.Close()
	const each = 60
	together(4, func(i int) {
		s := []*store.Store{one, two}[i%2]
		for n := range each {
			e := schemas.Event{At: noon().Add(time.Duration(n) * time.Second), Action: "user.signed_in"}
			check(t, s.Apply(t.Context(), []schemas.Change{schemas.RecordEvent{Event: e}, schemas.RecordEvent{Event: e}}))
			if _, err := s.EventChain(chainKey).Seal(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	reply(one.EventChain(chainKey).Seal(t.Context())).get(t)
	report := verifyChain(t, two, chainKey, nil)
	wantFault(t, report, 0, "")
	wantEqual(t, "the events of the chain", []int{report.Events, int(report.End.Seq)}, []int{4 * 2 * each, 4 * 2 * each})
}

// testChainKeyReplaced replaces the key: the seals with the old key remain, followed by an anchor with the
// new key that vouches for them.
func testChainKeyReplaced(t *testing.T, c store.Config) {
	s, older, newer := Open(t, c), bytes.Repeat([]byte{8}, 32), chainKey
	recordNumbered(t, s, 1)
	sealAll(t, s, s.EventChain(older), 1)
	wantFault(t, verifyChain(t, s, newer, nil), 1, "not made with the key of the server")
	recordNumbered(t, s, 2)
	_, err := s.EventChain(newer).Seal(t.Context())
	wantBroken(t, "a seal with a new key without an anchor", err, "not made with the key of this server")
	err = s.Update(t.Context(), func(tx *store.Tx) error { return s.EventChain(newer).HandOver(tx, s.EventChain(newer)) })
	wantBroken(t, "an anchor without the former key", err, "not made with the key of this server")
	sealAll(t, s, s.EventChain(older), 1)
	wantEqual(t, "the number of removed events", trimAllWith(t, s, older, noon().Add(90*time.Second), noon().Add(time.Hour)), 1)
	update(t, s, func(tx *store.Tx) error { return s.EventChain(older).HandOver(tx, s.EventChain(newer)) })
	recordNumbered(t, s, 3)
	sealAll(t, s, s.EventChain(newer), 1)
	report := verifyChain(t, s, newer, nil)
	wantFault(t, report, 0, "")
	wantEqual(t, "the anchor", []any{report.Anchor.End.Seq, report.Anchor.Reason, report.Removed}, []any{int64(3), "key", 1})
	wantFault(t, verifyChain(t, s, older, nil), 4, "not made with the key of the server")
}

// testChainExpected verifies the log with a noted end, and with another one.
func testChainExpected(t *testing.T, c store.Config) {
	s := Open(t, c)
	recordNumbered(t, s, 1)
	sealAll(t, s, s.EventChain(chainKey), 1)
	noted := verifyChain(t, s, chainKey, nil).End
	recordNumbered(t, s, 2)
	sealAll(t, s, s.EventChain(chainKey), 1)
	wantFault(t, verifyChain(t, s, chainKey, &noted), 0, "")
	wantFault(t, verifyChain(t, s, chainKey, &store.ChainEnd{Seq: 1, Hash: []byte("x")}), 1, "differs from the expected")
	wantFault(t, verifyChain(t, s, chainKey, &store.ChainEnd{Seq: 3, Hash: noted.Hash}), 2, "ends here, before the expected")
}

// testEventOrigin records events in the context of a request, and without one.
func testEventOrigin(t *testing.T, c store.Config) {
	s := Open(t, c)
	origin := schemas.Origin{Address: "192.0.2.7", UserAgent: "Browser/1", SessionID: "s"}
	ctx := schemas.WithOrigin(t.Context(), &origin)
	e := schemas.Event{ID: "e1", At: noon(), Action: "x", Changes: []schemas.MemberChange{{Member: "name", To: `"x"`}}}
	must(t, s.Apply(ctx, []schemas.Change{schemas.RecordEvent{Event: e}}))
	must(t, s.Update(ctx, func(tx *store.Tx) error {
		e.ID = "e2"
		return tx.Apply([]schemas.Change{schemas.RecordEvent{Event: e}})
	}))
	recordNumbered(t, s, 3)
	got := reply(s.Events(t.Context(), schemas.EventQuery{Limit: 10})).get(t)
	wantEqual(t, "the origins", []schemas.Origin{got[0].Origin, got[1].Origin, got[2].Origin}, []schemas.Origin{{}, origin, origin})
	wantEqual(t, "the changes", got[1].Changes, e.Changes)
}
