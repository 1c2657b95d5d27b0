package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/logtest"
)

// notifySocket listens for the states that a process sends to its service manager.
func notifySocket(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	return socket
}

// loggedLines returns a log and its lines.
func loggedLines() (*slog.Logger, *logtest.Buffer) {
	lines := new(logtest.Buffer)
	return slog.New(slog.NewTextHandler(lines, nil)), lines
}

// readState returns the next state.
func readState(t *testing.T, socket *net.UnixConn) string {
	t.Helper()
	buffer := make([]byte, 512)
	n, err := socket.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	return string(buffer[:n])
}

func TestNewSupervisor(t *testing.T) {
	self := fmt.Sprint(os.Getpid())
	for _, test := range []struct {
		environ []string
		want    time.Duration
	}{
		{nil, 0},
		{[]string{"WATCHDOG_USEC=3000000"}, 0},
		{[]string{"NOTIFY_SOCKET=/x"}, 0},
		{[]string{"NOTIFY_SOCKET=/x", "WATCHDOG_USEC=3000000"}, 3 * time.Second},
		{[]string{"NOTIFY_SOCKET=/x", "WATCHDOG_USEC=3000000", "WATCHDOG_PID=" + self}, 3 * time.Second},
		{[]string{"NOTIFY_SOCKET=/x", "WATCHDOG_USEC=3000000", "WATCHDOG_PID=1" + self}, 0}, // of the parent process
		{[]string{"NOTIFY_SOCKET=/x", "WATCHDOG_USEC=-1"}, 0},
		{[]string{"NOTIFY_SOCKET=/x", "WATCHDOG_USEC=soon"}, 0},
	} {
		if got := newSupervisor(test.environ, nil).watchdog; got != test.want {
			t.Errorf("%q: the watchdog has %s, expected %s", test.environ, got, test.want)
		}
	}
}

// A service manager that is gone is reported and does not stop the server. One with an abstract
// address is notified, and a process without one sends nothing.
func TestNotify(t *testing.T) {
	log, lines := loggedLines()
	supervisor{log: log}.notify("READY=1")
	if lines.String() != "" {
		t.Errorf("without a service manager the log is %s", lines)
	}
	supervisor{socket: filepath.Join(t.TempDir(), "gone"), log: log}.notify("READY=1")
	if !strings.Contains(lines.String(), "cannot be notified") {
		t.Errorf("the log is %s", lines)
	}
	name := "@postern-test-" + fmt.Sprint(os.Getpid())
	socket := notifySocket(t, name)
	supervisor{socket: name, log: log}.notify("READY=1")
	if got := readState(t, socket); got != "READY=1" {
		t.Errorf("the state is %q", got)
	}
}

// The watchdog is not notified while the server does not answer.
func TestWatchdogNeedsAnswers(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "notify")
	socket := notifySocket(t, path)
	failures := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if failures++; failures <= 2 || r.URL.Path != "/health/liveness" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	log, lines := loggedLines()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		supervisor{socket: path, watchdog: 2 * time.Millisecond, log: log}.notifyWatchdog(ctx, newProbe(s.Listener.Addr().String(), false))
	}()
	if got := readState(t, socket); got != "WATCHDOG=1" {
		t.Errorf("the state is %q", got)
	}
	stop()
	<-ended
	if n := strings.Count(lines.String(), "does not answer its own request"); n != 2 {
		t.Errorf("%d failures are logged, expected 2: %s", n, lines)
	}
}

// runningServer runs the server with a socket of a service manager. It returns the address once the
// server has reported that it is ready, and a function that stops it.
func runningServer(t *testing.T, socket *net.UnixConn, environ []string) (addr string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	logs, w := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		exit <- program{args: []string{"serve", "--listen", "127.0.0.1:0"}, environ: environ, stdout: io.Discard, stderr: w}.run(ctx)
		w.Close()
	}()
	for lines := bufio.NewScanner(logs); addr == "" && lines.Scan(); {
		if found := regexp.MustCompile(`msg=listening addr=(\S+)`).FindStringSubmatch(lines.Text()); found != nil {
			addr = found[1]
		}
	}
	if addr == "" {
		t.Fatalf("the server exited with %d", <-exit)
	}
	go func() { _, _ = io.Copy(io.Discard, logs) }()
	for readState(t, socket) != "READY=1" { // the watchdog can be first
	}
	return addr, func() {
		cancel()
		if code := <-exit; code != exitFine {
			t.Errorf("exit code %d", code)
		}
	}
}

// A service manager gets the states of a server in their order, and `postern health` agrees.
func TestServeNotifies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket := notifySocket(t, path)
	environ := []string{"POSTERN_DATA_DIR=" + t.TempDir(), "ADMIN_PASSWORD=quiet harbour lantern", "POSTERN_PASSWORD_MEMORY_KIB=1024", "POSTERN_PASSWORD_ITERATIONS=1"}
	addr, stop := runningServer(t, socket, append(environ, "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=20000"))
	if got := readState(t, socket); got != "WATCHDOG=1" {
		t.Errorf("after READY=1 the state is %q", got)
	}
	health := func() (code int, stdout, stderr string) {
		var out, errors strings.Builder
		code = program{args: []string{"health"}, environ: append(environ, "POSTERN_SERVER_LISTEN="+addr), stdout: &out, stderr: &errors}.run(t.Context())
		return code, out.String(), errors.String()
	}
	if code, out, errors := health(); code != exitFine || out != "ready\n" {
		t.Errorf("health exits with %d: %s%s", code, out, errors)
	}
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	for state := ""; state != "STOPPING=1"; {
		if state = readState(t, socket); state != "WATCHDOG=1" && state != "STOPPING=1" {
			t.Errorf("the state is %q", state)
		}
	}
	<-stopped
	if code, out, errors := health(); code != exitFindings || out != "" || !strings.Contains(errors, "the server is not ready") {
		t.Errorf("after the end health exits with %d: %s%s", code, out, errors)
	}
}

func TestLocalAddress(t *testing.T) {
	for listen, want := range map[string]string{
		":8090": "127.0.0.1:8090", "0.0.0.0:8090": "127.0.0.1:8090", "[::]:8090": "[::1]:8090",
		"10.0.0.5:8090": "10.0.0.5:8090", "localhost:8090": "localhost:8090",
	} {
		if got := localAddress(listen); got != want {
			t.Errorf("%s: got %s, expected %s", listen, got, want)
		}
	}
}

// A redirect is no answer of the server, and a status other than 200 is reported.
func TestProbe(t *testing.T) {
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusFound} {
		s := httptest.NewTLSServer(http.RedirectHandler("/", status))
		if err := newProbe(s.Listener.Addr().String(), true).get(t.Context(), "/health/readiness"); err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("with status %d the probe returns %v", status, err)
		}
		s.Close()
	}
}
