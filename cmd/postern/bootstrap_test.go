package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// errKilled simulates the death of the client.
var errKilled = errors.New("killed")

// clientTransport sends the requests of a client to a server in this process until the
// client dies: at a given request, before it is sent or before it is answered.
type clientTransport struct {
	server   http.Handler
	count    int
	dieAt    int // number of the request, from 1; 0 is never
	answered bool
}

// RoundTrip implements http.RoundTripper.
func (w *clientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w.count++
	dies := w.dieAt > 0 && w.count >= w.dieAt
	if dies && (!w.answered || w.count > w.dieAt) {
		return nil, errKilled
	}
	rec := httptest.NewRecorder()
	w.server.ServeHTTP(rec, r)
	if dies {
		return nil, errKilled
	}
	return rec.Result(), nil
}

// emptyApp is a server on an empty store.
func emptyApp(t testing.TB, environ ...string) *app {
	t.Helper()
	cheap := []string{"POSTERN_PASSWORD_MEMORY_KIB=1024", "POSTERN_PASSWORD_ITERATIONS=1"}
	dir := t.TempDir()
	cfg := loadConfig(t, append(append(cheap, environ...), "POSTERN_DATA_DIR="+dir))
	if cfg.Database.Driver == "sqlite" && cfg.Keys.File != "" {
		copyEmptyData(t, dir)
	}
	return openForTest(t, cfg, slog.New(slog.DiscardHandler))
}

// openAppToAll is an empty server whose API is open to all.
func openAppToAll(t testing.TB, environ ...string) *app {
	t.Helper()
	h := emptyApp(t, environ...)
	gate, err := newOpenAccess(t.Context(), h, &net.TCPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Fatal(err)
	}
	h.open = gate.open
	return h
}

// bootstrapped runs a bootstrap over a transport and returns its output.
func (h *app) bootstrapped(ctx context.Context, w *clientTransport, dir string) (string, error) {
	var reported strings.Builder
	err := bootstrap.Run(ctx, bootstrap.Setup{
		BaseURL: h.cfg.Server.PublicURL, RedirectURIs: []string{"https://console.example.com/callback"}, Samples: true, Dir: dir,
		Admin: bootstrap.Admin{Username: "root", Password: adminPassword}, Secrets: declare.Secrets{Getenv: program{environ: []string{"EVE=" + adminPassword}}.getenv},
		Wait: time.Minute, HTTP: &http.Client{Transport: w},
		Report: func(format string, args ...any) { fmt.Fprintf(&reported, format+"\n", args...) },
	})
	return reported.String(), err
}

// state returns the export of a store, without generated ids.
func (h *app) state(t testing.TB) string {
	t.Helper()
	files, err := declare.Export(t.Context(), h.directory)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "== %s\n%s", name, files[name])
	}
	return regexp.MustCompile(`(?m)^id: [0-9a-f]{8}-.*$`).ReplaceAllStringFunc(b.String(), func(id string) string {
		if strings.HasPrefix(id, "id: 01900000-0000-7000-8000-") {
			return id
		}
		return "id: (generated)"
	})
}

// seedDir is a folder with seed files that refer to each other.
func seedDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"20-people.yaml": "users: [{type: Person, attributes: {username: eve, password: {env: EVE}}}]\ngroups: [{name: Staff, ouId: branch, members: [{type: user, id: eve}]}]\n",
		"10-units.yaml":  "organizationUnits: [{handle: branch, name: Branch, parentId: customers}]\n",
		"notes.txt":      "these are no resources\n",
	} {
		datatest.WriteFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

func TestBootstrapTenTimes(t *testing.T) {
	sequential(t)
	onDatabases(t, func(t *testing.T, environ ...string) {
		h, dir := openAppToAll(t, environ...), seedDir(t)
		server := h.handler()
		reported, err := h.bootstrapped(t.Context(), &clientTransport{server: server}, dir)
		if err != nil {
			t.Fatalf("%v\n%s", err, reported)
		}
		for _, want := range []string{`created user "root"`, `created group "Staff"`, "client id: SAMPLE_REPORT, client secret: "} {
			if !strings.Contains(reported, want) {
				t.Errorf("no %s in\n%s", want, reported)
			}
		}
		want := h.state(t)
		for range 9 {
			reported, err := h.bootstrapped(t.Context(), &clientTransport{server: server}, dir)
			if err != nil || reported != "nothing to do: everything exists\n" {
				t.Fatalf("%v\n%s", err, reported)
			}
		}
		if got := h.state(t); got != want {
			t.Errorf("it was\n%s\nand is\n%s", want, got)
		}
	})
}

// An interrupted bootstrap can be run again, with the same result, wherever it was
// interrupted.
func TestBootstrapInterrupted(t *testing.T) {
	sequential(t)
	dir := seedDir(t)
	whole := &clientTransport{}
	reference := openAppToAll(t)
	whole.server = reference.handler()
	if reported, err := reference.bootstrapped(t.Context(), whole, dir); err != nil {
		t.Fatalf("%v\n%s", err, reported)
	}
	want := reference.state(t)
	const points = 12
	if whole.count < 2*points {
		t.Fatalf("a whole bootstrap takes only %d requests", whole.count)
	}
	for i := range points {
		for _, answered := range []bool{false, true} {
			at := 2 + i*(whole.count-2)/(points-1) // the first checks readiness and is repeated
			t.Run(fmt.Sprintf("request %d of %d, answered %v", at, whole.count, answered), func(t *testing.T) {
				h := openAppToAll(t)
				server := h.handler()
				if reported, err := h.bootstrapped(t.Context(), &clientTransport{server: server, dieAt: at, answered: answered}, dir); !errors.Is(err, errKilled) {
					t.Fatalf("%v\n%s", err, reported)
				}
				if reported, err := h.bootstrapped(t.Context(), &clientTransport{server: server}, dir); err != nil {
					t.Fatalf("%v\n%s", err, reported)
				}
				if got := h.state(t); got != want {
					t.Errorf("it is\n%s\nand was to be\n%s", got, want)
				}
			})
		}
	}
}

// A store has the same content when bootstrapped over HTTP and when seeded at the start.
func TestBootstrapEqualsSeeding(t *testing.T) {
	sequential(t)
	seeded, open := emptyApp(t), openAppToAll(t)
	if _, err := seeded.seedStore(t.Context(), []string{"ADMIN_PASSWORD=" + adminPassword}); err != nil {
		t.Fatal(err)
	}
	err := bootstrap.Run(t.Context(), bootstrap.Setup{
		BaseURL: open.cfg.Server.PublicURL, Admin: bootstrap.Admin{Password: adminPassword}, Wait: time.Minute,
		HTTP: &http.Client{Transport: &clientTransport{server: open.handler()}}, Report: func(string, ...any) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := open.state(t), seeded.state(t); got != want {
		t.Errorf("it is\n%s\nand was to be\n%s", got, want)
	}
}

// An open server closes when the administrator gains access, and does not open again.
func TestOpenServerCloses(t *testing.T) {
	h := openAppToAll(t)
	server := h.handler()
	status := func() int {
		rec := httptest.NewRecorder()
		server.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://localhost/users", nil))
		return rec.Code
	}
	if got := status(); got != http.StatusOK {
		t.Errorf("before: status %d", got)
	}
	if reported, err := h.bootstrapped(t.Context(), &clientTransport{server: server}, ""); err != nil {
		t.Fatalf("%v\n%s", err, reported)
	}
	if got := status(); got != http.StatusUnauthorized {
		t.Errorf("after: status %d", got)
	}
	if _, err := newOpenAccess(t.Context(), h, &net.TCPAddr{IP: net.IPv6loopback}); err == nil || !strings.Contains(err.Error(), "without an administrator") {
		t.Errorf("the next start: %v", err)
	}
	h.demote(t)
	if got := status(); got != http.StatusUnauthorized {
		t.Errorf("without an administrator: status %d", got)
	}
}

func TestOpenServerRefused(t *testing.T) {
	h := emptyApp(t)
	for _, ip := range []net.IP{net.IPv4zero, net.IPv6unspecified, net.IPv4(192, 0, 2, 1), nil} {
		if _, err := newOpenAccess(t.Context(), h, &net.TCPAddr{IP: ip, Port: 8090}); err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", ip, err)
		}
	}
	for value, want := range map[string]bool{"": false, "false": false, "0": false, "true": true, "1": true} {
		if got, err := skipsSecurity([]string{"SKIP_SECURITY=" + value}); got != want || err != nil {
			t.Errorf("%q: %v, %v", value, got, err)
		}
	}
	if _, err := skipsSecurity([]string{"SKIP_SECURITY=yes please"}); err == nil {
		t.Error("anything is taken for true or false")
	}
}

// An error before the bootstrap says how to fix it, and the bootstrap changes nothing.
func TestBootstrapRefused(t *testing.T) {
	sequential(t)
	bad := t.TempDir()
	datatest.WriteFile(t, filepath.Join(bad, "a.yaml"), "groups: [{}]\nuser: []\n")
	tests := []struct {
		name   string
		seeded bool
		change func(*bootstrap.Setup)
		want   string
	}{
		{"seed files with faults", false, func(s *bootstrap.Setup) { s.Dir = bad }, "a.yaml:2:1: user: unknown member"},
		{"no folder", false, func(s *bootstrap.Setup) { s.Dir = filepath.Join(t.TempDir(), "sedes") }, "there is no folder"},
		{"no seed files", false, func(s *bootstrap.Setup) { s.Dir = t.TempDir() }, "there are no seed files"},
		{"an open server and no password", false, func(s *bootstrap.Setup) { s.Admin.Password = "" }, "set ADMIN_PASSWORD"},
		{"a short password", false, func(s *bootstrap.Setup) { s.Admin.Password = "short" }, "ADMIN_PASSWORD is not accepted"},
		{"a closed server and nothing", true, func(s *bootstrap.Setup) { s.Admin.Password = "" }, "pass --token"},
		{"the wrong password", true, func(s *bootstrap.Setup) { s.Admin.Password = "grey lantern harbour" }, "cannot sign in"},
		{"a token that is none", true, func(s *bootstrap.Setup) { s.Token = "x" }, "invalid_token"},
		{"another server", false, func(s *bootstrap.Setup) {
			s.HTTP.Transport = &clientTransport{server: http.NotFoundHandler()}
			s.Wait = time.Nanosecond
		}, "is not ready after 1ns"},
		{"another page", false, func(s *bootstrap.Setup) {
			s.HTTP.Transport = &clientTransport{server: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })}
			s.Token = "x"
		}, "did not return a Postern reply"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := openAppToAll(t)
			if tt.seeded {
				if _, err := h.seedStore(t.Context(), []string{"ADMIN_PASSWORD=" + adminPassword}); err != nil {
					t.Fatal(err)
				}
			}
			was := h.state(t)
			setup := bootstrap.Setup{BaseURL: h.cfg.Server.PublicURL, Admin: bootstrap.Admin{Password: adminPassword}, Wait: time.Minute,
				HTTP: &http.Client{Transport: &clientTransport{server: h.handler()}}, Report: func(string, ...any) {}}
			tt.change(&setup)
			err := bootstrap.Run(t.Context(), setup)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v\nexpected %s", err, tt.want)
			}
			if got := h.state(t); got != was {
				t.Errorf("it was\n%s\nand is\n%s", was, got)
			}
		})
	}
}

// A user who has taken the administrator's name on an open server does not become
// administrator.
func TestBootstrapKeepsExistingPermissions(t *testing.T) {
	h := openAppToAll(t)
	if _, err := h.seedStore(t.Context(), []string{"ADMIN_USERNAME=first", "ADMIN_PASSWORD=" + adminPassword}); err != nil {
		t.Fatal(err)
	}
	h.demote(t)
	gate, err := newOpenAccess(t.Context(), h, &net.TCPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Fatal(err)
	}
	h.open = gate.open
	d, problems := schemas.ParseJSON([]byte(`{"type":"Person","attributes":{"username":"root","password":"Tarn-ferry-slate-41"}}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if _, err := h.directory.Users.Create(t.Context(), directory.SystemCall(), d); err != nil {
		t.Fatal(err)
	}
	_, err = h.bootstrapped(t.Context(), &clientTransport{server: h.handler()}, "")
	if err == nil || !strings.Contains(err.Error(), "set ADMIN_USERNAME to another name") {
		t.Errorf("%v", err)
	}
	if holders, err := h.directory.Administrators(t.Context(), directory.SystemCall(), 1); err != nil || len(holders) > 0 {
		t.Errorf("%v, %v", holders, err)
	}
}

// demote removes all permissions from the administrators, bypassing the directory.
func (h *app) demote(t *testing.T) {
	t.Helper()
	group, err := h.directory.Groups.Get(t.Context(), directory.SystemCall(), bootstrap.AdministratorsID)
	if err != nil {
		t.Fatal(err)
	}
	g := *group.Value.(*schemas.Group)
	g.Members = nil
	err = h.store.Update(t.Context(), func(tx *store.Tx) error { return store.Groups().Replace(tx, &g, g.UpdatedAt) })
	if err != nil {
		t.Fatal(err)
	}
}
