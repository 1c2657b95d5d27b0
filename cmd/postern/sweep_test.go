package main

import (
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/schemas"
)

// The audit log keeps events for the configured time, and a reader who pages through it
// meanwhile reaches the end of the remaining events.
func TestAuditRetention(t *testing.T) {
	now := time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
	for retention, left := range map[string]int{"0": 3, "7d": 3, "48h": 2, "1d": 1} {
		t.Run(retention, func(t *testing.T) {
			w := newTestApp(t, "POSTERN_AUDIT_RETENTION="+retention)
			day := now.Truncate(24 * time.Hour)
			for _, at := range []time.Time{day.AddDate(0, 0, -2).Add(-1), day.AddDate(0, 0, -1).Add(-1), day.AddDate(0, 0, -1)} {
				w.apply(schemas.RecordEvent{Event: schemas.Event{At: at, Action: "test.done"}})
			}
			token := w.admin()
			first := w.auditPage(token, "/audit-events?action=test.done&limit=1")
			w.sweepOnce(t.Context(), now)
			w.sweepOnce(t.Context(), now.Add(time.Minute))
			seen := len(first.AuditEvents)
			for page := first; len(page.Links) > 0; seen += len(page.AuditEvents) {
				page = w.auditPage(token, strings.TrimPrefix(page.Links[0].Href, w.origin))
			}
			if seen != left {
				t.Errorf("%d events are left, expected %d", seen, left)
			}
			reported := w.auditPage(token, "/audit-events?action=audit.trimmed").AuditEvents
			if trimmed := 3 - left; trimmed == 0 && len(reported) > 0 || trimmed > 0 && (len(reported) != 1 || reported[0].Detail["events"] != strconv.Itoa(trimmed)) {
				t.Errorf("%d events were trimmed, and the log says %v", trimmed, reported)
			}
		})
	}
}

// TestTrimmingWaitsForSinks has a file that cannot be written: old events stay until they are older
// than the grace too, and then their loss is an event and a message in the log.
func TestTrimmingWaitsForSinks(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		path := filepath.Join(t.TempDir(), "events.jsonl")
		w := newTestApp(t, append(environ, "POSTERN_AUDIT_RETENTION=1d", "POSTERN_AUDIT_SINK_GRACE=2d", "POSTERN_AUDIT_FILE="+path)...)
		var lines logtest.Buffer
		w.log = slog.New(slog.NewTextHandler(&lines, nil))
		w.record("test.done")
		left := func() int { return len(w.eventsOf("test.done")) }
		now := time.Now().UTC()
		w.sweepOnce(t.Context(), now.AddDate(0, 0, 3))
		if left() != 1 || len(w.eventsOf("audit.trimmed")) > 0 {
			t.Error("an event that the file has not received was removed")
		}
		w.sweepOnce(t.Context(), now.AddDate(0, 0, 5))
		lost := w.eventsOf("audit.undelivered")
		if left() != 0 || len(lost) != 1 || lost[0].Detail["sink"] != "file" || !strings.Contains(lines.String(), "a sink has not received") {
			t.Errorf("%d events left, recorded %+v, logged %s; expected the loss", left(), lost, lines.String())
		}
		w.record("test.done")
		if err := w.forward(t.Context(), w.eventSinks()[0], time.Now()); err != nil {
			t.Fatal(err)
		}
		w.sweepOnce(t.Context(), now.AddDate(0, 0, 3))
		if left() != 0 || len(w.eventsOf("audit.undelivered")) != 1 {
			t.Errorf("%d events left, expected none: the file has received them", left())
		}
	})
}

// auditPage is a page of the audit log.
type auditPage struct {
	AuditEvents []schemas.Event
	Links       []struct{ Href string }
}

func (w *testApp) auditPage(token, path string) auditPage {
	w.t.Helper()
	page, _ := w.auditLog(token, path)
	return page
}
