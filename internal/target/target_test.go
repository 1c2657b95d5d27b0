package target_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/internal/target"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// key is a Standard Webhooks secret without the prefix whsec_, as the service stores it.
const key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"

// got is a request as the service receives it.
type got struct {
	*http.Request
	body []byte
}

// service is a service on this machine.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	came []got
}

func serve(t *testing.T, answer http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.came = append(s.came, got{r, body})
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) requests() []got {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.came
}

func says(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, body)
	}
}

// fixture is targets and their log.
type fixture struct {
	*target.Targets
	log bytes.Buffer
}

// newFixture configures the service as the target crm, with a base path.
func newFixture(t *testing.T, url string, rules outbound.Rules) *fixture {
	t.Helper()
	return newFixtureWithShortTimeout(t, url, rules, time.Minute)
}

func newFixtureWithShortTimeout(t *testing.T, url string, rules outbound.Rules, timeout time.Duration) *fixture {
	t.Helper()
	box, err := token.NewCipher(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{}
	w.Targets, err = target.New(target.Options{
		Services: map[string]target.Service{"crm": {URL: url + "/hooks", Key: secret, Authorization: "Bearer of tidings", Timeout: timeout}},
		Requests: outbound.New(rules), Sealer: delivery.Sealer{Box: box}, Log: slog.New(slog.NewTextHandler(&w.log, nil)), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func loopback() outbound.Rules {
	return outbound.Rules{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
}

func question() schemas.Call {
	return schemas.Call{ID: "0190a0a0-0000-7000-8000-000000000001", Target: "crm", Method: http.MethodPost, Path: "/risk?level=high", Body: []byte(`{"email":"ada@example.com"}`)}
}

// verify implements the receiver by the text of Standard Webhooks, without this project's
// code.
func verify(t *testing.T, r got) {
	t.Helper()
	secret, _ := base64.StdEncoding.DecodeString(key)
	id, at := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, r.body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if sent := r.Header.Get("webhook-signature"); !hmac.Equal([]byte(sent), []byte(want)) {
		t.Errorf("the signature is %q, expected %q", sent, want)
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age < -time.Minute || age > 5*time.Minute {
		t.Errorf("the time is %q, which is %v ago", at, age)
	}
}

func TestAsk(t *testing.T) {
	s := serve(t, says("application/json; charset=utf-8", `{"score":7}`))
	w := newFixture(t, s.URL, loopback())
	reply, err := w.Call(t.Context(), question())
	if err != nil || reply.Status != 200 || string(reply.JSON) != `{"score":7}` {
		t.Fatalf("got %+v and %v", reply, err)
	}
	r := s.requests()[0]
	verify(t, r)
	for field, want := range map[string]string{
		"Idempotency-Key": question().ID, "Webhook-Id": question().ID, "Authorization": "Bearer of tidings",
		"Content-Type": "application/json", "Accept": "application/json",
	} {
		if r.Header.Get(field) != want {
			t.Errorf("%s is %q, expected %q", field, r.Header.Get(field), want)
		}
	}
	if r.Method != "POST" || r.RequestURI != "/hooks/risk?level=high" || string(r.body) != string(question().Body) {
		t.Errorf("got %s %s %s", r.Method, r.RequestURI, r.body)
	}
	get := question()
	get.Method, get.Body = http.MethodGet, nil
	if _, err := w.Call(t.Context(), get); err != nil {
		t.Fatal(err)
	}
	if r := s.requests()[1]; r.Method != "GET" || len(r.body) > 0 || r.Header.Get("Content-Type") != "" {
		t.Errorf("got %s with %q", r.Method, r.body)
	} else {
		verify(t, r)
	}
}

func TestAnswers(t *testing.T) {
	const hangs, trickles = "no answer", "an answer byte by byte"
	elsewhere := serve(t, says("application/json", `{"score":0}`))
	tests := []struct {
		name   string
		answer http.HandlerFunc
		status int    // of the reply, 0 for none
		json   bool   // whether the reply is JSON
		code   string // of the error
	}{
		{"JSON of another name", says("application/problem+json", `{}`), 200, true, ""},
		{"JSON that says it is text", says("text/html", `{}`), 200, false, ""},
		{"text that says it is JSON", says("application/json", `{"score":`), 200, false, ""},
		{"two texts", says("application/json", `{} {}`), 200, false, ""},
		{"nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, 204, false, ""},
		{"a fault", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, 502, false, ""},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, 307, false, ""},
		{"ten megabytes", says("application/json", strings.Repeat(" ", 10<<20)), 0, false, outbound.CodeFailed},
		{hangs, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, false, outbound.CodeFailed},
		{trickles, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				fmt.Fprint(w, " ")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}, 0, false, outbound.CodeFailed},
		{"a broken connection", func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, 0, false, outbound.CodeFailed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			timeout := time.Minute
			if test.name == hangs || test.name == trickles {
				timeout = 200 * time.Millisecond
			}
			w := newFixtureWithShortTimeout(t, serve(t, test.answer).URL, loopback(), timeout)
			reply, err := w.Call(t.Context(), question())
			if test.code != "" && !schemas.HasCode(err, test.code) || test.code == "" && (err != nil || reply.Status != test.status || (reply.JSON != nil) != test.json) {
				t.Errorf("got %+v and %v", reply, err)
			}
			if logged := w.log.String(); (logged != "") != (err != nil) || strings.Contains(logged, "ada@") || strings.Contains(logged, "tidings") {
				t.Errorf("the log says %q", logged)
			}
		})
	}
	if n := len(elsewhere.requests()); n > 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// Package outbound decides which addresses are allowed: without configuration there are no
// private ones.
func TestInside(t *testing.T) {
	s := serve(t, says("application/json", `{}`))
	_, err := target.New(target.Options{
		Services: map[string]target.Service{"crm": {URL: s.URL}}, Requests: outbound.New(outbound.Rules{}),
	})
	if err == nil || !strings.Contains(err.Error(), "http.targets.crm.url: ") {
		t.Errorf("plain http that is not allowed: got %v", err)
	}
	for _, url := range []string{"https://127.0.0.1:" + s.URL[strings.LastIndex(s.URL, ":")+1:], "https://localhost", "https://10.0.0.1", "https://[fd00::1]"} {
		w := newFixture(t, url, outbound.Rules{})
		if reply, err := w.Call(t.Context(), question()); !schemas.HasCode(err, outbound.CodeRefused) {
			t.Errorf("%s: got %v and %v", url, reply, err)
		}
	}
	if n := len(s.requests()); n > 0 {
		t.Errorf("%d requests came", n)
	}
}

func TestTell(t *testing.T) {
	s := serve(t, says("text/plain", "thanks"))
	w := newFixture(t, s.URL, loopback())
	d, err := w.NewDelivery(question(), time.Now())
	if err != nil || d.Kind != schemas.CallDelivery || d.Target != "crm" || d.ExpiresAt.Sub(d.CreatedAt) != 72*time.Hour {
		t.Fatalf("got %+v and %v", d, err)
	}
	if strings.Contains(string(d.Body), "ada") {
		t.Error("what is queued can be read")
	}
	for range 2 {
		if err := w.Sender().Send(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.requests() {
		verify(t, r)
		if r.Header.Get("Idempotency-Key") != question().ID || string(r.body) != string(question().Body) {
			t.Errorf("got %s with %s", r.Header.Get("Idempotency-Key"), r.body)
		}
	}
	other := d
	other.ID = schemas.NewID()
	if err := w.Sender().Send(t.Context(), other); !errors.Is(err, delivery.ErrRefused) {
		t.Errorf("the body of another delivery: got %v", err)
	}
}

func TestTellAgain(t *testing.T) {
	for status, again := range map[int]bool{
		200: false, 202: false, 204: false, 301: true, 307: true, 400: false, 401: true, 404: true, 408: true, 410: false, 413: false, 422: false, 429: true, 500: true, 503: true,
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		w := newFixture(t, s.URL, loopback())
		d, err := w.NewDelivery(question(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		err = w.Sender().Send(t.Context(), d)
		if arrived := status/100 == 2; arrived != (err == nil) || !arrived && errors.Is(err, delivery.ErrRefused) == again {
			t.Errorf("%d: got %v", status, err)
		}
	}
	w := newFixture(t, "https://10.0.0.1", outbound.Rules{})
	d, err := w.NewDelivery(question(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Sender().Send(context.Background(), d); err == nil || errors.Is(err, delivery.ErrRefused) {
		t.Errorf("an address that the operator may yet allow: got %v", err)
	}
	w.Services = nil
	if err := w.Sender().Send(context.Background(), d); err == nil || errors.Is(err, delivery.ErrRefused) {
		t.Errorf("a target that the operator may yet configure: got %v", err)
	}
}
