package server_test

import (
	"bytes"
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

func TestStatistics(t *testing.T) {
	h := newTestServer(t)
	hour := h.clock().Truncate(time.Hour)
	for _, e := range []struct {
		ago    time.Duration
		action string
		detail map[string]string
	}{
		{0, "user.signed_in", nil}, {0, "user.signed_in", map[string]string{"bySession": "true"}}, {0, "passkey.used", nil}, {time.Hour, "user.signed_in", nil},
		{time.Hour, "password.used", nil}, {time.Hour, "passkey.used", nil}, {time.Hour, "attempt.failed", map[string]string{"error": "wrong_password"}},
		{25 * time.Hour, "user.signed_in", nil},
	} {
		h.apply(schemas.RecordEvent{Event: schemas.Event{At: hour.Add(-e.ago), Action: e.action, Detail: e.detail}})
	}
	if _, err := h.db.EventChain(bytes.Repeat([]byte{1}, 32)).Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	sums := func(query string) (steps, signIns, sessions, failures int, top string) {
		list, _ := h.ok(200, "GET /statistics?"+query, "", h.bearer(ada, "system:audit:read"))
		for _, s := range list.list("signIns") {
			signIns += s.number("count")
		}
		for i := range list.list("failures") {
			sessions += list.list("sessions")[i].number("count")
			failures += list.list("failures")[i].number("count")
		}
		for _, m := range list.list("methods") {
			top += m.text("name") + " "
		}
		return len(list.list("signIns")), signIns, sessions, failures, top
	}
	for query, want := range map[string][4]int{
		"": {24, 2, 1, 1},
		"step=day&from=" + stamp(hour.Add(-47*time.Hour)):            {2, 3, 1, 1},
		"from=" + stamp(hour) + "&to=" + stamp(hour.Add(time.Hour)):  {1, 1, 1, 0},
		"from=" + stamp(hour.Add(-time.Hour)) + "&to=" + stamp(hour): {1, 1, 0, 1},
	} {
		steps, signIns, sessions, failures, _ := sums(query)
		if got := [4]int{steps, signIns, sessions, failures}; got != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
	if _, _, _, _, methods := sums(""); methods != "passkey password " {
		t.Errorf("the methods are %q", methods)
	}
	for query, says := range map[string]string{
		"step=minute": "step: expected hour or day", "from=x": "from: expected a time",
		"from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z":          "to: expected a time at least an hour after from",
		"from=2020-01-02T00:00:00Z&to=2030-01-01T00:00:00Z&step=day": "at most 400 steps",
		"since=1": "since",
	} {
		rec := h.request("GET /statistics?"+query, "", h.bearer(ada, "system:audit:read"))
		if rec.Code != 400 || !strings.Contains(rec.Body.String(), says) {
			t.Errorf("%s: %d %s, want %q", query, rec.Code, rec.Body, says)
		}
	}
	if rec := h.request("GET /statistics", "", h.bearer(ada, "system:users:read")); rec.Code != 403 {
		t.Errorf("without the permission: %d", rec.Code)
	}
}

func TestAuditVerification(t *testing.T) {
	var sent []string
	h := newTestServer(t, func(o *server.Options) {
		o.VerifyAudit = func(_ context.Context, after, expect string) (*schemas.LogVerification, error) {
			sent = append(sent, after+" "+expect)
			return &schemas.LogVerification{Events: 2, End: "2:ff", Complete: true}, nil
		}
	})
	list, _ := h.ok(200, "GET /audit-verification?after=1:aa&expect="+url.QueryEscape("2:bb"), "", h.bearer(ada, "system:audit:read"))
	if list.text("end") != "2:ff" || len(sent) != 1 || sent[0] != "1:aa 2:bb" {
		t.Errorf("%v after %q", list, sent)
	}
	if rec := h.request("GET /audit-verification", "", h.bearer(ada, "system:users:read")); rec.Code != 403 {
		t.Errorf("without the permission: %d", rec.Code)
	}
	if rec := h.request("GET /audit-verification?before=1", "", h.bearer(ada, "system:audit:read")); rec.Code != 400 {
		t.Errorf("an unknown parameter: %d", rec.Code)
	}
}
