package e2e_test

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/lib/pq"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// TestUpgradeUnderLoad replaces the previous release by this one while users sign in: no step fails, and none
// takes effect twice. The upgrade is incompatible: the server of the previous release ends before the other
// starts, and the runs and sessions that it began continue. It does not start on the new schema, so the return is
// the backup from before the upgrade. The clients see one address, which holds requests while no server runs.
func TestUpgradeUnderLoad(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	old := previousRelease(t)
	balancer := newBalancer(t)
	server := func(program, dsn string) *postern {
		p := newServer(t, []string{"serve", "--try"}, "http", "localhost", "POSTERN_SERVER_PUBLIC_URL="+balancer.base,
			"POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+dsn, "POSTERN_DATABASE_POOL=8",
			"POSTERN_KEY_ENCRYPTION_KEY="+balancer.key, "POSTERN_THROTTLE_ENABLED=false")
		p.program = program
		return p
	}

	first, upgraded := server(old, dsn), server("", dsn)
	first.start()
	balancer.add(first)
	users := startUsers(t, balancer)
	users.wait("the previous release serves")
	begun := users.beginOne()
	backup := filepath.Join(t.TempDir(), "backup")
	first.command("backup", backup)

	balancer.replace(first, upgraded)
	users.completeOne(begun)
	users.wait("this release serves")

	first.refuse(newerSchema, "serve")
	users.stop()
	checkEvents(t, dsn, users)
	t.Logf("%d sign-ups, %d sign-ins, %d connections tried again", users.signedUp.Load(), users.signedIn.Load(), balancer.retried.Load())

	returned := server(old, storetest.Postgres(t))
	returned.command("restore", backup)
	balancer.replace(upgraded, returned)
	if _, err := users.client.signIn(begun.device); err != nil {
		t.Errorf("the previous release with its backup: %v", err)
	}
}

// newerSchema is the error of a program on a schema that a later one has changed incompatibly.
const newerSchema = "a newer version of Postern changed it incompatibly; run that version or a later one"

// balancer forwards requests to servers in turn.
type balancer struct {
	t       *testing.T
	base    string // the public URL
	key     string // the key-encryption key of all servers
	retried atomic.Int64
	sending sync.RWMutex // held for reading while a request is sent and answered

	mu      sync.Mutex
	servers []*postern
	next    int
	connect http.Transport
}

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	b := &balancer{t: t, key: base64.StdEncoding.EncodeToString(key)}
	// A kept connection to a server that ends would fail without a fault of the server.
	b.connect.DisableKeepAlives = true
	server := httptest.NewServer(&httputil.ReverseProxy{Transport: b, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "server", r.In.Host
	}})
	t.Cleanup(server.Close)
	b.base = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	return b
}

func (b *balancer) add(p *postern) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers = append(b.servers, p)
}

// replace holds new requests, waits for those that were sent, stops the old server, and starts the new one: a
// connection that a server has not accepted when it stops is reset.
func (b *balancer) replace(old, by *postern) {
	b.t.Helper()
	b.sending.Lock()
	defer b.sending.Unlock()
	if code := old.terminate(); code != 0 {
		b.t.Errorf("the server ended with exit code %d\n%s", code, old.log)
	}
	by.start()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers = append(slices.DeleteFunc(b.servers, func(s *postern) bool { return s == old }), by)
}

// inTurn lists the servers, and another one first each time.
func (b *balancer) inTurn() []*postern {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = (b.next + 1) % len(b.servers)
	return slices.Concat(b.servers[b.next:], b.servers[:b.next])
}

// RoundTrip implements http.RoundTripper.
func (b *balancer) RoundTrip(r *http.Request) (w *http.Response, err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	b.sending.RLock()
	defer b.sending.RUnlock()
	for _, p := range b.inTurn() {
		to := r.Clone(r.Context())
		to.URL.Host, to.Body = p.address, io.NopCloser(bytes.NewReader(body))
		w, err = b.connect.RoundTrip(to)
		if dial, ok := errors.AsType[*net.OpError](err); !ok || dial.Op != "dial" {
			return w, err
		}
		b.retried.Add(1)
	}
	return nil, err
}

// users sign up once each, and then sign in again and again.
type users struct {
	t                  *testing.T
	client             *postern
	working            sync.WaitGroup
	stopping           atomic.Bool
	signedUp, signedIn atomic.Int64
	failed             chan error
}

// The load: so many clients, and so many sign-ins until the next change.
const (
	upgradeClients = 4
	upgradeSignIns = 24
)

func startUsers(t *testing.T, b *balancer) *users {
	client := &postern{t: t, base: b.base, client: &http.Client{Timeout: timeout}}
	u := &users{t: t, client: client, failed: make(chan error, upgradeClients)}
	for i := range upgradeClients {
		u.working.Go(func() {
			if err := u.work(fmt.Sprintf("user-%d", i)); err != nil {
				u.failed <- err
			}
		})
	}
	t.Cleanup(u.stop)
	return u
}

func (u *users) work(name string) error {
	client := u.client
	for n := 0; !u.stopping.Load(); n++ {
		device := passkeytest.New()
		if _, err := client.signUp(device, fmt.Sprintf("%s-%d", name, n)); err != nil {
			return fmt.Errorf("signing up: %w", err)
		}
		u.signedUp.Add(1)
		for range 5 {
			done, err := client.signIn(device)
			if err != nil {
				return fmt.Errorf("signing in: %w", err)
			}
			u.signedIn.Add(1)
			// The answer that completed the run counted once.
			if _, err := client.next(done, "passkey", nil); err == nil {
				return errors.New("a finished run was answered again")
			}
			time.Sleep(10 * time.Millisecond) // the load is bounded
		}
	}
	return nil
}

// unfinished is a sign-in that waits for the passkey of a device.
type unfinished struct {
	device *passkeytest.Authenticator
	step   *schemas.Step
}

// beginOne signs a user up, and begins a sign-in.
func (u *users) beginOne() (begun unfinished) {
	u.t.Helper()
	begun.device = passkeytest.New()
	_, err := u.client.signUp(begun.device, "unfinished")
	if err == nil {
		begun.step, err = u.client.begin("AUTHENTICATION")
	}
	if err != nil {
		u.t.Fatal(err)
	}
	u.signedUp.Add(1)
	return begun
}

// completeOne completes a sign-in.
func (u *users) completeOne(begun unfinished) {
	u.t.Helper()
	if _, err := u.client.answerPasskey(begun.step, begun.device); err != nil {
		u.t.Fatal(err)
	}
	u.signedIn.Add(1)
}

// wait waits until users have signed in a number of times since it was called.
func (u *users) wait(while string) {
	u.t.Helper()
	enough := u.signedIn.Load() + upgradeSignIns
	eventually(u.t, while, func() bool {
		select {
		case err := <-u.failed:
			u.t.Fatalf("while %s: %v", while, err)
		default:
		}
		return u.signedIn.Load() >= enough
	})
}

// stop lets the users finish what they do.
func (u *users) stop() {
	u.stopping.Store(true)
	u.working.Wait()
}

// checkEvents compares what the clients have counted with the audit log.
func checkEvents(t *testing.T, dsn string, u *users) {
	t.Helper()
	select {
	case err := <-u.failed:
		t.Fatal(err)
	default:
	}
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]int64{
		"SELECT COUNT(*) FROM events WHERE action = 'user.signed_in'":                   u.signedIn.Load() + u.signedUp.Load(), // a sign-up signs in
		"SELECT COUNT(*) FROM events WHERE action = 'user.created'":                     u.signedUp.Load() + 1,                 // and the administrator
		"SELECT COUNT(*) FROM credentials":                                              u.signedUp.Load(),
		"SELECT COUNT(*) FROM runs WHERE status = '" + string(schemas.Incomplete) + "'": 0,
	} {
		var n int64
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != want {
			t.Errorf("%s: %d, the clients counted %d", query, n, want)
		}
	}
}
