package main

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/logtest"
)

// TestBrokenAuditLog runs a server whose log is broken: it raises an alarm, users still sign in, nothing is
// removed, and sealing goes on after `postern audit reanchor`.
func TestBrokenAuditLog(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		l, environ := newForgedLog(t, append(environ, "POSTERN_AUDIT_RETENTION=1d")...)
		var lines logtest.Buffer
		l.log = slog.New(slog.NewTextHandler(&lines, nil))
		l.sealOnce(t.Context())
		if reply := l.exchange(http.MethodGet, "/health/readiness", ""); reply.Code != http.StatusOK || !strings.Contains(reply.Body.String(), `{"serviceName":"audit","status":"UP"}`) {
			t.Errorf("readiness with an intact log: %d %s", reply.Code, reply.Body)
		}
		l.exec("UPDATE event_seals SET mac = hash WHERE seq = ?", l.last)
		l.recordNumber("after")
		l.sealOnce(t.Context())
		l.sealOnce(t.Context())
		if n := strings.Count(lines.String(), "the audit log was changed"); n != 1 || !strings.Contains(lines.String(), "postern audit reanchor") {
			t.Errorf("%d messages in %s, expected one", n, lines.String())
		}
		if reply := l.exchange(http.MethodGet, "/health/readiness", ""); reply.Code != http.StatusOK || !strings.Contains(reply.Body.String(), `{"serviceName":"audit","status":"DOWN"}`) {
			t.Errorf("readiness with a broken log: %d %s", reply.Code, reply.Body)
		}
		if found := l.eventsOf("audit.broken"); len(found) != 1 {
			t.Errorf("recorded %+v, expected one event", found)
		}
		if l.admin() == "" {
			t.Error("the administrator cannot sign in")
		}
		l.sweepOnce(t.Context(), time.Now().AddDate(0, 0, 9))
		if len(l.eventsOf("test.done")) != 6 || strings.Contains(lines.String(), "cannot remove") {
			t.Errorf("events of a broken log were removed, or logged %s", lines.String())
		}
		if _, said := runProgram(t, environ, "doctor"); !strings.Contains(said, "FAIL  audit log") {
			t.Errorf("doctor: %s", said)
		}
		if code, said := runProgram(t, environ, "audit", "verify"); code != exitFindings {
			t.Errorf("audit verify: %d %s", code, said)
		}
		l.repair(environ)
		if !strings.Contains(lines.String(), "the audit log goes on") {
			t.Errorf("logged %s, expected that the log goes on", lines.String())
		}
	})
}

// repair repairs the log, and checks that it is sealed again.
func (l forgedLog) repair(environ []string) {
	l.t.Helper()
	if code, said := runProgram(l.t, environ, "audit", "reanchor", "--note", "a test"); code != exitFine || !strings.Contains(said, "1 faults") {
		l.t.Errorf("audit reanchor: %d %s", code, said)
	}
	l.sealOnce(l.t.Context())
	if found := l.eventsOf("audit.anchored"); len(found) != 1 || found[0].Detail["note"] != "a test" || found[0].Detail["reason"] != "repaired" {
		l.t.Errorf("recorded %+v, expected the anchor", found)
	}
	if code, said := runProgram(l.t, environ, "audit", "verify"); code != exitFine || !strings.Contains(said, "1 seals have faults that were acknowledged") {
		l.t.Errorf("audit verify after the repair: %d %s", code, said)
	}
	if code, said := runProgram(l.t, environ, "audit", "reanchor", "--note", "again"); code != exitFine || !strings.Contains(said, "nothing was changed") {
		l.t.Errorf("audit reanchor of an intact log: %d %s", code, said)
	}
}

// TestShortenedAuditLog removes the newest events while no server runs. What a server has left outside the
// database shows it to the next server and to the command.
func TestShortenedAuditLog(t *testing.T) {
	for name, remember := range map[string]func(l forgedLog, file string){
		"in the data folder": func(l forgedLog, _ string) { l.sealOnce(l.t.Context()) },
		"in the file of the sink": func(l forgedLog, file string) {
			if err := l.forward(l.t.Context(), l.eventSinks()[0], time.Now()); err != nil {
				l.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			onDatabases(t, func(t *testing.T, environ ...string) {
				file := filepath.Join(t.TempDir(), "events.jsonl")
				l, environ := newForgedLog(t, append(environ, "POSTERN_AUDIT_FILE="+file)...)
				remember(l, file)
				verifyIntact(t, environ)
				l.removeFrom(l.first + 3)
				l.recordNumber("after")
				next := newTestAppIn(t, environ)
				if err := next.rememberForwarded(); err != nil {
					t.Fatal(err)
				}
				next.sealOnce(t.Context())
				if next.audit.check(t.Context()) == nil {
					t.Error("a server that starts does not notice that the newest events are missing")
				}
				if code, said := runProgram(t, environ, "audit", "verify"); code != exitFindings || !strings.Contains(said, "before the expected") {
					t.Errorf("audit verify: %d %s", code, said)
				}
				if _, err := os.Stat(file); err == nil && !isBroken(next.forward(t.Context(), next.eventSinks()[0], time.Now())) {
					t.Error("events were forwarded from a log that lacks what the file has")
				}
			})
		})
	}
}
