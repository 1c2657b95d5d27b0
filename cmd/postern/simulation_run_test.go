package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	googleuuid "github.com/google/uuid"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/simulation"
	"github.com/postern-id/postern/schemas"
)

// simOptions select a simulation.
type simOptions struct {
	seed   uint64
	rounds int
	skip   map[int]bool // rounds that are left out, to shrink a failure
	dense  bool         // nearly every round crashes, and so do many restarts
	bug    *simulation.Bug
}

// simResult is the outcome of a simulation.
type simResult struct {
	failure string // "" for none
	digest  string
	last    []string // of the trace

	simCounts
	elapsed time.Duration // simulated
}

// simImage is the data folder of a seeded server with a relying party and users.
type simImage struct {
	data                      dataFolder
	id, secret, appID, roleID string
	users                     map[string]string // ids by name
}

const simScopes = `"openid","system:users:read"`

// makeSimImage seeds a server in a bubble, so that its times are simulated too.
func makeSimImage(t *testing.T) (image simImage) {
	dir := dataFolderOf(t)
	seedRandom(t, 1)
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, cfg: simConfig(t, dir), rand: mathrand.New(mathrand.NewPCG(1, 1)), trace: &simulation.Trace{}}
		w.start()
		if err := errors.Join(w.app.seedForTests(), w.app.tokens.Prepare(context.Background())); err != nil {
			t.Fatal(err)
		}
		fixture := &testApp{app: w.app, t: t, http: w.http, origin: w.cfg.Server.PublicURL}
		client := fixture.create(w.app.directory.Applications, `{"name":"Relying party","inboundAuthConfig":[{"type":"oauth2","config":{
			"grantTypes":["authorization_code","refresh_token"],"redirectUris":["`+simCallback+`"],"pkceRequired":false,
			"backchannelLogoutUri":"http://127.0.0.1:1/logout","scopes":[`+simScopes+`]}}]}`).Value.(*schemas.Application)
		image.id, image.secret, image.appID = client.ClientID, client.ClientSecret, client.ID
		image.roleID = fixture.create(w.app.directory.Roles, `{"name":"Reader","permissions":["system:users:read"]}`).ID
		image.users = map[string]string{}
		for _, name := range []string{"ada", "bob"} {
			image.users[name] = fixture.create(w.app.directory.Users, `{"type":"Person","attributes":{"username":"`+name+`","password":"`+simPassword(0)+`"}}`).ID
		}
		w.stop()
		var err error
		if image.data, err = readData(dir, w.cfg.Server.PublicURL); err != nil {
			t.Fatal(err)
		}
	})
	return image
}

func simConfig(t *testing.T, dir string) *config.Config {
	cfg := loadConfig(t, testEnvironment(dir))
	cfg.Audit.Retention = 0 // so that the events can be counted
	cfg.Token.KeyAge = 365 * 24 * time.Hour
	return cfg
}

// seedRandom makes all random numbers of the test follow from a seed.
func seedRandom(t *testing.T, seed uint64) {
	cryptotest.SetGlobalRandom(t, seed)
	googleuuid.SetRand(rand.Reader)
	t.Cleanup(func() { googleuuid.SetRand(nil) })
}

// simulate runs a simulation.
func simulate(t *testing.T, image simImage, o simOptions) (result simResult) {
	dir := dataFolderOf(t)
	defer os.RemoveAll(dir) // there may be thousands of simulations
	for name, text := range image.data.files {
		datatest.WriteFile(t, filepath.Join(dir, name), text)
	}
	seedRandom(t, o.seed)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24 * time.Hour)
		w := &world{t: t, seed: o.seed, cfg: simConfig(t, dir), trace: &simulation.Trace{Keep: 40}, bug: o.bug, dense: o.dense, began: time.Now(),
			id: image.id, secret: image.secret, appID: image.appID, role: image.roleID, ledger: newLedger()}
		w.run(image, o)
		result = simResult{failure: w.failure, digest: w.trace.Digest(), last: w.trace.Last(), simCounts: w.simCounts, elapsed: w.now()}
	})
	return result
}

func (w *world) run(image simImage, o simOptions) {
	w.enter(0)
	w.start()
	defer func() { w.stop() }()
	w.client = w.newUser("client")
	for _, name := range slices.Sorted(maps.Keys(image.users)) {
		u := w.newUser(name)
		u.id = image.users[name]
		w.users = append(w.users, u)
	}
	w.signUp("eve")
	for _, u := range w.users {
		w.assignRole(context.Background(), u, false)
	}
	w.check()
	for n := 1; n <= o.rounds && w.failure == ""; n++ {
		if !o.skip[n] {
			w.enter(n)
			w.playRound()
		}
	}
	if w.failure == "" {
		w.enter(o.rounds + 1)
		w.finish()
	}
}

// enter begins a round. Each has its own random numbers, so that leaving out one changes no other.
func (w *world) enter(n int) {
	w.round = n
	w.rand = mathrand.New(mathrand.NewPCG(w.seed, uint64(n)))
	if w.process != nil {
		w.process.Rand = w.rand
	}
	w.trace.Add("round %d", n)
}

// signUp creates a user with a passkey.
func (w *world) signUp(name string) {
	ctx := context.Background()
	u := w.newUser(name)
	u.device = passkeytest.New(passkeytest.Seed(fmt.Sprint(name, w.seed)), passkeytest.Algorithms(-7))
	s := w.step(ctx, u, map[string]any{"applicationId": bootstrap.TryID, "flowType": "REGISTRATION"})
	if s != nil {
		s = w.step(ctx, u, map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "continue", "inputs": map[string]string{"username": name}})
	}
	if s == nil {
		w.fail("a sign-up ends early")
		return
	}
	a, err := u.device.Register(json.RawMessage(s.Data.AdditionalData["passkeyCreationOptions"]), w.cfg.Server.PublicURL)
	if err != nil {
		w.t.Fatal(err)
	}
	s = w.step(ctx, u, map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "passkey",
		"inputs": map[string]string{"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON, "attestationObject": a.AttestationObject}})
	if s == nil || s.FlowStatus != schemas.Complete {
		w.fail("a sign-up ends with %+v", s)
		return
	}
	w.ledger.count("user.signed_in", done)
	stored, err := w.app.store.UserByAttribute(ctx, "", "username", name)
	if err != nil {
		w.fail("a user who signed up: %v", err)
		return
	}
	u.id = stored.ID
	w.users = append(w.users, u)
}

// playRound lets time pass, and runs some tasks concurrently, with faults.
func (w *world) playRound() {
	time.Sleep(w.pause())
	if w.rand.IntN(4) > 0 && !w.dense {
		w.maintain(context.Background())
	}
	w.process.SetRates(w.chooseRates())
	s := &simulation.Scheduler{Rand: w.rand, Trace: w.trace}
	if w.rand.IntN(3) == 0 {
		s.Drift = 4 * time.Second
	}
	w.process.Scheduler = s
	s.Run(context.Background(), w.chooseTasks()...)
	w.process.SetRates(simulation.Rates{})
	if w.process.Crashed() {
		w.restart()
	}
	if w.doubt {
		w.newGeneration(context.Background(), true)
	}
	w.probe()
	if w.rand.IntN(w.oneIn(3, 8)) == 0 {
		w.deliver()
	}
	w.check()
	w.checkDeliveries()
	for _, u := range w.users {
		w.forget(u)
	}
}

// pause is the time between two rounds: mostly short, at times weeks.
func (w *world) pause() time.Duration {
	longest := []time.Duration{time.Second, time.Second, 8 * time.Second, 8 * time.Second, 30 * time.Second, 30 * time.Second, 20 * time.Minute, 20 * time.Minute,
		20 * time.Minute, 2 * time.Hour, 2 * time.Hour, 24 * time.Hour, 40 * 24 * time.Hour}
	return time.Duration(w.rand.Int64N(int64(longest[w.rand.IntN(len(longest))])))
}

func (w *world) chooseRates() simulation.Rates {
	w.loss = 0
	switch w.rand.IntN(w.oneIn(8, 40)) {
	case 0:
		return simulation.Rates{}
	case 1:
		w.loss = 100
		return simulation.Rates{Read: 5, Begin: 15, Statement: 5, Reply: 30, Gather: w.gather()}
	default:
		return simulation.Rates{Read: 1, Begin: 1, Statement: 1, Reply: 3, Crash: w.crashRate(), Gather: w.gather()}
	}
}

// oneIn returns the first number, or the second one if nearly every round crashes.
func (w *world) oneIn(sparse, dense int) int {
	if w.dense {
		return dense
	}
	return sparse
}

// gather is how often a write lets others gather.
func (w *world) gather() int { return w.rand.IntN(3) * 300 }

// crashRate is how often a process crashes at an operation of the store.
func (w *world) crashRate() int {
	if w.dense {
		return []int{25, 50, 100, 200}[w.rand.IntN(4)]
	}
	return 40
}

// maintain does what a server does in the background. It fails only with faults, as a task.
func (w *world) maintain(ctx context.Context) {
	w.app.sweepOnce(ctx, time.Now().UTC())
	if err := w.app.tokens.MaintainKeys(ctx); err != nil && !simulation.IsTask(ctx) {
		w.fail("maintaining the keys: %v", err)
	}
	if _, err := w.app.chain.Seal(ctx); err != nil && !simulation.IsTask(ctx) {
		w.fail("sealing the audit log: %v", err)
	}
}

// chooseTasks returns what happens concurrently in a round.
func (w *world) chooseTasks() []simulation.Task {
	var tasks []simulation.Task
	add := func(do func(ctx context.Context)) {
		tasks = append(tasks, simulation.Task{Name: fmt.Sprintf("%02d", len(tasks)), Do: do})
	}
	if w.rand.IntN(8) == 0 {
		add(w.maintain)
	}
	u := w.users[w.rand.IntN(len(w.users))]
	for range 1 + w.rand.IntN(3) {
		if w.rand.IntN(3) == 0 {
			u = w.users[w.rand.IntN(len(w.users))]
		}
		w.chooseActions(u, add)
	}
	return tasks
}

// chooseActions adds the tasks of one choice. Mostly something that may be live is used.
func (w *world) chooseActions(u *simUser, add func(func(ctx context.Context))) {
	live := w.liveGrants(u)
	if len(live) == 0 && w.rand.IntN(8) > 0 || w.rand.IntN(8) == 0 {
		w.chooseSignIn(u, add)
		return
	}
	if len(live) == 0 || w.rand.IntN(8) == 0 {
		live = u.grants
	}
	if len(live) == 0 {
		return
	}
	g := live[w.rand.IntN(len(live))]
	if len(g.refresh) == 0 || w.rand.IntN(16) == 0 {
		for range 1 + w.rand.IntN(4)/3 {
			add(func(ctx context.Context) { w.redeemCode(ctx, u, g) })
		}
		return
	}
	w.chooseUse(u, g, add)
}

// liveGrants returns the grants of a user that are live in some state.
func (w *world) liveGrants(u *simUser) (live []*simGrant) {
	now := act{At: span{w.now(), w.now()}}
	for _, g := range u.grants {
		if slices.ContainsFunc(u.states, func(a account) bool { return a.grantMayLive(a.grant(g.number), now) }) {
			live = append(live, g)
		}
	}
	return live
}

func (w *world) chooseSignIn(u *simUser, add func(func(ctx context.Context))) {
	switch n := w.rand.IntN(4); {
	case n == 0 && u.session != 0:
		add(func(ctx context.Context) { w.silently(ctx, u) })
	case n == 1: // the last answer is submitted twice
		w.process.SetRates(simulation.Rates{})
		answer, run := w.beginSignIn(context.Background(), u), w.number()
		w.process.SetRates(w.chooseRates())
		for range 2 {
			add(func(ctx context.Context) { w.finishSignIn(ctx, u, answer, run, false) })
		}
	default:
		add(func(ctx context.Context) {
			if g := w.signInOnce(ctx, u, false); g != nil {
				for range 1 + w.rand.IntN(6)/5 { // at times a code is sent again
					w.redeemCode(ctx, u, g)
				}
			}
		})
	}
}

// chooseUse adds the tasks of one use of the tokens of a grant, or of an administrator.
func (w *world) chooseUse(u *simUser, g *simGrant, add func(func(ctx context.Context))) {
	t := simToken{}
	if len(g.access) > 0 {
		t = g.access[len(g.access)-1-min(w.rand.IntN(len(g.access)), 2)]
	}
	age := max(0, w.rand.IntN(6)-3)
	actions := []func(ctx context.Context){
		func(ctx context.Context) { w.refreshTokens(ctx, u, g, 0) },
		func(ctx context.Context) { w.refreshTokens(ctx, u, g, 0) },
		func(ctx context.Context) { w.refreshTokens(ctx, u, g, age) },
		func(ctx context.Context) { w.useToken(ctx, u, g, t); w.usePermission(ctx, u, g, t) },
		func(ctx context.Context) { w.usePermission(ctx, u, g, t) },
		func(ctx context.Context) { w.introspectToken(ctx, u, g); w.useToken(ctx, u, g, t) },
		func(ctx context.Context) { w.silently(ctx, u) },
		func(ctx context.Context) { w.revokeAccess(ctx, u, g, t); w.useToken(ctx, u, g, t) },
		func(ctx context.Context) { w.assignRole(ctx, u, false) },
		func(ctx context.Context) {
			w.assignRole(ctx, u, true)
			w.usePermission(ctx, u, g, t)
			w.assignRole(ctx, u, w.rand.IntN(3) == 0)
		},
		func(ctx context.Context) { w.revokeRefresh(ctx, u, g) },
		func(ctx context.Context) { w.signOut(ctx, u) },
		func(ctx context.Context) { w.signOut(ctx, u); w.silently(ctx, u) },
		func(ctx context.Context) { w.putUser(ctx, u, true, false); w.useToken(ctx, u, g, t) },
		func(ctx context.Context) { w.putUser(ctx, u, false, true) },
		func(ctx context.Context) { w.putUser(ctx, u, false, false) },
		func(ctx context.Context) { w.endAllSessions(ctx, u) },
		func(ctx context.Context) { w.newGeneration(ctx, w.rand.IntN(3) == 0) },
	}
	chosen := w.rand.IntN(len(actions))
	if chosen >= 10 && w.rand.IntN(3) > 0 || chosen == len(actions)-1 && w.rand.IntN(3) > 0 { // ends are rarer
		chosen = w.rand.IntN(10)
	}
	for range 1 + w.rand.IntN(4)/3 {
		add(actions[chosen])
	}
}

// probe reads what the round may have changed, without faults: a client that received no reply
// learns whether its request took effect.
func (w *world) probe() {
	ctx := context.Background()
	for _, u := range w.users {
		if len(u.calls) == 0 || len(u.grants) == 0 {
			continue
		}
		g := u.grants[len(u.grants)-1-w.rand.IntN(min(2, len(u.grants)))]
		if len(g.access) > 0 {
			w.useToken(ctx, u, g, g.access[len(g.access)-1])
		}
		if w.rand.IntN(2) == 0 {
			w.introspectToken(ctx, u, g)
		}
	}
}

// finish makes sure that each user can still do everything, and that nothing outlives its end.
func (w *world) finish() {
	ctx := context.Background()
	w.newGeneration(ctx, true)
	for _, u := range w.users {
		w.putUser(ctx, u, false, false)
		w.assignRole(ctx, u, false)
		if g := w.signInOnce(ctx, u, true); g != nil {
			w.redeemCode(ctx, u, g)
			w.finishGrant(ctx, u, g)
		}
		w.putUser(ctx, u, true, false)
		if g := w.signInOnce(ctx, u, true); g == nil {
			w.fail("%s cannot sign in with the newest password", u.name)
		} else {
			w.redeemCode(ctx, u, g)
		}
	}
	w.newGeneration(ctx, false)
	w.useNewest(ctx)
	w.check()
	w.maintain(ctx)
	w.checkAudit()
	for range 4 {
		w.deliver()
	}
	w.checkDeliveries()
}

// finishGrant uses a new grant in all ways, until its session ends.
func (w *world) finishGrant(ctx context.Context, u *simUser, g *simGrant) {
	if c := w.usePermission(ctx, u, g, g.newest()); c.Result != done {
		w.fail("%s has the role, and its permission is %s", u.name, c.Result)
	}
	w.assignRole(ctx, u, true)
	w.usePermission(ctx, u, g, g.newest())
	w.assignRole(ctx, u, false)
	w.refreshTokens(ctx, u, g, 0)
	if again := w.silently(ctx, u); again != nil {
		w.redeemCode(ctx, u, again)
		time.Sleep(simWindow + time.Second)
		w.refreshTokens(ctx, u, g, 1)
		w.endAllSessions(ctx, u)
		w.useToken(ctx, u, again, again.newest())
	}
}

// useNewest uses the newest token of each user.
func (w *world) useNewest(ctx context.Context) {
	for _, u := range w.users {
		if len(u.grants) > 0 {
			g := u.grants[len(u.grants)-1]
			w.useToken(ctx, u, g, g.newest())
		}
	}
}

// deliver sends the queued messages for a while. Targets fail, are slow, and receive messages just
// before the server crashes.
func (w *world) deliver() {
	w.ledger.see(w)
	q := delivery.Queue{Store: w.app.store, Log: slog.New(slog.DiscardHandler), Parallel: 1, Poll: 30 * time.Second,
		Backoff: func(attempts int) time.Duration { return time.Minute * time.Duration(attempts) },
		Senders: map[string]delivery.Sender{schemas.LogoutDelivery: delivery.SenderFunc(w.receive)}}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { q.Run(ctx); close(ended) }()
	time.Sleep(10*time.Minute + time.Millisecond)
	stop()
	<-ended
	if w.process.Crashed() {
		w.restart()
	}
	w.ledger.settle(w)
}

// receive is the target of messages.
func (w *world) receive(ctx context.Context, d schemas.Delivery) error {
	w.ledger.receive(w, d)
	switch w.rand.IntN(8) {
	case 0, 1:
		return errors.New("the target is unavailable")
	case 2:
		<-ctx.Done()
		return ctx.Err()
	case 3:
		w.process.Crash()
	}
	w.ledger.accepted[d.ID] = true
	return nil
}

// checkAudit verifies the audit log, and counts its events: each acknowledged sign-in and redeemed
// code has one, and one without a reply may have one.
func (w *world) checkAudit() {
	report, err := w.app.chain.Verify(context.Background(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if report.Fault != nil {
		w.fail("the audit log is damaged: %+v", *report.Fault)
	}
	for action, counted := range w.ledger.counts {
		n := w.countStored(`SELECT count(*) FROM events WHERE action = ? AND (action <> 'token.issued' OR detail LIKE '%authorization_code%')`, action)
		if n < counted.done || n > counted.done+counted.unknown {
			w.fail("%d events %s, expected %d to %d", n, action, counted.done, counted.done+counted.unknown)
		}
	}
}

// countStored runs a query on the database.
func (w *world) countStored(q string, args ...any) (n int) {
	db, err := sql.Open("sqlite", filepath.Clean(w.cfg.Database.DSN))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(q, args...).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}
