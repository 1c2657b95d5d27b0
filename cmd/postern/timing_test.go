package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

var timingSamples = flag.Int("timing", 0, "the requests of each class that TestTiming measures; 0 compares the replies only")

// timedPair is a request that could reveal by its duration whether an account exists. Each function
// prepares the i-th request, which is then measured.
type timedPair struct {
	name           string
	known, unknown func(i int) *http.Request
	decoys         bool // the replies list passkeys, whose number differs between names in any case
	concealed      bool // the replies wait, so that all take the same time
}

// timedAccounts is a server with many users, so that no failures of an account add up.
type timedAccounts struct {
	*testApp
	users     []string // the ids of known-000 …
	mail      string   // an application with mailed codes
	recovery  string   // an application with recovery by mail
	keys      string   // an application with passkeys, also by name
	party     *party
	refresh   string // a token of another client
	withKey   string // a user with a passkey
	elsewhere *party
}

// timedUsers is how many users of each kind there are.
func timedUsers() int {
	if *timingSamples == 0 {
		return 2
	}
	return 150
}

const timedPassword = "grey lantern harbour"

func knownName(i int) string    { return fmt.Sprintf("known-%03d", i%timedUsers()) }
func bareName(i int) string     { return fmt.Sprintf("bare-%03d", i%timedUsers()) }
func disabledName(i int) string { return fmt.Sprintf("disabled-%03d", i%timedUsers()) }
func unknownName(i int) string  { return fmt.Sprintf("ghost-%03d", i%timedUsers()) }

func newTimedAccounts(t *testing.T) *timedAccounts {
	t.Helper()
	w := &timedAccounts{testApp: createUsers(t, "POSTERN_MAIL_HOST=127.0.0.1", "POSTERN_MAIL_TLS=none", "POSTERN_MAIL_FROM=Example <no-reply@example.com>")}
	for i := range timedUsers() {
		w.users = append(w.users, w.create(w.directory.Users, fmt.Sprintf(`{"type":"Person","attributes":{"username":%q,"password":%q,"email":"%s@example.org","email_verified":true}}`, knownName(i), timedPassword, knownName(i))).ID)
		w.create(w.directory.Users, fmt.Sprintf(`{"type":"Person","attributes":{"username":%q}}`, bareName(i)))
		w.create(w.directory.Users, fmt.Sprintf(`{"type":"Person","status":%q,"attributes":{"username":%q,"password":%q}}`, schemas.UserDisabled, disabledName(i), timedPassword))
	}
	admin := w.admin()
	w.mail = w.shop(admin, "email_code.yaml")
	w.recovery = w.application(admin, "Recovery", "recoveryFlowId", "forgotten-password")
	w.keys = w.application(admin, "Keys", "authFlowId", "passkey-sign-in")
	w.enrol("keyholder")
	w.withKey = w.userNamed("keyholder")
	w.party = w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"]`)
	w.elsewhere = w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"scopes":["openid","offline_access"],"grantTypes":["authorization_code","refresh_token"]`)
	got, _ := w.elsewhere.redeem(w.elsewhere.code(w.elsewhere.ask("scope", "openid offline_access")))
	w.refresh = got.Access
	return w
}

func jsonRequest(t testing.TB, path string, body any) *http.Request {
	t.Helper()
	return newRequest(http.MethodPost, path, string(datatest.Marshal(t, body)), jsonBody)
}

// inFlow is the answer to the first step of a flow, after an action of that step if there is one.
func (w *timedAccounts) inFlow(application, flowType, before string, inputs map[string]string) *http.Request {
	s := w.begin(application, flowType)
	if before != "" {
		s = w.answer(s, before, nil)
	}
	return jsonRequest(w.t, "/flow/execute", map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "continue", "inputs": inputs})
}

// wrongCode is a wrong answer to a mailed code.
func (w *timedAccounts) wrongCode(email string) *http.Request {
	s := w.answer(w.begin(w.mail, "AUTHENTICATION"), "continue", map[string]string{"email": email})
	return jsonRequest(w.t, "/flow/execute", map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "submit", "inputs": map[string]string{"otp": "000000"}})
}

// pairs are the requests that could reveal an account or a client. Sign-up is not among them: it
// reveals by design that a name is taken.
func (w *timedAccounts) pairs() []timedPair {
	typed := func(name, password string) *http.Request {
		return w.inFlow(bootstrap.ConsoleID, "AUTHENTICATION", "password", map[string]string{"username": name, "password": password})
	}
	wrong := func(name string) *http.Request { return typed(name, "Tarn-ferry-slate-41") }
	named := func(name string) *http.Request {
		return w.inFlow(w.keys, "AUTHENTICATION", "username", map[string]string{"username": name})
	}
	mailed := func(name string) *http.Request {
		return w.inFlow(w.mail, "AUTHENTICATION", "", map[string]string{"email": name + "@example.org"})
	}
	recovered := func(name string) *http.Request {
		return w.inFlow(w.recovery, "RECOVERY", "", map[string]string{"username": name})
	}
	start := func(user string) *http.Request {
		return jsonRequest(w.t, "/auth/passkey/start", map[string]string{"userId": user})
	}
	unknownID := func(int) *http.Request { return start(schemas.NewID()) }
	client := func(id, secret string) *http.Request {
		return clientRequest("/oauth2/token", id, secret, url.Values{"grant_type": {"client_credentials"}})
	}
	introspect := func(raw string) *http.Request {
		return clientRequest("/oauth2/introspect", w.party.id, w.party.secret, url.Values{"token": {raw}})
	}
	absent := strings.Repeat("Z", len(w.party.id))
	return []timedPair{
		{"a wrong password", func(i int) *http.Request { return wrong(knownName(i)) }, func(i int) *http.Request { return wrong(unknownName(i)) }, false, false},
		{"a password of a user without one", func(i int) *http.Request { return wrong(bareName(i)) }, func(i int) *http.Request { return wrong(unknownName(i)) }, false, false},
		{"the password of a disabled user", func(i int) *http.Request { return typed(disabledName(i), timedPassword) }, func(i int) *http.Request { return wrong(unknownName(i)) }, false, false},
		{"a mailed code is requested", func(i int) *http.Request { return mailed(knownName(i)) }, func(i int) *http.Request { return mailed(unknownName(i)) }, false, true},
		{"a wrong mailed code", func(i int) *http.Request { return w.wrongCode(knownName(i) + "@example.org") }, func(i int) *http.Request { return w.wrongCode(unknownName(i) + "@example.org") }, false, true},
		{"recovery begins", func(i int) *http.Request { return recovered(knownName(i)) }, func(i int) *http.Request { return recovered(unknownName(i)) }, false, true},
		{"a passkey sign-in of a user without passkeys", func(i int) *http.Request { return start(w.users[i%timedUsers()]) }, unknownID, true, false},
		{"a passkey sign-in of a user with a passkey", func(int) *http.Request { return start(w.withKey) }, unknownID, true, false},
		{"a passkey step after the name of a user without passkeys", func(i int) *http.Request { return named(knownName(i)) }, func(i int) *http.Request { return named(unknownName(i)) }, true, false},
		{"a passkey step after the name of a user with a passkey", func(int) *http.Request { return named("keyholder") }, func(i int) *http.Request { return named(unknownName(i)) }, true, false},
		{"a wrong client secret", func(int) *http.Request { return client(w.party.id, "wrong-secret-of-enough-characters-0123456789") }, func(int) *http.Request { return client(absent, "wrong-secret-of-enough-characters-0123456789") }, false, false},
		{"introspection of another client's token", func(int) *http.Request { return introspect(w.refresh) }, func(int) *http.Request { return introspect(w.refresh[:len(w.refresh)-8] + "AAAAAAAA") }, false, false},
	}
}

// sample sends a request and returns its duration in microseconds.
func (w *timedAccounts) sample(r *http.Request) (float64, *httptest.ResponseRecorder) {
	rec := httptest.NewRecorder()
	began := time.Now()
	w.http.ServeHTTP(rec, r)
	return float64(time.Since(began).Nanoseconds()) / 1000, rec
}

// welch returns the statistic of Welch's t-test for two samples.
func welch(a, b []float64) float64 {
	meanA, varianceA := moments(a)
	meanB, varianceB := moments(b)
	return (meanA - meanB) / math.Sqrt(varianceA/float64(len(a))+varianceB/float64(len(b)))
}

func moments(sample []float64) (mean, variance float64) {
	for _, x := range sample {
		mean += x / float64(len(sample))
	}
	for _, x := range sample {
		variance += (x - mean) * (x - mean) / float64(len(sample)-1)
	}
	return mean, variance
}

// cropped removes the slowest tenth of both samples together, which are interruptions of the
// machine.
func cropped(a, b []float64) (below, belowToo []float64) {
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	limit := all[len(all)*9/10]
	exceeds := func(x float64) bool { return x > limit }
	return slices.DeleteFunc(slices.Clone(a), exceeds), slices.DeleteFunc(slices.Clone(b), exceeds)
}

// compare returns the durations of both classes, which alternate in a random order.
func (w *timedAccounts) compare(t *testing.T, p timedPair, samples, warmUp int) (known, unknown []float64) {
	t.Helper()
	for i := range samples + warmUp {
		requests := []*http.Request{p.known(i), p.unknown(i)}
		first := rand.IntN(2)
		var took [2]float64
		var replies [2]*httptest.ResponseRecorder
		for _, at := range []int{first, 1 - first} {
			took[at], replies[at] = w.sample(requests[at])
		}
		if replies[0].Code != replies[1].Code || !p.decoys && replies[0].Body.Len() != replies[1].Body.Len() {
			t.Fatalf("%s: %d %s\nunknown: %d %s", p.name, replies[0].Code, replies[0].Body, replies[1].Code, replies[1].Body)
		}
		if p.concealed && (took[0] < 20_000 || took[1] < 20_000) {
			t.Fatalf("%s: the replies took %.0f and %.0f µs, and must wait", p.name, took[0], took[1])
		}
		if i >= warmUp {
			known, unknown = append(known, took[0]), append(unknown, took[1])
		}
	}
	return known, unknown
}

// TestTiming compares what replies for existing and unknown accounts and clients reveal: status and
// length always, and with -timing also the duration, by Welch's t-test. No figure fails the test,
// because a busy machine could cause it; docs/security.md describes the measurement.
func TestTiming(t *testing.T) {
	sequential(t)
	w := newTimedAccounts(t)
	samples, warmUp := *timingSamples, 30
	if samples == 0 {
		samples, warmUp = 2, 0
	}
	for _, p := range w.pairs() {
		known, unknown := w.compare(t, p, samples, warmUp)
		if *timingSamples == 0 {
			continue
		}
		a, b := cropped(known, unknown)
		meanA, _ := moments(a)
		meanB, _ := moments(b)
		t.Logf("| %s | %d | %.0f | %.0f | %.1f |", p.name, samples, meanA, meanB, math.Abs(welch(a, b)))
	}
}

// The statistic of samples with a known result.
func TestWelch(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 5}, []float64{2, 4, 6, 8, 10}
	if got := welch(a, b); math.Abs(got+1.8973666) > 1e-6 {
		t.Errorf("got %v, want -1.897", got)
	}
}
