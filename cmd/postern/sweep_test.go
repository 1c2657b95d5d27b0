package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

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
				if err := w.store.Apply(t.Context(), []schemas.Change{schemas.RecordEvent{Event: schemas.Event{At: at, Action: "test.done"}}}); err != nil {
					t.Fatal(err)
				}
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
