// Package connect_test signs users in to the products of docs/connect with the libraries that these products are
// made of, and with the commands and the configurations that the pages show. It is a module of its own: the
// authenticator of Kubernetes and the others are no dependencies of Postern. It runs bin/postern, which `make build`
// builds.
//
// Some products are written in other languages. Their tests get the claims with the registration and the settings of
// the page, and decide as the documentation of the product describes.
package connect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const password = "grey lantern harbour 77"

// server is a process of bin/postern with https.
type server struct {
	issuer  string
	dir     string
	env     []string
	process *os.Process
	output  bytes.Buffer
	exited  chan struct{}
}

// running is the server of all tests.
var running = &server{exited: make(chan struct{})}

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "postern-connect-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	defer running.stop()
	if err := running.start(dir); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, running.output.String())
	}
	return m.Run(), nil
}

// start starts the server, and lets the libraries trust its certificate.
func (s *server) start(dir string) error {
	program, err := filepath.Abs(filepath.Join("..", "..", "bin", "postern"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("%w: run `make build` first", err)
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	certificate := filepath.Join(dir, "data", "tls", "cert.pem")
	s.dir, s.issuer = dir, fmt.Sprintf("https://localhost:%d", port)
	s.env = []string{"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "HOME=" + dir, "SSL_CERT_FILE=" + certificate,
		fmt.Sprintf("POSTERN_SERVER_PORT=%d", port), fmt.Sprintf("POSTERN_SERVER_LISTEN=127.0.0.1:%d", port),
		"POSTERN_DATA_DIR=" + filepath.Join(dir, "data"), "ADMIN_USERNAME=admin", "ADMIN_PASSWORD=" + password,
		"POSTERN_PASSWORD_MEMORY_KIB=8192", "POSTERN_PASSWORD_ITERATIONS=1", "POSTERN_THROTTLE_ENABLED=false"}
	command := exec.Command(program, "serve")
	command.Dir, command.Env, command.Stdout, command.Stderr = dir, s.env, &s.output, &s.output
	if err := command.Start(); err != nil {
		return err
	}
	s.process = command.Process
	go func() {
		defer close(s.exited)
		_ = command.Wait() // the output has the reason
	}()
	return s.waitUntilReady(certificate)
}

// waitUntilReady waits for the certificate before the first connection: Go reads SSL_CERT_FILE once.
func (s *server) waitUntilReady(certificate string) error {
	return poll(s.exited, func() bool {
		if _, err := os.Stat(certificate); err != nil {
			return false
		}
		if connection, err := net.Dial("tcp", strings.TrimPrefix(s.issuer, "https://")); err != nil {
			return false
		} else {
			connection.Close()
		}
		if err := os.Setenv("SSL_CERT_FILE", certificate); err != nil {
			return false
		}
		r, err := http.Get(s.issuer + "/health/readiness")
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
}

// poll calls done until it reports true. The five minutes only end tests that hang.
func poll(exited <-chan struct{}, done func() bool) error {
	limit, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for !done() {
		select {
		case <-exited:
			return errors.New("postern ended by itself")
		case <-limit.Done():
			return errors.New("waited in vain")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

func (s *server) stop() {
	if s.process != nil {
		_ = s.process.Kill() // it may have ended
		<-s.exited
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// run runs the lines of a shell in the folder of the server, with `postern` in the path.
func (s *server) run(t *testing.T, lines string) []byte {
	t.Helper()
	command := exec.Command("sh", "-euc", lines)
	var failed bytes.Buffer
	command.Dir, command.Env, command.Stderr = s.dir, s.env, &failed
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s\n%v: %s%s", lines, err, out, failed.String())
	}
	return out
}

// createUser creates a user with a password and an address.
func (s *server) createUser(t *testing.T, name string) {
	t.Helper()
	s.run(t, fmt.Sprintf("postern user create %s --email %s@example.org --set-json email_verified=true --set password='%s'", name, name, password))
}

// application is an application that the command of a page has created.
type application struct {
	server                     *server
	ID, ClientID, ClientSecret string
	redirect                   string // the first one
}

// create runs the command of a page that registers the product.
func (s *server) create(t *testing.T, p *page) application {
	t.Helper()
	command := p.block("postern app create ")
	a := application{server: s}
	if err := json.Unmarshal(s.run(t, strings.TrimSpace(command)+" --json"), &a); err != nil || a.ClientID == "" {
		t.Fatalf("%v: %+v", err, a)
	}
	_, rest, _ := strings.Cut(command, "--redirect ")
	a.redirect = strings.Fields(rest)[0]
	return a
}

// authorize follows an authorization request as the browser of a user does, who signs in with the password, and
// returns the parameters with which the browser comes back.
func (s *server) authorize(t *testing.T, address, username string) url.Values {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	run := follow(t, browser, address).Get("executionId")
	if run == "" {
		t.Fatalf("%s leads to no sign-in", address)
	}
	s.answer(t, browser, map[string]any{"executionId": run, "action": "password"})
	back := s.answer(t, browser, map[string]any{"executionId": run, "action": "continue",
		"inputs": map[string]string{"username": username, "password": password}})
	return follow(t, browser, back)
}

// follow requests an address and returns the query of the address to which it redirects.
func follow(t *testing.T, browser *http.Client, address string) url.Values {
	t.Helper()
	r, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	to, err := r.Location()
	if err != nil || to.Query().Has("error") {
		t.Fatalf("%s: %s, %v %v", address, r.Status, to, err)
	}
	return to.Query()
}

// answer answers a step of a sign-in, and returns the address to which its last step leads.
func (s *server) answer(t *testing.T, browser *http.Client, body map[string]any) string {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := browser.Post(s.issuer+"/flow/execute", "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var step struct {
		FlowStatus    string
		FailureReason string
		Data          struct{ RedirectURL string }
	}
	if err := json.NewDecoder(r.Body).Decode(&step); err != nil || step.FlowStatus == "ERROR" {
		t.Fatalf("%v: %s %s", err, step.FlowStatus, step.FailureReason)
	}
	return step.Data.RedirectURL
}
