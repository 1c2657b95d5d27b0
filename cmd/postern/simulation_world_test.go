package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/simulation"
	"github.com/postern-id/postern/internal/store"
)

// world is a simulated deployment: a server, its store, its users with their browsers, a relying
// party and an administrator, and what each of them knows. See package simulation.
type world struct {
	t       *testing.T
	seed    uint64
	round   int
	rand    *rand.Rand // of the round
	cfg     *config.Config
	process *simulation.Process
	app     *app
	http    http.Handler
	trace   *simulation.Trace
	bug     *simulation.Bug

	began   time.Time
	tick    int // numbers the beginnings and ends of requests
	numbers int // of sessions, grants, tokens and passwords
	failure string

	users      []*simUser
	client     *simUser // the relying party: its secrets are passwords
	id, secret string   // of the relying party
	doubt      bool     // whether the reply with a new secret was lost
	appID      string
	role       string
	loss       int // lost replies, in thousandths
	ledger     ledger

	dense bool
	simCounts
}

// simCounts are figures of a simulation.
type simCounts struct {
	requests, crashes int
	shared            int // crashes within a write while others waited for theirs
	starts            int // crashes of a process that started
}

func (c *simCounts) add(o simCounts) {
	c.requests, c.crashes, c.shared, c.starts = c.requests+o.requests, c.crashes+o.crashes, c.shared+o.shared, c.starts+o.starts
}

// simUser is a user with a browser, and what the relying party knows of the user.
type simUser struct {
	name, id string
	device   *passkeytest.Authenticator // nil for a user with a password
	password int                        // the last one that was set
	jar      http.CookieJar
	session  int // of the browser; 0 for none
	grants   []*simGrant

	states []account
	calls  []simulation.Call[act] // of this round
}

// simGrant is what the relying party got for an authorization.
type simGrant struct {
	number, session int
	code            string
	refresh         []string // by generation; "" is unknown
	access          []simToken
	id              string // the ID token
}

type simToken struct {
	number int
	text   string
}

// newest returns the newest access token; without text if there is none.
func (g *simGrant) newest() simToken {
	if len(g.access) == 0 {
		return simToken{}
	}
	return g.access[len(g.access)-1]
}

// start starts the server on the stored data. A planted bug may prevent that, which finds it.
func (w *world) start() {
	w.process = &simulation.Process{Rand: w.rand, Trace: w.trace, Bug: w.bug,
		Locked: []string{"token.(*Issuer).extendKeyLifetime", "token.(*Issuer).Reload", "token.(*Issuer).refreshKeys", "directory.(*Directory).checkAndRepeat"}}
	s, err := store.Open(context.Background(), store.Config{Driver: "sqlite", DSN: w.cfg.Database.DSN, Hooks: w.process})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.dense && w.rand.IntN(8) == 0 {
		w.process.CrashAfter = 1 + w.rand.IntN(4)
	}
	h := &app{cfg: w.cfg, log: slog.New(slog.DiscardHandler), store: s, isServer: true, pages: map[string]http.Handler{}}
	if err := h.build(context.Background()); err != nil {
		if closing := s.Close(); w.bug == nil && !w.process.Crashed() || closing != nil {
			w.t.Fatal(err, closing)
		}
		if w.process.Crashed() {
			w.crashes, w.starts = w.crashes+1, w.starts+1
			w.start()
			return
		}
		w.fail("the server does not start: %v", err)
		w.bug = nil
		w.start()
		return
	}
	w.process.CrashAfter = 0
	w.app, w.http = h, h.handler()
}

// stop ends the server. A crashed one does no more work.
func (w *world) stop() {
	if err := w.app.store.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// restart replaces a crashed server.
func (w *world) restart() {
	w.crashes++
	if w.process.Shared() {
		w.shared++
	}
	w.stop()
	w.start()
}

func (w *world) number() int {
	w.numbers++
	return w.numbers
}

func (w *world) now() time.Duration { return time.Since(w.began) }

func (w *world) fail(format string, args ...any) {
	if w.failure == "" {
		w.failure = fmt.Sprintf("round %d: ", w.round) + fmt.Sprintf(format, args...)
		w.trace.Add("failure")
	}
}

// simReply is the reply to a request. It is lost if the client did not receive it.
type simReply struct {
	status int
	header http.Header
	body   []byte
	lost   bool
}

// isUnknown reports whether the request may have taken effect or not.
func (r simReply) isUnknown() bool { return r.lost || r.status >= 500 }

// send sends a request to the server.
func (w *world) send(ctx context.Context, r *http.Request) simReply {
	w.requests++
	p, rec := w.process, httptest.NewRecorder()
	if p.Crashed() {
		return simReply{lost: true}
	}
	w.http.ServeHTTP(rec, r.WithContext(ctx))
	simulation.Pause(ctx, "reply")
	lost := p.Crashed() || simulation.IsTask(ctx) && w.rand.IntN(1000) < w.loss
	return simReply{rec.Code, rec.Header(), rec.Body.Bytes(), lost}
}

// browse sends a request from the browser of a user; body is a form, JSON, or nil.
func (w *world) browse(ctx context.Context, u *simUser, address string, body any) simReply {
	var r *http.Request
	if body == nil {
		r = newRequest(http.MethodGet, address, "")
	} else {
		r = newRequest(http.MethodPost, address, string(datatest.Marshal(w.t, body)), jsonBody)
	}
	for _, c := range u.jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	got := w.send(ctx, r)
	if !got.lost {
		u.keepCookies(r.URL, (&http.Response{Header: got.header}).Cookies())
	}
	return got
}

// keepCookies keeps the cookies of a reply. The reply to a sign-out removes the cookie of the session,
// even if that is a later session than the one that the request ended.
func (u *simUser) keepCookies(from *url.URL, cookies []*http.Cookie) {
	u.jar.SetCookies(from, cookies)
	for _, c := range cookies {
		if c.MaxAge < 0 && strings.HasSuffix(c.Name, "postern-session") {
			u.session = 0
		}
	}
}

// asClient posts a form as the relying party. The result of an unknown or wrong secret is
// recorded, and the reply is unknown to the caller.
func (w *world) asClient(ctx context.Context, path string, form url.Values) simReply {
	r := clientRequest(w.cfg.Server.PublicURL+path, w.id, w.secret, form)
	var got simReply
	w.record(w.client, act{Kind: "authenticate", N: w.client.password}, func(c *act) {
		got = w.send(ctx, r)
		switch {
		case got.isUnknown():
			c.Result = unknown
		case got.status == http.StatusUnauthorized:
			c.Result = refused
			got.lost = true
		default:
			c.Result = done
		}
	})
	return got
}

// record records a request that do sends.
func (w *world) record(u *simUser, c act, do func(c *act)) act {
	w.tick++
	start := w.tick
	c.At.Min = w.now()
	do(&c)
	w.tick++
	c.At.Max = w.now()
	w.trace.Add("%s %s", u.name, c)
	u.calls = append(u.calls, simulation.Call[act]{Start: start, End: w.tick, Of: c})
	return c
}

// resultOf returns the result of a reply whose success has a status.
func resultOf(r simReply, success ...int) string {
	if r.isUnknown() {
		return unknown
	}
	for _, status := range success {
		if r.status == status {
			return done
		}
	}
	return refused
}

// newUser returns a user without a session.
func (w *world) newUser(name string) *simUser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &simUser{name: name, jar: jar, states: []account{{}}}
}

// check updates the states of all users after a round. The calls of a round are concurrent, and
// all have ended.
func (w *world) check() {
	for _, u := range append(w.users, w.client) {
		calls := u.calls
		u.calls = nil
		if len(calls) == 0 {
			continue
		}
		after, err := simulation.Linearize(u.states, calls, step, accountKey)
		switch {
		case err != nil:
			w.t.Fatal(err)
		case len(after) == 0:
			w.fail("%s: no order of these requests explains the replies:\n%s\nthe states before:\n%s", u.name, describeCalls(calls), describeStates(u.states))
			return
		case len(after) > 20000:
			w.fail("%s: %d states are possible: too many to continue", u.name, len(after))
			return
		}
		u.states = after
		if len(after) > 100 && u != w.client {
			w.settle(u)
		}
	}
}

// settle ends what may be live, because too many states are possible.
func (w *world) settle(u *simUser) {
	for i := range u.states {
		u.states[i].Runs = nil
	}
	ctx := context.Background()
	w.putUser(ctx, u, true, false)
	w.endAllSessions(ctx, u)
	w.assignRole(ctx, u, false)
	calls := u.calls
	u.calls, u.session = nil, 0
	after, err := simulation.Linearize(u.states, calls, step, accountKey)
	if err != nil || len(after) == 0 {
		w.fail("%s: ending all sessions: %v", u.name, err)
		return
	}
	u.states, u.grants = after, nil
}

func describeCalls(calls []simulation.Call[act]) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "  [%d, %d] %s, at %s to %s\n", c.Start, c.End, c.Of, c.Of.At.Min, c.Of.At.Max)
	}
	return b.String()
}

func describeStates(states []account) string {
	var b strings.Builder
	for _, s := range states[:min(len(states), 5)] {
		fmt.Fprintf(&b, "  %+v\n", s)
	}
	return b.String()
}

// forget drops grants that are no longer used, and the sessions without grants, so that the states
// stay few.
func (w *world) forget(u *simUser) {
	const kept = 4
	u.grants = u.grants[max(0, len(u.grants)-kept):]
	keeps := map[int]bool{u.session: true}
	grants := map[int]bool{}
	for _, g := range u.grants {
		keeps[g.session], grants[g.number] = true, true
	}
	seen := map[string]bool{}
	var states []account
	for _, s := range u.states {
		s = s.clone()
		s.Sessions = filter(s.Sessions, func(m modelSession) bool { return keeps[m.ID] })
		s.Grants = filter(s.Grants, func(m modelGrant) bool { return grants[m.ID] })
		s.Runs = nil
		if key := accountKey(s); !seen[key] {
			seen[key] = true
			states = append(states, s)
		}
	}
	u.states = states
}

func filter[V any](list []V, keep func(V) bool) []V {
	var kept []V
	for _, v := range list {
		if keep(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// dataFolderOf returns a folder in memory if there is one, because SQLite writes each commit.
func dataFolderOf(t *testing.T) string {
	if dir, err := os.MkdirTemp("/dev/shm", "postern-simulation-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

func decode[V any](w *world, body []byte) (v V) {
	if err := json.Unmarshal(body, &v); err != nil {
		w.fail("the reply %.200q is not JSON: %v", body, err)
	}
	return v
}
