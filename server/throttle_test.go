package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/server"
)

// throttled is a world with small limits, behind a proxy at 10.0.0.1.
func throttled(t *testing.T, b throttle.Budgets) *passkeyFixture {
	return newPasskeyFixture(t, func(o *server.Options) {
		o.Throttle = throttle.New(throttle.Options{Budgets: b, Now: o.Now})
		o.Proxies = throttle.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}, Field: throttle.XForwardedFor}
	})
}

// from posts JSON over a connection from an address.
func (w *passkeyFixture) from(remote, path, body string, forwarded ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = remote + ":4711"
	r.Header["X-Forwarded-For"] = forwarded
	return record(w, r)
}

func TestSignInsAreLimitedByNetwork(t *testing.T) {
	for _, path := range []string{"/auth/passkey/start", "/auth/passkey/finish", "/flow/execute"} {
		w := throttled(t, throttle.Budgets{SignIns: throttle.Budget{Burst: 2, Every: 90 * time.Second}})
		for range 2 { // whatever is wrong with a request, it is one
			if rec := w.from("203.0.113.7", path, "{"); rec.Code != http.StatusBadRequest {
				t.Fatalf("%s: %d", path, rec.Code)
			}
		}
		rec := w.from("203.0.113.7", path, "{")
		fails(t, rec, http.StatusTooManyRequests, throttle.CodeTooManyRequests)
		if got := rec.Header().Get("Retry-After"); got != "90" {
			t.Errorf("%s: Retry-After %q, want 90", path, got)
		}
		for name, again := range map[string]*httptest.ResponseRecorder{
			"with a field of its own": w.from("203.0.113.7", path, "{", "198.51.100.1"),
			"through the proxy":       w.from("10.0.0.1", path, "{", "198.51.100.1, 203.0.113.7"),
		} {
			if again.Code != http.StatusTooManyRequests {
				t.Errorf("%s, %s: %d", path, name, again.Code)
			}
		}
		if rec := w.from("10.0.0.1", path, "{", "203.0.113.7, 198.51.100.1"); rec.Code != http.StatusBadRequest {
			t.Errorf("%s: another client of the proxy gets %d", path, rec.Code)
		}
		w.pass(90 * time.Second)
		if rec := w.from("203.0.113.7", path, "{"); rec.Code != http.StatusBadRequest {
			t.Errorf("%s: %d when it was to try again", path, rec.Code)
		}
	}
}

func TestRunsAreLimited(t *testing.T) {
	w := throttled(t, throttle.Budgets{
		RunStarts: throttle.Budget{Burst: 1, Every: time.Minute}, RunSteps: throttle.Budget{Burst: 2, Every: time.Minute},
	})
	const start = `{"applicationId": "nobody", "flowType": "AUTHENTICATION"}`
	if rec := w.from("203.0.113.7", "/flow/execute", start); rec.Code == http.StatusTooManyRequests {
		t.Fatal("the first run is refused")
	}
	fails(t, w.from("203.0.113.7", "/flow/execute", start), http.StatusTooManyRequests, throttle.CodeTooManyRequests)
	for i, want := range []int{http.StatusBadRequest, http.StatusBadRequest, http.StatusTooManyRequests} {
		if rec := w.from("203.0.113.8", "/flow/execute", `{"executionId": "one"}`); rec.Code != want {
			t.Errorf("request %d to a run: %d, want %d", i, rec.Code, want)
		}
	}
	if rec := w.from("203.0.113.8", "/flow/execute", `{"executionId": "two"}`); rec.Code != http.StatusBadRequest {
		t.Errorf("another run: %d", rec.Code)
	}
}

// With an unknown proxy all clients count as one: the log reports that once, without an address.
func TestUnknownProxyIsReported(t *testing.T) {
	w := newPasskeyFixture(t, func(o *server.Options) {
		o.Throttle = throttle.New(throttle.Options{Now: o.Now})
		o.Proxies.Field = throttle.XForwardedFor
	})
	for range 3 {
		w.from("10.0.0.1", "/flow/execute", "{}", "198.51.100.1")
	}
	if n := strings.Count(w.log.String(), "server.trusted_proxies"); n != 1 {
		t.Errorf("logged %d times, want once", n)
	}
	if strings.Contains(w.log.String(), "198.51.100.1") {
		t.Error("the log has a client's address")
	}
	quiet := throttled(t, throttle.Budgets{})
	quiet.from("10.0.0.1", "/flow/execute", "{}", "198.51.100.1")
	quiet.from("203.0.113.7", "/flow/execute", "{}", "198.51.100.1")
	if strings.Contains(quiet.log.String(), "server.trusted_proxies") {
		t.Error("logged although the proxy is trusted, or there is none")
	}
}
