package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

// checkKeysFromTheStart: a client that has read the keys before the first ID token can
// verify it. Relying parties cache the keys.
func checkKeysFromTheStart(t *testing.T, client *http.Client, base string) {
	t.Helper()
	r, err := client.Get(base + "/oauth2/jwks")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || !strings.Contains(string(text), `"alg":"RS256"`) || !strings.Contains(string(text), `"alg":"ES256"`) {
		t.Errorf("the keys at the start are %s, %v", text, err)
	}
}

// With port 0, the first log line contains the actual port, and the origin of passkeys
// follows it.
func TestServeOnAnyPort(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	logs, w := io.Pipe()
	var greeting strings.Builder
	exit := make(chan int, 1)
	go func() {
		exit <- program{
			args:    []string{"serve", "--listen", "127.0.0.1:0", "--try"},
			environ: []string{"POSTERN_DATA_DIR=" + t.TempDir(), "ADMIN_PASSWORD=quiet harbour lantern"},
			stdout:  &greeting, stderr: w,
		}.run(ctx)
		w.Close()
	}()
	lines := bufio.NewScanner(logs)
	if !lines.Scan() {
		t.Fatal("no log line")
	}
	first := lines.Text()
	go func() { _, _ = io.Copy(io.Discard, logs) }()
	addr := regexp.MustCompile(`addr=127\.0\.0\.1:(\d+)`).FindStringSubmatch(first)
	if addr == nil {
		t.Fatalf("the first log line is %s", first)
	}
	base := "https://localhost:" + addr[1]
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for {
		r, err := client.Get(base + "/health/readiness")
		if err == nil {
			r.Body.Close()
			break
		}
		select {
		case code := <-exit:
			t.Fatalf("exit code %d", code)
		default:
		}
	}
	checkKeysFromTheStart(t, client, base)
	r, err := client.Post(base+"/flow/execute", "application/json",
		strings.NewReader(`{"applicationId":"`+bootstrap.TryID+`","flowType":"AUTHENTICATION"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Errorf("status %d", r.StatusCode)
	}
	client.CloseIdleConnections()
	stop()
	if code := <-exit; code != exitFine {
		t.Errorf("exit code %d", code)
	}
	if got := greeting.String(); !strings.Contains(got, base+"/try/") || strings.Contains(got, "quiet harbour") {
		t.Errorf("the greeting is %q", got)
	}
}

// start runs the server until it listens, or exits, and returns its exit code and output.
func start(t *testing.T, args []string, environ ...string) (code int, reported string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	logs, w := io.Pipe()
	var out, errors strings.Builder
	exit := make(chan int, 1)
	go func() {
		cheap := []string{"POSTERN_PASSWORD_MEMORY_KIB=1024", "POSTERN_PASSWORD_ITERATIONS=1"}
		exit <- program{args: append([]string{"serve"}, args...), environ: append(cheap, environ...), stdout: &out, stderr: w}.run(ctx)
		w.Close()
	}()
	for lines := bufio.NewScanner(logs); lines.Scan(); {
		errors.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "msg=listening") {
			stop()
		}
	}
	return <-exit, out.String() + errors.String()
}

// keepServing runs a server with a data folder until the test ends.
func keepServing(t *testing.T, dir string) {
	ctx, stop := context.WithCancel(t.Context())
	logs, w := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		exit <- program{args: []string{"serve", "--listen", "127.0.0.1:0"}, environ: []string{"POSTERN_DATA_DIR=" + dir}, stdout: io.Discard, stderr: w}.run(ctx)
		w.Close()
	}()
	t.Cleanup(func() {
		stop()
		<-exit
	})
	for lines := bufio.NewScanner(logs); lines.Scan() && !strings.Contains(lines.Text(), "msg=listening"); {
	}
	go func() { _, _ = io.Copy(io.Discard, logs) }()
}

// A server that is stopped while it starts has not failed: a service manager would report that.
func TestStopDuringStart(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var reported strings.Builder
	code := program{args: []string{"serve", "--listen", "127.0.0.1:0"}, environ: []string{"POSTERN_DATA_DIR=" + t.TempDir()}, stdout: &reported, stderr: &reported}.run(ctx)
	if code != exitFine || !strings.Contains(reported.String(), "stopped before the server was ready") {
		t.Errorf("exit code %d: %s", code, &reported)
	}
}

// certificateFiles are the variables of a certificate and its key, whose file has a mode.
func certificateFiles(t *testing.T, mode os.FileMode) []string {
	t.Helper()
	dir := t.TempDir()
	if _, err := server.Certificate(server.CertificateOptions{DataDir: dir, Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	cert, key := filepath.Join(dir, "tls", "cert.pem"), filepath.Join(dir, "tls", "key.pem")
	if err := os.Chmod(key, mode); err != nil {
		t.Fatal(err)
	}
	return []string{"POSTERN_TLS_CERT_FILE=" + cert, "POSTERN_TLS_KEY_FILE=" + key}
}

// TestAudit21KeyOfTheGroup: some systems give a service a TLS key that its group can read.
// It is used, with a warning.
func TestAudit21KeyOfTheGroup(t *testing.T) {
	environ := append(certificateFiles(t, 0o640), "POSTERN_DATA_DIR="+t.TempDir())
	code, reported := start(t, []string{"--listen=127.0.0.1:0"}, environ...)
	if code != exitFine || !strings.Contains(reported, "level=WARN") || !strings.Contains(reported, "tls.key_file: ") || !strings.Contains(reported, "chmod 600") {
		t.Errorf("exit code %d: %s", code, reported)
	}
}

// A failed start prints the cause and the fix, and leaves the store unchanged.
func TestFailedStarts(t *testing.T) {
	sequential(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	const anyPort = "--listen=127.0.0.1:0"
	unsafe := t.TempDir()
	datatest.WriteFile(t, filepath.Join(unsafe, "in.yaml"), "handle: in\nname: In\nflowType: AUTHENTICATION\nnodes:\n  - {id: done, use: authorization-code}\n")
	untold := t.TempDir()
	datatest.WriteFile(t, filepath.Join(untold, "in.yaml"), "handle: in\nname: In\nflowType: AUTHENTICATION\nnodes:\n  - {id: key, use: passkey-authenticate, next: tell}\n"+
		"  - {id: tell, use: http-request, with: {target: crn, mode: notify}, next: done}\n  - {id: done, use: authorization-code}\n")
	open := filepath.Join(t.TempDir(), "open")
	datatest.WriteFile(t, open, "whsec_dGhpcyBpcyBhIHNlY3JldCBvZiB0aGUgdGVzdHM=")
	if err := os.Chmod(open, 0o644); err != nil { // regardless of the umask
		t.Fatal(err)
	}
	remove := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name    string
		harm    func(t *testing.T, dir string) // to a seeded store; nil: the store is empty
		listen  string
		environ []string
		want    string
	}{
		{"the key is gone", remove("keys/key-encryption.key"), anyPort, nil, "restore "},
		{"another key", func(*testing.T, string) {}, anyPort, []string{"POSTERN_KEY_ENCRYPTION_KEY=" + strings.Repeat("A", 43) + "="}, "key"},
		{"no key at all", nil, anyPort, []string{"POSTERN_KEY_ENCRYPTION_KEY=abc"}, "POSTERN_KEY_ENCRYPTION_KEY"},
		{"no certificate", nil, anyPort, []string{"POSTERN_TLS_CERT_FILE=/nowhere/tls.crt", "POSTERN_TLS_KEY_FILE=/nowhere/tls.key"}, "/nowhere/tls.crt"},
		{"a TLS key that others can read", nil, anyPort, append(certificateFiles(t, 0o644), "POSTERN_SERVER_HOSTNAME=localhost"), "tls.key_file: "},
		{"a secret that others can read", nil, anyPort, []string{`POSTERN_HTTP_TARGETS={"crm":{"url":"https://crm.example.com","secret_file":"` + open + `"}}`}, "chmod 600 " + open},
		{"a blank administrator", nil, anyPort, []string{"ADMIN_USERNAME= "}, "ADMIN_USERNAME"},
		{"a short password", nil, anyPort, []string{"ADMIN_PASSWORD=x"}, "ADMIN_PASSWORD is not accepted"},
		{"a port that is taken", nil, "--listen=" + taken.Addr().String(), nil, "another program"},
		{"a flow that may not run", nil, anyPort, []string{"POSTERN_FLOW_DIR=" + unsafe}, "in.yaml:5:5: error: authorization-code needs an authenticated user"},
		{"a flow with a target that there is not", nil, anyPort,
			[]string{"POSTERN_FLOW_DIR=" + untold, `POSTERN_HTTP_TARGETS={"crm":{"url":"https://crm.example.com"}}`},
			`in.yaml:6:50: error: this server has no target "crn"; did you mean "crm"?`},
		{"a target that may not be asked", nil, anyPort, []string{`POSTERN_HTTP_TARGETS={"crm":{"url":"http://127.0.0.1:1"}}`}, "http.targets.crm.url: outbound_refused: expected an https URL"},
		{"a target whose secret is gone", nil, anyPort, []string{`POSTERN_HTTP_TARGETS={"crm":{"url":"https://crm.example.com","secret_file":"/nowhere/secret"}}`}, "http.targets.crm.secret_file: stat /nowhere/secret: no such file"},
		{"no flows where they should be", nil, anyPort, []string{"POSTERN_FLOW_DIR=" + t.TempDir()}, "flow.dir: no flow files"},
		{"another server with the same store", keepServing, anyPort, nil, ": stop it first"},
		{"an address of another machine", nil, "--listen=192.0.2.1:0", nil, "is not an address of this machine"},
		{"a database that is damaged", func(t *testing.T, dir string) {
			datatest.WriteFile(t, filepath.Join(dir, "database", "postern.db"), strings.Repeat("damaged\n", 100))
		}, anyPort, nil, "move it to another folder, and restore a backup"},
		{"an address without a port", nil, "--listen=localhost", nil, "expected host:port"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			copyEmptyData(t, dir)
			data := "POSTERN_DATA_DIR=" + dir
			if tt.harm != nil {
				if code, reported := start(t, []string{anyPort}, data); code != exitFine {
					t.Fatalf("exit code %d: %s", code, reported)
				}
				tt.harm(t, dir)
			}
			code, reported := start(t, []string{tt.listen}, append(tt.environ, data)...)
			if code != exitUsage || !strings.Contains(reported, tt.want) || strings.Contains(reported, "listening") {
				t.Errorf("exit code %d: %s", code, reported)
			}
			if tt.harm != nil {
				return
			}
			// Nothing half-done remains: the next start prints the password.
			if code, reported := start(t, []string{anyPort}, data); code != exitFine || !strings.Contains(reported, "shown once") {
				t.Errorf("the start after it: exit code %d: %s", code, reported)
			}
		})
	}
}

// The changes of --try are active only while it is set.
func TestTryEndsWithItsFlag(t *testing.T) {
	w := newTestApp(t)
	if err := bootstrap.EnsureExamples(t.Context(), w.directory); err != nil {
		t.Fatal(err)
	}
	if err := (serveCommand{}).showTry(t.Context(), w.app); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{bootstrap.TryID, bootstrap.ExamplesID, bootstrap.ExampleToolsID, bootstrap.ExampleReactID} {
		if _, err := w.applications.Application(t.Context(), id); !schemas.HasCode(err, schemas.CodeAppNotFound) {
			t.Errorf("the application %s: %v", id, err)
		}
	}
	if _, err := w.applications.Application(t.Context(), bootstrap.ConsoleID); err != nil {
		t.Errorf("the console: %v", err)
	}
}
