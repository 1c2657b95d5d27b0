package e2e_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/store/storetest"
)

var (
	tortureTime = flag.Duration("torture", 0, "how long TestTorture injects faults into each store; 0 for a few fixed faults")
	tortureSeed = flag.Uint64("tortureseed", 1, "the seed of the order of faults and of the clients' choices")
)

// TestTorture injects faults into a server and its surroundings while clients change data, and
// compares the result with the ledger of the acknowledged changes: none is lost, done twice or
// undone. Without -torture it injects one fault after the other from a short list, into both stores at
// once: most of the time it waits for deliveries that a killed server has claimed.
func TestTorture(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		if *tortureTime == 0 {
			t.Parallel()
		}
		dir := t.TempDir()
		full := smallDisk(t, dir)
		x := newTorture(t, "POSTERN_DATABASE_DRIVER=sqlite", "POSTERN_DATABASE_DSN="+dir+"/postern.db")
		faults := append(x.processFaults(), x.connectionFaults("clients", x.clients)...)
		if full != nil {
			faults = append(faults, tortureFault{"full disk", func() { full(x) }})
		}
		x.perform(faults, "kill -9", "cut clients", "truncate clients", "kill -9")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		if *tortureTime == 0 {
			t.Parallel()
		}
		replicas := storetest.StartReplicas(t)
		database := newFaultyProxy(t, replicas.Dial)
		x := newTorture(t, "POSTERN_DATABASE_DRIVER=postgres", fmt.Sprintf("POSTERN_DATABASE_DSN=host=127.0.0.1 port=%d user=postern dbname=postgres sslmode=disable", database.port()))
		faults := append(x.processFaults(), x.connectionFaults("clients", x.clients)...)
		faults = append(faults, x.connectionFaults("database", database)...)
		faults = append(faults,
			tortureFault{"failover", replicas.FailOver},
			tortureFault{"database restart", func() { replicas.Restart(time.Second) }},
			tortureFault{"database stopped", func() { replicas.Freeze(func() { time.Sleep(2 * time.Second) }) }},
			tortureFault{"database stopped for long", func() { replicas.Freeze(func() { x.awaitsDatabase(2 * time.Minute) }) }})
		x.perform(faults, "cut database", "failover", "kill -9")
	})
}

// torture is a server under faults, with its clients and their ledger.
type torture struct {
	*postern
	clients     *faultyProxy // between the clients and the server
	application struct{ ID, ClientID string }
	role        string
	flow        string // the sign-up flow, which the editor changes
	token       atomic.Value
	random      *rand.Rand // of the order of faults
	fail        func(format string, args ...any)

	mu         sync.Mutex
	counts     map[string]int // acknowledgements by kind
	total      int
	injected   map[string]int
	violations map[string]int // by kind: lost, doubled, undone, refused
	stories    []*story
	edits      []edit
	delivered  map[string]map[string]bool // the Webhook-Ids by user
}

// edit is a change of the flow; its reason identifies it.
type edit struct {
	reason       string
	acknowledged bool
}

const tortureWorkers = 8

// newTorture starts a server, and prepares a client application whose sign-ups are delivered to a
// webhook.
func newTorture(t *testing.T, env ...string) *torture {
	t.Helper()
	x := &torture{counts: map[string]int{}, injected: map[string]int{}, violations: map[string]int{}, delivered: map[string]map[string]bool{},
		fail: t.Errorf, random: rand.New(rand.NewPCG(*tortureSeed, 0))}
	site := httptest.NewServer(http.HandlerFunc(x.receive))
	t.Cleanup(site.Close)
	targets := datatest.Marshal(t, object{"crm": object{"url": site.URL}})
	x.postern = serve(t, append(env, "POSTERN_HTTP_TARGETS="+string(targets), "POSTERN_OUTBOUND_ALLOW=127.0.0.0/8", "POSTERN_THROTTLE_ENABLED=false")...)
	x.clients = newFaultyProxy(t, func() (net.Conn, error) { return net.Dial("tcp", x.address) })
	x.renewToken()
	var made struct{ ID string }
	x.create(t, "/flows", x.admin(), deliveringSignUp(), &made)
	x.flow = made.ID
	x.create(t, "/roles", x.admin(), object{"name": "Tortured"}, &made)
	x.role = made.ID
	x.create(t, "/applications", x.admin(), object{
		"name": "Tortured", "isRegistrationFlowEnabled": true, "authFlowId": "passkey-sign-in", "registrationFlowId": x.flow,
		"inboundAuthConfig": []object{{"type": "oauth2", "config": object{
			"publicClient": true, "redirectUris": []string{tortureRedirect}, "scopes": []string{"openid", "account"},
			"grantTypes": []string{"authorization_code", "refresh_token"}}}}}, &x.application)
	var read struct {
		InboundAuthConfig []struct{ Config struct{ ClientID string } }
	}
	x.get(t, "/applications/"+x.application.ID, &read)
	x.application.ClientID = read.InboundAuthConfig[0].Config.ClientID
	return x
}

// deliveringSignUp is a sign-up with a passkey that notifies the webhook in the commit that stores
// the user.
func deliveringSignUp() object {
	node := func(id, use string, with, next any) object {
		return object{"id": id, "use": use, "with": with, "next": next}
	}
	return object{"handle": "tortured", "name": "Tortured", "flowType": "REGISTRATION", "nodes": []object{
		node("who", "prompt", object{
			"inputs":  []object{{"identifier": "username", "type": "TEXT_INPUT", "required": true}},
			"actions": []object{{"ref": "continue", "label": "Continue"}},
		}, "create"),
		{"id": "create", "use": "user-create", "next": object{"created": "key", "taken": "who"}},
		node("key", "passkey-register", object{"residentKey": "required", "userVerification": "required"}, "tell"),
		node("tell", "http-request", object{"target": "crm", "mode": "notify", "event": "user.signed-up", "body": object{"id": "user.id"}}, "done"),
		{"id": "done", "use": "authorization-code"},
	}}
}

// receive is the webhook.
func (x *torture) receive(w http.ResponseWriter, r *http.Request) {
	var got struct{ Data struct{ ID string } }
	text, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(text, &got) != nil || got.Data.ID == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	ids := x.delivered[got.Data.ID]
	if ids == nil {
		ids = map[string]bool{}
		x.delivered[got.Data.ID] = ids
	}
	ids[r.Header.Get("Webhook-Id")] = true
}

func (x *torture) admin() string { return x.token.Load().(string) }

func (x *torture) renewToken() { x.token.Store(newAdminToken(x.t, x.postern)) }

func (x *torture) acknowledge(kind string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.counts[kind]++
	x.total++
}

func (x *torture) acknowledged() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.total
}

// violate reports a violation.
func (x *torture) violate(kind, format string, args ...any) {
	x.mu.Lock()
	x.violations[kind]++
	x.mu.Unlock()
	x.fail(kind+": "+format, args...)
}

// perform runs clients, injects faults, stops the clients and verifies the ledger. Between two
// faults the clients get acknowledgements again. The names are the faults without -torture; with it,
// each cycle has all faults in another order.
func (x *torture) perform(faults []tortureFault, names ...string) {
	x.t.Helper()
	stop := make(chan struct{})
	var working sync.WaitGroup
	for worker := range tortureWorkers {
		working.Go(func() { x.work(worker, stop) })
	}
	working.Go(func() { x.editFlow(stop) })
	end := sync.OnceFunc(func() { close(stop); working.Wait() })
	defer end()
	if *tortureTime == 0 {
		for _, name := range names {
			i := slices.IndexFunc(faults, func(f tortureFault) bool { return f.name == name })
			x.inject(faults[i])
		}
	}
	for begin := time.Now(); time.Since(begin) < *tortureTime; {
		for _, i := range x.random.Perm(len(faults)) {
			if time.Since(begin) < *tortureTime {
				x.inject(faults[i])
			}
		}
	}
	end()
	x.verify()
	x.report()
}

// inject injects a fault and waits until the clients make progress again.
func (x *torture) inject(f tortureFault) {
	x.t.Helper()
	x.progress()
	f.inject()
	eventually(x.t, "the server is ready after: "+f.name, x.ready)
	x.renewToken()
	x.injected[f.name]++
	x.progress()
}

func (x *torture) progress() {
	x.t.Helper()
	until := x.acknowledged() + 2*tortureWorkers
	eventually(x.t, "changes are acknowledged", func() bool { return x.acknowledged() >= until })
}

// work performs stories until stop is closed.
func (x *torture) work(worker int, stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(*tortureSeed, uint64(worker+1)))
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		s := x.newStory(fmt.Sprintf("user-%d-%d", worker, n), stop)
		s.run(random)
		s.client.http.CloseIdleConnections()
		x.mu.Lock()
		x.stories = append(x.stories, s)
		x.mu.Unlock()
		time.Sleep(20 * time.Millisecond) // bounds the load, and the stories that a dead server fails
	}
}

func (x *torture) newStory(name string, stop <-chan struct{}) *story {
	return &story{torture: x, client: newTortureClient(x.base, x.clients.port()), name: name,
		device: passkeytest.New(), facts: map[fact]string{}, stop: stop}
}

// editFlow changes the sign-up flow until stop is closed.
func (x *torture) editFlow(stop <-chan struct{}) {
	client := newTortureClient(x.base, x.clients.port())
	defer client.http.CloseIdleConnections()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(200 * time.Millisecond):
		}
		e := edit{reason: fmt.Sprint("change-", n)}
		err := client.json(http.MethodPatch, "/flows/"+x.flow+"?reason="+e.reason, x.admin(), object{"name": fmt.Sprint("Tortured ", n)}, nil)
		if isRefusal(err) {
			x.violate("refused", "%v", err)
		}
		if e.acknowledged = err == nil; e.acknowledged {
			x.acknowledge("flow changed")
		}
		x.edits = append(x.edits, e)
	}
}

// report logs the figures.
func (x *torture) report() {
	var text strings.Builder
	for _, part := range []struct {
		title string
		of    map[string]int
	}{{"faults", x.injected}, {"acknowledged changes", x.counts}} {
		sum := 0
		for _, name := range slices.Sorted(maps.Keys(part.of)) {
			fmt.Fprintf(&text, "\n  %6d %s", part.of[name], name)
			sum += part.of[name]
		}
		fmt.Fprintf(&text, "\n  %6d %s in total\n", sum, part.title)
	}
	x.t.Logf("seed %d, %d users:%s\n%d lost, %d doubled, %d undone, %d refused", *tortureSeed, len(x.stories), &text,
		x.violations["lost"], x.violations["doubled"], x.violations["undone"], x.violations["refused"])
}
