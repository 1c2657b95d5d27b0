package e2e_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/porttest"
)

// consoleID is the application of the administrators.
const consoleID = "01900000-0000-7000-8000-000000000001"

// tryID is the application that serve --try adds.
const tryID = "01900000-0000-7000-8000-000000000002"

// postern is a server process. Its folder outlives it.
type postern struct {
	t       *testing.T
	program string // "" for this version
	args    []string
	base    string // http://localhost:PORT
	address string // 127.0.0.1:PORT
	dir     string
	env     []string
	client  *http.Client

	process *os.Process
	exited  chan struct{} // closed when the process is gone
	state   *os.ProcessState
	log     *logtest.Buffer

	adminToken string // once it is needed
}

// serve starts `postern serve --try` on a free port and waits until it is ready. More
// variables are given as KEY=value.
func serve(t *testing.T, env ...string) *postern {
	t.Helper()
	return serveAt(t, "http", "localhost", env...)
}

// serveAt is serve with a scheme and a host name, still on loopback.
func serveAt(t *testing.T, scheme, host string, env ...string) *postern {
	t.Helper()
	return serveWith(t, []string{"serve", "--try"}, scheme, host, env...)
}

// serveWith is serveAt with the program's arguments.
func serveWith(t *testing.T, args []string, scheme, host string, env ...string) *postern {
	t.Helper()
	p := newServer(t, args, scheme, host, env...)
	p.start()
	return p
}

// newServer is serveWith without a start.
func newServer(t *testing.T, args []string, scheme, host string, env ...string) *postern {
	t.Helper()
	port := freePort(t)
	p := &postern{
		t: t, args: args, base: fmt.Sprintf("%s://%s:%d", scheme, host, port), address: fmt.Sprintf("127.0.0.1:%d", port), dir: t.TempDir(),
		client: &http.Client{
			Timeout: timeout,
			Transport: &http.Transport{
				MaxIdleConnsPerHost: 64,
				DialContext:         dialLoopback(port),
				TLSClientConfig:     &tls.Config{InsecureSkipVerify: true}, // the self-signed certificate of a fresh folder
			},
		},
	}
	p.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir,
		"POSTERN_SERVER_HTTP_ONLY=true",
		fmt.Sprintf("POSTERN_SERVER_PORT=%d", port),
		"POSTERN_SERVER_LISTEN=" + p.address,
		"POSTERN_DATA_DIR=" + filepath.Join(p.dir, "data"),
		"ADMIN_USERNAME=admin", "ADMIN_PASSWORD=" + adminPassword,
		"POSTERN_PASSWORD_MEMORY_KIB=8192", "POSTERN_PASSWORD_ITERATIONS=1", // every server hashes at its start
	}, env...)
	t.Cleanup(func() {
		p.kill()
		p.client.CloseIdleConnections()
	})
	if !slices.ContainsFunc(env, func(entry string) bool {
		return strings.HasPrefix(entry, "POSTERN_DATA") || strings.HasPrefix(entry, "POSTERN_KEY")
	}) {
		p.copyData()
	}
	return p
}

// adminPassword is the password of the administrator of every store here.
const adminPassword = "quiet harbour lantern 42"

// path returns the path of the program.
func (p *postern) path() string {
	p.t.Helper()
	if p.program != "" {
		return p.program
	}
	return binary(p.t)
}

// start runs the process on the folder and waits until it is ready.
func (p *postern) start() {
	p.t.Helper()
	cmd := exec.Command(p.path(), p.args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	p.log = &logtest.Buffer{}
	cmd.Stderr = p.log
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	exited := make(chan struct{})
	p.process, p.exited = cmd.Process, exited
	go func() {
		defer close(exited)
		_ = cmd.Wait() // the state contains the exit code
		p.state = cmd.ProcessState
	}()
	eventually(p.t, "postern is ready", p.ready)
}

func (p *postern) ready() bool {
	p.t.Helper()
	select {
	case <-p.exited:
		p.t.Fatalf("postern ended by itself: %v\n%s", p.state, p.log)
	default:
	}
	r, err := p.client.Get(p.base + "/health/readiness")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// kill ends the process like a power failure, and waits until it is gone.
func (p *postern) kill() { p.signal(syscall.SIGKILL) }

// terminate asks the process to stop, waits for it and returns its exit code.
func (p *postern) terminate() int {
	p.signal(syscall.SIGTERM)
	return p.state.ExitCode()
}

func (p *postern) signal(s os.Signal) {
	if p.process == nil {
		return
	}
	_ = p.process.Signal(s) // it may have exited already
	<-p.exited
	p.client.CloseIdleConnections()
}

// freePort returns an unused loopback port.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	return port
}
