package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// A database that accepts no writes, or does not answer although its connections stay open, makes the server not
// ready. Requests are answered with 503 and Retry-After, and succeed as soon as the database works again.
func TestUnusableDatabase(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (dsn string, whileUnusable func(func())){
		// Transactions override this setting, so the requests here write by a single statement.
		// A standby rejects both with the same error.
		"read-only": func(t *testing.T) (string, func(func())) {
			dsn, alter, disconnect := storetest.PostgresRole(t)
			return dsn, func(check func()) {
				alter("SET default_transaction_read_only = on")
				disconnect()
				check()
				alter("RESET default_transaction_read_only")
			}
		},
		"silent": func(t *testing.T) (string, func(func())) {
			server := storetest.StartReplicas(t)
			return server.DSN(), server.Freeze
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn, whileUnusable := open(t)
			w := newTestApp(t, "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+dsn, "POSTERN_DATABASE_POOL=4")
			w.answers("before", http.StatusOK)
			whileUnusable(func() { w.answers("meanwhile", http.StatusServiceUnavailable) })
			w.answers("afterwards", http.StatusOK)
		})
	}
}

// answers checks the status of the readiness and of requests that read and write.
func (w *testApp) answers(when string, status int) {
	w.t.Helper()
	start, _ := json.Marshal(map[string]string{"applicationId": bootstrap.TryID, "flowType": "AUTHENTICATION"})
	for name, send := range map[string]func() *httptest.ResponseRecorder{
		"readiness": func() *httptest.ResponseRecorder { return w.exchange("GET", "/health/readiness", "") },
		"flow start": func() *httptest.ResponseRecorder {
			return w.exchange("POST", "/flow/execute", string(start), jsonBody)
		},
		"passkey start": func() *httptest.ResponseRecorder {
			return w.exchange("POST", "/auth/passkey/start", `{"relyingPartyId":"localhost"}`, jsonBody)
		},
	} {
		reply := send()
		for reply.Code != status { // a check counts for a moment, and so does the silence of a database
			time.Sleep(10 * time.Millisecond)
			reply = send()
		}
		if status == http.StatusServiceUnavailable && name != "readiness" && reply.Header().Get("Retry-After") == "" {
			w.t.Errorf("%s: %s does not say when to try again: %v", when, name, reply.Header())
		}
	}
}

// A server that starts before its database waits for it.
func TestWaitForDatabase(t *testing.T) {
	dsn, alter, _ := storetest.PostgresRole(t)
	alter("CONNECTION LIMIT 0")
	log := new(logtest.Buffer)
	cfg := loadConfig(t, []string{"POSTERN_DATA_DIR=" + t.TempDir(), "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN=" + dsn})
	opened := make(chan error, 1)
	go func() {
		h, err := waitForApp(context.Background(), cfg, slog.New(slog.NewTextHandler(log, nil)))
		if err == nil {
			h.close()
		}
		opened <- err
	}()
	for !strings.Contains(log.String(), "waiting for the database") {
		select {
		case err := <-opened:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	alter("CONNECTION LIMIT -1")
	if err := <-opened; err != nil {
		t.Errorf("the database is there, and: %v", err)
	}

	cfg.Database.DSN, cfg.Database.StartupWait = "postgres://u:secret-word@127.0.0.1:1/p?sslmode=disable", time.Nanosecond
	if _, err := waitForApp(t.Context(), cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "cannot be reached") || strings.Contains(err.Error(), "secret-word") {
		t.Errorf("a database that never comes: %v", err)
	}
}

// A server that drains is not ready and serves requests.
func TestDrain(t *testing.T) {
	w := newTestApp(t, "POSTERN_SERVER_DRAIN=1h")
	ctx, stop := context.WithCancel(t.Context())
	serving := w.drain(ctx)
	if reply := w.exchange("GET", "/health/readiness", ""); reply.Code != http.StatusOK {
		t.Fatalf("before: %d %s", reply.Code, reply.Body)
	}
	stop()
	for !w.draining.Load() {
		time.Sleep(time.Millisecond)
	}
	if reply := w.exchange("GET", "/health/readiness", ""); reply.Code != http.StatusServiceUnavailable {
		t.Errorf("readiness while draining: %d %s", reply.Code, reply.Body)
	}
	if reply := w.exchange("GET", "/health/liveness", ""); reply.Code != http.StatusOK {
		t.Errorf("liveness while draining: %d %s", reply.Code, reply.Body)
	}
	if s := w.start(schemas.Authentication); s.FlowStatus != schemas.Incomplete {
		t.Errorf("a flow while draining: %+v", s)
	}
	if serving.Err() != nil {
		t.Error("the server stops before the drain period is over")
	}

	w.cfg.Server.Drain = time.Millisecond
	ctx, stop = context.WithCancel(t.Context())
	serving = w.drain(ctx)
	stop()
	<-serving.Done()
}

func TestConfigurationWarnings(t *testing.T) {
	for name, test := range map[string]struct {
		environ []string
		want    string
	}{
		"self-signed at a public name": {[]string{"POSTERN_SERVER_HOSTNAME=login.example.org"}, "self-signed"},
		"behind a proxy":               {[]string{"POSTERN_SERVER_PUBLIC_URL=https://login.example.org", "POSTERN_SERVER_HTTP_ONLY=true"}, ""},
		"on localhost":                 {nil, ""},
		"the pages at the same port":   {[]string{"POSTERN_GATE_CLIENT_PORT=8090"}, "gate_client.port"},
		"the pages at another":         {[]string{"POSTERN_GATE_CLIENT_PORT=8091"}, ""},
	} {
		cfg := loadConfig(t, test.environ)
		var log bytes.Buffer
		warnOfConfiguration(slog.New(slog.NewTextHandler(&log, nil)), cfg)
		if got := log.String(); (got != "") != (test.want != "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: logged %q, want %q", name, got, test.want)
		}
	}
}

// More instances than throttle.instances are reported once, and not during a rolling
// update.
func TestTooManyInstances(t *testing.T) {
	dsn := storetest.Postgres(t)
	environ := []string{"POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN=" + dsn,
		"POSTERN_KEY_ENCRYPTION_KEY=" + base64.StdEncoding.EncodeToString(make([]byte, 32))}
	first, second := newTestApp(t, environ...), newTestApp(t, environ...)
	log := new(logtest.Buffer)
	first.app.log = slog.New(slog.NewTextHandler(log, nil))
	for _, w := range []*testApp{first, second} {
		if err := w.store.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	first.warnOfInstances(t.Context(), now.Add(-time.Minute), now)
	if log.String() != "" {
		t.Errorf("during an update: %s", log)
	}
	for range 2 {
		first.warnOfInstances(t.Context(), now.Add(-time.Hour), now)
	}
	if strings.Count(log.String(), "throttle.instances") != 2 { // in the message, and as an attribute
		t.Errorf("logged %q", log)
	}
}
