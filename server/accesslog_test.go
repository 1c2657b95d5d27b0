package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

func TestTraceIDs(t *testing.T) {
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	tests := []struct {
		parent   string
		honoured bool
	}{
		{"00-" + id + "-" + span + "-01", true},
		{"00-" + id + "-" + span + "-00", true},
		{"cc-" + id + "-" + span + "-01-what-the-future-holds", true},
		{"cc-" + id + "-" + span + "-01", true},
		{"", false},
		{"00-" + id, false},
		{"00-" + id + "-" + span + "-01-more", false},
		{"cc-" + id + "-" + span + "-01.more", false},
		{"ff-" + id + "-" + span + "-01", false},
		{"00-" + strings.ToUpper(id) + "-" + span + "-01", false},
		{"00-" + strings.Repeat("0", 32) + "-" + span + "-01", false},
		{"00-" + id + "-" + strings.Repeat("0", 16) + "-01", false},
		{"00-" + id[:31] + "g-" + span + "-01", false},
		{"0g-" + id + "-" + span + "-01", false},
		{"00_" + id + "_" + span + "_01", false},
		{"00-" + id + "-" + span + "-0x", false},
	}
	w := newPasskeyFixture(t, trustPeer)
	for _, tt := range tests {
		rec := w.do("GET", "/health/liveness", "", "Traceparent: "+tt.parent)
		got := rec.Header().Get("X-Trace-Id")
		if len(got) != 32 || strings.Trim(got, "0123456789abcdef") != "" || (got == id) != tt.honoured {
			t.Errorf("%q: trace id %q, honoured should be %v", tt.parent, got, tt.honoured)
		}
	}
}

// trustPeer has the server trust the peer of the requests of httptest as a proxy.
func trustPeer(o *server.Options) {
	o.Proxies.Trusted = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
}

// The trace id of an untrusted sender is not that of the request: it could be that of the request of
// another user.
func TestTraceIDOfUntrustedSender(t *testing.T) {
	const id = "0af7651916cd43dd8448eb211c80319c"
	rec := newPasskeyFixture(t).do("GET", "/health/liveness", "", "Traceparent: 00-"+id+"-b7ad6b7169203331-01")
	if got := rec.Header().Get("X-Trace-Id"); len(got) != 32 || got == id {
		t.Errorf("trace id %q", got)
	}
}

func TestAccessLogContainsNoSecrets(t *testing.T) {
	w := newPasskeyFixture(t)
	r := httptest.NewRequest("POST", "/auth/passkey/finish?token=hunter2-query", strings.NewReader(`{"sessionToken":"hunter2-body"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer hunter2-token")
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	r.RemoteAddr = "[2001:db8::7]:4711"
	rec := record(w, r)
	w.do("GET", "/hunter2-path", "")
	log := w.log.String()
	for _, secret := range []string{"hunter2", "198.51.100.7", "2001:db8::7"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log reveals %q: %s", secret, log)
		}
	}
	var line map[string]any
	datatest.Unmarshal(t, []byte(strings.SplitN(log, "\n", 2)[0]), &line)
	delete(line, "time")
	if took, ok := line["duration"].(float64); !ok || took <= 0 {
		t.Errorf("duration %v", line["duration"])
	}
	delete(line, "duration")
	want := map[string]any{
		"level": "INFO", "msg": "request", "method": "POST", "route": "/auth/passkey/finish", "status": 400.0, "code": schemas.CodeInvalidRequest,
		"bytes": float64(rec.Body.Len()), "traceId": rec.Header().Get("X-Trace-Id"),
	}
	if fmt.Sprint(line) != fmt.Sprint(want) {
		t.Errorf("logged %v, want %v", line, want)
	}
}

func TestHeaders(t *testing.T) {
	pages := map[string]http.Handler{"/try/": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
	})}
	for base, hsts := range map[string]bool{
		"https://id.example.com": true, "https://ID.Example.com:8443": true, "http://id.example.com": false,
		"https://localhost:8090": false, "https://app.localhost": false, "https://127.0.0.1:8090": false, "https://[::1]:8090": false,
	} {
		w := newPasskeyFixture(t, func(o *server.Options) { o.PublicURL, o.Pages = base, pages })
		for _, path := range []string{"/flow/meta?id=app", "/health/liveness", "/nowhere", "/try/x"} {
			h := w.do("GET", path, "").Header()
			if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || (h.Get("Strict-Transport-Security") != "") != hsts {
				t.Errorf("%s%s: %v", base, path, h)
			}
			caching := "no-store"
			if path == "/flow/meta?id=app" { // which is public
				caching = "no-cache"
			}
			api := h.Get("Cache-Control") == caching && strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'")
			if page := path == "/try/x"; page == api || page && h.Get("Content-Security-Policy") != "default-src 'self'" {
				t.Errorf("%s%s: %v", base, path, h)
			}
		}
	}
}

func TestPages(t *testing.T) {
	page := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(name)) })
	}
	w := newPasskeyFixture(t, func(o *server.Options) {
		o.Pages = map[string]http.Handler{"/try": page("try"), "/try/": page("below"), "/try/more/": page("more"), "/flow/": page("shadow"), "/": page("root")}
	})
	for path, want := range map[string]string{
		"/try": "try", "/try/": "below", "/try/x": "below", "/try/more/x": "more", "/flow/x": "shadow", "/flow/meta?id=app": "{", "/tryst": "{", "/": "root",
	} {
		if got := w.do("GET", path, "").Body.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %.40q, want %q", path, got, want)
		}
	}
	if log := w.log.String(); !strings.Contains(log, `"route":"/try/more/"`) || strings.Contains(log, "/try/more/x") {
		t.Error("a page's route is not logged as its key:", log)
	}
}

// A page that has begun its reply and panics must not look as if it were whole.
func TestPanicInTheMiddle(t *testing.T) {
	w := newPasskeyFixture(t, func(o *server.Options) {
		o.Pages = map[string]http.Handler{"/half": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("half of it"))
			panic("no more")
		})}
	})
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("recovered %v, want ErrAbortHandler", v)
		}
		if log := w.log.String(); !strings.Contains(log, "no more") || !strings.Contains(log, `"msg":"request"`) {
			t.Error("log:", log)
		}
	}()
	w.do("GET", "/half", "")
}

// A page that breaks off on purpose is left alone.
func TestAbortedPage(t *testing.T) {
	w := newPasskeyFixture(t, func(o *server.Options) {
		o.Pages = map[string]http.Handler{"/off": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })}
	})
	defer func() {
		if v := recover(); v != http.ErrAbortHandler || strings.Contains(w.log.String(), "request failed") {
			t.Errorf("recovered %v, log %s", v, w.log)
		}
	}()
	w.do("GET", "/off", "")
}

func TestInformationalStatusIsNotTheReplys(t *testing.T) {
	w := newPasskeyFixture(t, func(o *server.Options) {
		o.Pages = map[string]http.Handler{"/hints": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusAccepted)
		})}
	})
	w.do("GET", "/hints", "")
	if !strings.Contains(w.log.String(), `"status":202`) {
		t.Error(w.log)
	}
}

// A client that disconnects is not a failure.
func TestCanceledRequestsAreNoFailures(t *testing.T) {
	w := newPasskeyFixture(t)
	w.store.down = fmt.Errorf("read: %w", context.Canceled)
	fails(t, w.do("GET", "/flow/meta?id=app", ""), 500, schemas.CodeInternal)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	fails(t, record(w, httptest.NewRequest("GET", "/flow/meta?id=app", nil).WithContext(ctx)), 503, "request_cancelled")
	if n := strings.Count(w.log.String(), "request failed"); n != 1 {
		t.Errorf("%d failures were logged, want 1", n)
	}
}

func TestHealth(t *testing.T) {
	var broken error
	check := func(name string) server.Check {
		return server.Check{Name: name, Run: func(context.Context) error {
			if name == "keys" {
				return broken
			}
			return nil
		}}
	}
	w := newPasskeyFixture(t, func(o *server.Options) { o.Checks = []server.Check{check("store"), check("keys")} })
	expect := func(path string, status int, body string) {
		t.Helper()
		if rec := w.do("GET", path, ""); rec.Code != status || strings.TrimSpace(rec.Body.String()) != body {
			t.Errorf("%s: %d %s, want %d %s", path, rec.Code, rec.Body, status, body)
		}
	}
	expect("/health/liveness", 200, `{"status":"UP"}`)
	expect("/health/readiness", 200, `{"status":"UP","serviceStatus":[{"serviceName":"store","status":"UP"},{"serviceName":"keys","status":"UP"}]}`)
	broken = errors.New("the vault is sealed")
	expect("/health/readiness", 503, `{"status":"DOWN","serviceStatus":[{"serviceName":"store","status":"UP"},{"serviceName":"keys","status":"DOWN"}]}`)
	expect("/health/liveness", 200, `{"status":"UP"}`)
	if !strings.Contains(w.log.String(), "the vault is sealed") {
		t.Error("the log does not say why")
	}
}
