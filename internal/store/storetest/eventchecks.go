package storetest

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
)

// removesSeals reports whether an expected end is missing after the attack.
func (c attack) removesSeals() bool {
	return c.broken != "" || c.fault == ""
}

// test attacks while no server runs, and while one does, which has sealed the events.
func (c attack) test(t *testing.T, s *store.Store, a attacker, running *store.EventChain) {
	noted := running.Known()
	c.run(a)
	record(t, s, "e9", eventTime(9))
	if c.removesSeals() && c.broken == "" {
		running.Now = sealed(eventTime(9).Add(time.Second))
		_, err := running.Seal(t.Context())
		wantBroken(t, "the server that runs", err, "expected")
	}
	started := s.EventChain(chainKey)
	started.Now = sealed(eventTime(9).Add(time.Second))
	late := 0
	started.Late = func(from, to time.Time) { late++ }
	_, err := started.Seal(t.Context())
	wantBroken(t, "a server that starts", err, c.broken)
	if c.after != nil {
		c.after(a)
	}
	verified := reply(s.EventChain(chainKey).Verify(t.Context(), nil)).get(t)
	wantNoticed(t, "a verification", verified, c.fault)
	if c.late && (late == 0 || verified.Late == 0) {
		t.Errorf("the server reports late events %d times, the verification %d events", late, verified.Late)
	}
	if !c.removesSeals() {
		return
	}
	if r := reply(s.EventChain(chainKey).Verify(t.Context(), &noted.ChainEnd)).get(t); r.Fault == nil {
		t.Error("a verification with the noted end finds no fault")
	}
	restarted := s.EventChain(chainKey)
	restarted.Remember(noted)
	if _, err := restarted.Seal(t.Context()); !isBroken(err) {
		t.Errorf("a server that remembers the end: %v, expected that the log is broken", err)
	}
}

func isBroken(err error) bool {
	_, is := errors.AsType[*store.ChainBroken](err)
	return is
}

// wantBroken compares the error of a sealer; "" is none.
func wantBroken(t testing.TB, what string, err error, problem string) {
	t.Helper()
	if problem == "" && err != nil || problem != "" && (!isBroken(err) || !strings.Contains(err.Error(), problem)) {
		t.Errorf("%s: %v, expected %q", what, err, problem)
	}
}

// wantNoticed checks that a verification finds a fault; "" is none.
func wantNoticed(t testing.TB, what string, r store.ChainReport, problem string) {
	t.Helper()
	if found := r.Fault; (found == nil) != (problem == "") || found != nil && !strings.Contains(found.Problem, problem) {
		t.Errorf("%s finds %+v, expected %q", what, found, problem)
	}
}

// testChainRepaired breaks a log, repairs it, and attacks it again in the same and in other places.
func testChainRepaired(t *testing.T, s *store.Store, a attacker) {
	chain := s.EventChain(chainKey)
	recordSealed(t, s, chain, 1, 8)
	a.exec(`DELETE FROM events WHERE id = 'e2'; DELETE FROM event_seals WHERE seq >= 6`)
	chain.Now = sealed(eventTime(9))
	record(t, s, "e9", eventTime(9))
	if _, err := s.EventChain(chainKey).Seal(t.Context()); !isBroken(err) {
		t.Errorf("a broken log is sealed: %v", err)
	}
	faults := reply(chain.Faults(t.Context(), nil)).get(t)
	wantEqual(t, "the number of faults", len(faults), 3) // e2, the end, and events without a seal
	done := reply(chain.Repair(t.Context(), faults, map[string]string{"note": "a test"})).get(t)
	wantEqual(t, "the events without a seal", done.Added, 3)
	reply(chain.Seal(t.Context())).equals(t, "the number of sealed events", 4)
	report := reply(chain.Verify(t.Context(), nil)).get(t)
	wantNoticed(t, "a verification after the repair", report, "")
	wantEqual(t, "the known faults", report.Known, 1)
	wantEqual(t, "the number of the last seal", report.End.Seq, int64(13))
	a.exec(`UPDATE event_seals SET mac = hash WHERE seq = 2`)
	wantNoticed(t, "another fault of the same seal", reply(chain.Verify(t.Context(), nil)).get(t), "not made with the key")
	a.exec(`DELETE FROM event_seals WHERE seq = 2`)
	wantNoticed(t, "the seal is removed too", reply(chain.Verify(t.Context(), nil)).get(t), "seals 2 to 2 before it are missing")
}

// testChainUpgraded upgrades a log of an earlier version with events that the retention time has removed
// and seals of a former key.
func testChainUpgraded(t *testing.T, s *store.Store, a attacker) {
	earlier := s.EventChain(chainKey)
	earlier.Now = sealed(time.UnixMicro(0))
	for i := 1; i <= 5; i++ {
		recordNumbered(t, s, i)
	}
	a.insert("t1", "audit.trimmed", noon().Add(time.Hour), `{"before":"2026-05-17T12:02:30Z","events":"2"}`)
	a.insert("t2", "audit.trimmed", noon().Add(time.Hour), `{"before":"2126-05-17T12:02:30Z","events":"2"}`) // after its own time
	sealAll(t, s, earlier, 7)
	a.exec(`DELETE FROM events WHERE id <= 'e2'; DELETE FROM event_seals WHERE seq < 2; UPDATE event_seals SET key_id = 'former', mac = hash WHERE seq <= 3`)
	chain := s.EventChain(chainKey)
	reply(chain.Seal(t.Context())).get(t)
	report := reply(chain.Verify(t.Context(), nil)).get(t)
	wantNoticed(t, "a verification after the upgrade", report, "")
	wantEqual(t, "the events", []int{report.Events, report.Removed}, []int{6, 1})
	wantEqual(t, "the anchor", []any{report.Anchor.End.Seq, report.Anchor.Reason, report.End.Seq}, []any{int64(7), "upgrade", int64(8)})
	recordNumbered(t, s, 6)
	reply(chain.Seal(t.Context())).equals(t, "the number of sealed events", 1)
	for _, c := range []struct{ name, change, problem string }{
		{"a seal of the earlier version is altered", `UPDATE event_seals SET digest = hash WHERE seq = 4`, "altered"},
		{"an event of the earlier version is removed", `DELETE FROM events WHERE id = 'e3'`, "the event is missing"},
		{"the first kept seal is removed", `DELETE FROM events WHERE id = 'e3'; DELETE FROM event_seals WHERE seq <= 3`, "the events before it are missing"},
	} {
		a.exec(c.change)
		wantNoticed(t, c.name, reply(chain.Verify(t.Context(), nil)).get(t), c.problem)
	}
}

// testChainForeign seals nothing in a log of an earlier version whose last seal has another key.
func testChainForeign(t *testing.T, s *store.Store, a attacker) {
	earlier := s.EventChain(bytes.Repeat([]byte{8}, 32))
	earlier.Now = sealed(time.UnixMicro(0))
	recordNumbered(t, s, 1)
	sealAll(t, s, earlier, 1)
	recordNumbered(t, s, 2)
	_, err := s.EventChain(chainKey).Seal(t.Context())
	wantBroken(t, "a server that starts", err, "not made with the key of this server")
}

// testChainRestored restores an older state of the log. Only a restoration with the key lets a server go on
// that has seen a later end.
func testChainRestored(t *testing.T, s *store.Store, a attacker) {
	chain := s.EventChain(chainKey)
	recordSealed(t, s, chain, 1, 6)
	later := chain.Known()
	a.exec(`DELETE FROM events WHERE id > 'e4'`)
	a.cut(5)
	chain.Now = sealed(eventTime(7))
	if _, err := chain.Seal(t.Context()); !isBroken(err) {
		t.Errorf("a server goes on with an older log: %v", err)
	}
	restored := s.EventChain(chainKey)
	restored.Now = sealed(eventTime(8))
	update(t, s, restored.Restart)
	chain.Now = sealed(eventTime(9))
	reply(chain.Seal(t.Context())).get(t)
	wantNoticed(t, "a verification after the restoration", reply(chain.Verify(t.Context(), nil)).get(t), "")
	a.exec(`DELETE FROM events WHERE id > 'e4'`)
	a.cut(5)
	wantBroken(t, "the older log again", chain.Check(t.Context()), "expected")
	wantNoticed(t, "an end that was noted before the restoration", reply(s.EventChain(chainKey).Verify(t.Context(), &later.ChainEnd)).get(t), "before the expected")
}
