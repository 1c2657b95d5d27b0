package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/schemas"
)

// A server without a target that a stored flow names starts, logs a warning, and is ready.
func TestBrokenFlowsAreLogged(t *testing.T) {
	dir := "POSTERN_DATA_DIR=" + t.TempDir()
	before := newTestApp(t, dir, `POSTERN_HTTP_TARGETS={"risk":{"url":"https://risk.example.com"},"crm":{"url":"https://crm.example.com"}}`)
	for _, target := range []string{"risk", "crm"} {
		d, problems := schemas.ParseJSON(fmt.Appendf(nil, `{"handle": "ask-%[1]s", "name": "Ask", "flowType": "AUTHENTICATION", "nodes": [
			{"id": "key", "use": "passkey-authenticate", "next": "ask"},
			{"id": "ask", "use": "http-request", "with": {"target": %[1]q, "mode": "query"}, "next": "done"},
			{"id": "done", "use": "authorization-code"}]}`, target))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if _, err := before.directory.Flows.Create(t.Context(), directory.SystemCall(), d); err != nil {
			t.Fatal(err)
		}
	}
	after := newTestApp(t, dir, `POSTERN_HTTP_TARGETS={"risk":{"url":"https://risk.example.com"}}`)
	var text logtest.Buffer
	after.log = newLog(&text, after.cfg.Log)
	after.reportBrokenFlows(t.Context())
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 1 || !strings.Contains(lines[0], "flow=ask-crm") || !strings.Contains(lines[0], `at=nodes[1].with.target`) || !strings.Contains(lines[0], `this server has no target \"crm\"`) {
		t.Errorf("the log has:\n%s", text.String())
	}
	rec := after.exchange(http.MethodGet, "/health/readiness", "")
	if rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), `"UP"`) {
		t.Errorf("readiness: %d %s", rec.Code, rec.Body)
	}
}
