package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// record records an event and seals it.
func (w *testApp) record(action string) {
	w.t.Helper()
	e := schemas.Event{At: time.Now(), Action: action}
	w.apply(schemas.RecordEvent{Event: e})
	if _, err := w.chain.Seal(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// readLines returns the seals and actions of a file of JSON lines; it skips lines that are no JSON.
func readLines(t *testing.T, path string) (lines []store.SealedEvent) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for scan := bufio.NewScanner(f); scan.Scan(); {
		var e store.SealedEvent
		if json.Unmarshal(scan.Bytes(), &e) == nil {
			lines = append(lines, e)
		}
	}
	return lines
}

// TestSinksReceiveEachEvent forwards to a file with failures, an interrupted line and a restart:
// each event arrives at least once, in order, with its seal.
func TestSinksReceiveEachEvent(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		path := filepath.Join(t.TempDir(), "events.jsonl")
		one, two := twoInstances(t, append(environ, "POSTERN_AUDIT_FILE="+path)...)
		sink := one.eventSinks()[0]
		one.record("test.first")
		forward := func(w *testApp, s eventSink) error { return w.forward(t.Context(), s, time.Now()) }
		if err := forward(one, sink); err != nil {
			t.Fatal(err)
		}
		first := readLines(t, path)
		if n := len(first); n == 0 || first[n-1].Action != "test.first" || first[n-1].Seq != int64(n) || len(first[n-1].Hash) != 64 {
			t.Fatalf("got %+v, expected all events up to test.first", first)
		}
		// A failed batch is sent again. Another instance waits for its turn.
		one.record("test.second")
		broken := eventSink{name: sink.name, send: func(context.Context, []store.SealedEvent) error { return errors.New("full") }}
		if forward(one, broken) == nil {
			t.Error("a failure was ignored")
		}
		if err := forward(two, two.eventSinks()[0]); err != nil || len(readLines(t, path)) != len(first) {
			t.Errorf("two instances forward at once: %v", err)
		}
		// The first instance stops in the middle of a line, and the other one continues.
		datatest.WriteFile(t, path, `{"seq":1,"ha`)
		if err := one.store.ReleaseSink(t.Context(), sink.name, time.Now()); err != nil {
			t.Fatal(err)
		}
		one.record("test.third")
		for range 2 {
			if err := forward(two, two.eventSinks()[0]); err != nil {
				t.Fatal(err)
			}
		}
		rest := readLines(t, path)
		if len(rest) != 2 || rest[0].Action != "test.second" || rest[1].Action != "test.third" || rest[1].Seq != first[len(first)-1].Seq+2 {
			t.Errorf("got %+v, expected the events that were missing", rest)
		}
	})
}

// TestSinkIsChecked starts with sinks that can never receive an event.
func TestSinkIsChecked(t *testing.T) {
	for _, variable := range []string{"POSTERN_AUDIT_TARGET=siem", "POSTERN_AUDIT_FILE=" + filepath.Join(t.TempDir(), "missing", "events")} {
		if err := newTestApp(t, variable).checkSinks(); err == nil {
			t.Errorf("%s was accepted", variable)
		}
	}
}

// TestSinkTarget sends events to a service that is unavailable first.
func TestSinkTarget(t *testing.T) {
	var ready atomic.Bool
	var got []store.SealedEvent
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var body struct{ AuditEvents []store.SealedEvent }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/in/audit-events" || r.Method != http.MethodPost {
			t.Errorf("got %s %s, %v", r.Method, r.URL, err)
		}
		got = append(got, body.AuditEvents...)
	}))
	defer service.Close()
	w := newTestApp(t, "POSTERN_OUTBOUND_ALLOW=127.0.0.0/8", "POSTERN_AUDIT_TARGET=siem", `POSTERN_HTTP_TARGETS={"siem":{"url":"`+service.URL+`/in"}}`)
	if err := w.checkSinks(); err != nil {
		t.Fatal(err)
	}
	for range 2*sinkBatch + 10 {
		e := schemas.Event{At: time.Now(), Action: "test.done"}
		w.apply(schemas.RecordEvent{Event: e})
	}
	w.record("test.last")
	sink := w.eventSinks()[0]
	if err := w.forward(t.Context(), sink, time.Now()); err == nil || len(got) > 0 {
		t.Errorf("got %v and %d events, expected an error", err, len(got))
	}
	ready.Store(true)
	if err := w.forward(t.Context(), sink, time.Now()); err != nil {
		t.Fatal(err)
	}
	for i, e := range got {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has the number %d", i+1, e.Seq)
		}
	}
	if n := len(got); n < 2*sinkBatch+11 || got[n-1].Action != "test.last" {
		t.Errorf("got %d events, expected all", n)
	}
}
