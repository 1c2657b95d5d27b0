package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/schemas"
)

// tail is a running `postern audit tail`.
type tail struct {
	out  io.Reader
	logs *logtest.Buffer
	stop context.CancelFunc
	exit chan int
}

func (w *testApp) startTail(args ...string) *tail {
	w.t.Helper()
	server := httptest.NewServer(w.http)
	w.t.Cleanup(server.Close)
	ctx, stop := context.WithCancel(w.t.Context())
	out, to := io.Pipe()
	c := &tail{out: out, logs: new(logtest.Buffer), stop: stop, exit: make(chan int, 1)}
	args = append([]string{"audit", "tail", "--server", server.URL, "--token", w.admin(), "--interval", "20ms"}, args...)
	go func() {
		code := program{args: args, stdout: to, stderr: c.logs}.run(ctx)
		to.Close()
		c.exit <- code
	}()
	return c
}

// createGroupsUntil creates groups until done is closed, and returns the ids of their events in the order
// of creation.
func (w *testApp) createGroupsUntil(done <-chan struct{}, prefix string) (events []string) {
	for i := 0; ; i++ {
		select {
		case <-done:
			for _, e := range w.eventsOf("group.created") {
				events = append([]string{e.ID}, events...)
			}
			return events
		case <-time.After(10 * time.Millisecond):
			w.send(201, "/groups", w.admin(), fmt.Sprintf(`{"name": "%s %d", "ouId": "default"}`, prefix, i), new(struct{}))
		}
	}
}

// `audit tail` prints each new event once, in the order of the events, and ends without an error when
// it is interrupted. Earlier events are not printed.
func TestAuditTail(t *testing.T) {
	w := newTestApp(t)
	w.send(201, "/groups", w.admin(), `{"name": "early", "ouId": "default"}`, new(struct{}))
	c := w.startTail("--action", "group.created", "--json")
	const enough = 5
	var printed []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for events := json.NewDecoder(c.out); len(printed) < enough; {
			var e schemas.Event
			if err := events.Decode(&e); err != nil {
				t.Errorf("after %v: %v, %s", printed, err, c.logs)
				return
			}
			printed = append(printed, e.ID)
		}
	}()
	created := w.createGroupsUntil(done, "json")
	go func() { _, _ = io.Copy(io.Discard, c.out) }()
	c.stop()
	if code := <-c.exit; code != exitFine {
		t.Errorf("exit code %d: %s", code, c.logs)
	}
	if len(printed) == 0 || printed[0] == created[0] {
		t.Fatalf("printed %v of %v", printed, created)
	}
	if all, part := strings.Join(created, " "), strings.Join(printed, " "); !strings.Contains(all, part) {
		t.Errorf("printed %s, which is not a part of %s", part, all)
	}
}

// The text of an event is one line.
func TestAuditTailText(t *testing.T) {
	w := newTestApp(t)
	c := w.startTail("--action", "group.created")
	var line string
	done := make(chan struct{})
	go func() {
		defer close(done)
		line, _ = bufio.NewReader(c.out).ReadString('\n')
	}()
	w.createGroupsUntil(done, "text")
	go func() { _, _ = io.Copy(io.Discard, c.out) }()
	c.stop()
	<-c.exit
	if !strings.Contains(line, "  group.created  user= actor=") {
		t.Errorf("printed %q, %s", line, c.logs)
	}
}

// A token that expires does not end `audit tail`: it connects again, and so gets a new one. A token that the
// server does not accept at once is an error.
func TestAuditTailConnectsAgain(t *testing.T) {
	const event = `{"auditEvents": [{"id": "%d", "action": "group.created"}]}`
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		if requests == 2 || requests >= 4 {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"code": "unauthenticated", "description": {"defaultValue": "the token has expired"}}`)
			return
		}
		_, _ = fmt.Fprintf(w, event, requests)
	}))
	defer server.Close()
	var out, logs strings.Builder
	code := program{args: []string{"audit", "tail", "--server", server.URL, "--token", "x", "--interval", "1ms"}, stdout: &out, stderr: &logs}.run(t.Context())
	if code != exitUsage || requests != 5 || strings.Count(out.String(), "group.created") != 2 || !strings.Contains(logs.String(), "has expired") {
		t.Errorf("exit code %d after %d requests: %s%s", code, requests, out.String(), logs.String())
	}
}
