package main

import (
	"bytes"
	"errors"
	"regexp"
	"testing"

	"github.com/jmoiron/sqlx"
)

// TestAudit14TamperedLog removes an event from the database of a server, and verifies the log.
func TestAudit14TamperedLog(t *testing.T) {
	w := newTestApp(t)
	chain := w.eventChain()
	verifyLog := func() (string, error) {
		t.Helper()
		if _, err := chain.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
		report, err := chain.Verify(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = writeChainReport(&out, report)
		return out.String(), err
	}
	if text, err := verifyLog(); err != nil {
		t.Fatal(text)
	}
	db, err := sqlx.Open(w.cfg.Database.Driver, w.cfg.Database.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.MustExec("DROP TRIGGER events_stay")
	db.MustExec("DELETE FROM events WHERE (at, id) = (SELECT at, id FROM event_seals WHERE seq = 5)")
	text, err := verifyLog()
	if !errors.Is(err, errFindings) || !regexp.MustCompile(`^The audit log was changed at seal 5 \(event \S+ of \S+\): the event is missing\.\nThe 4 events before`).MatchString(text) {
		t.Errorf("got %q and %v, expected the place of the removed event", text, err)
	}
}
