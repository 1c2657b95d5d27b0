package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/postern-id/postern/internal/porttest"
)

// target is the server under load: a process with a folder and a database of its own.
type target struct {
	binary   string
	dir      string
	base     string // https://localhost:PORT
	env      []string
	database *database

	statements *statementLog // nil without -trace
	cmd        *exec.Cmd
	log        bytes.Buffer
	client     *http.Client
	ready      time.Duration // from the start of the process to its first answer
}

// newTarget prepares a server that has not started. One core for Go's scheduler fits one
// processor; see pin.
func newTarget(o options, driver string) (*target, error) {
	binary, err := filepath.Abs(o.binary) // the server runs in its own folder
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "postern-load-")
	if err != nil {
		return nil, err
	}
	port, err := porttest.Free()
	if err != nil {
		return nil, err
	}
	var log *statementLog
	var trace func(string)
	if o.trace {
		log = new(statementLog)
		trace = log.add
	}
	d, err := openDatabase(driver, dir, o, trace)
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	t := &target{binary: binary, dir: dir, base: fmt.Sprintf("https://localhost:%d", port), database: d, statements: log, client: newClient(address, o.callers)}
	t.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		fmt.Sprintf("POSTERN_SERVER_PORT=%d", port), "POSTERN_SERVER_LISTEN=" + address, "POSTERN_DATA_DIR=" + dir,
		"ADMIN_USERNAME=admin", "ADMIN_PASSWORD=quiet garden lantern 42",
		"POSTERN_THROTTLE_ENABLED=false", "POSTERN_LOG_LEVEL=error", // the load comes from one address
	}, d.env...)
	if o.procs > 0 {
		t.env = append(t.env, fmt.Sprintf("GOMAXPROCS=%d", o.procs))
	}
	return t, nil
}

// newClient returns a client that keeps a connection for each caller and trusts the certificate
// of the new server.
func newClient(address string, callers int) *http.Client {
	return &http.Client{
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			MaxIdleConnsPerHost: callers,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", address)
			},
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // self-signed, on loopback
		},
	}
}

// start runs the server and waits until it is ready.
func (t *target) start(cores string) error {
	t.log.Reset()
	t.cmd = exec.Command(t.binary, "serve")
	t.cmd.Dir, t.cmd.Env, t.cmd.Stderr = t.dir, t.env, &t.log
	begin := time.Now()
	if err := t.cmd.Start(); err != nil {
		return err
	}
	for {
		r, err := t.client.Get(t.base + "/health/readiness")
		if err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				break
			}
		}
		if readErr := syscall.Kill(t.cmd.Process.Pid, 0); readErr != nil || time.Since(begin) > time.Minute {
			return fmt.Errorf("the server is not ready: %w", errors.Join(err, readErr))
		}
		time.Sleep(time.Millisecond)
	}
	t.ready = time.Since(begin)
	return errors.Join(pin(t.cmd.Process.Pid, cores), pin(t.database.pid, cores))
}

// stop ends the server and waits for its end.
func (t *target) stop() error {
	t.client.CloseIdleConnections()
	if t.cmd == nil {
		return nil
	}
	if t.cmd.Process == nil {
		return nil // it did not start
	}
	err := t.cmd.Process.Signal(syscall.SIGTERM)
	if ended := t.cmd.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("the server: %w\n%s", ended, t.log.Bytes()))
	}
	t.cmd = nil
	return err
}

// close ends the server and removes its data.
func (t *target) close() error {
	return errors.Join(t.stop(), t.database.shut(), os.RemoveAll(t.dir))
}

// adminToken returns a token as `postern token` prints it.
func (t *target) adminToken() (string, error) {
	cmd := exec.Command(t.binary, "token")
	cmd.Dir, cmd.Env = t.dir, t.env
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("postern token: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// application creates an application and returns it.
func (t *target) application(token, body string) (a application, err error) {
	r, err := http.NewRequest(http.MethodPost, t.base+"/applications", strings.NewReader(body))
	if err != nil {
		return a, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := t.client.Do(r)
	if err != nil {
		return a, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		return a, fmt.Errorf("POST /applications: %s", answer.Status)
	}
	return a, json.NewDecoder(answer.Body).Decode(&a)
}

// application is a client of the server.
type application struct{ ID, ClientID, ClientSecret string }

// folder is where `make build` puts the binary.
func folder() string { return filepath.Join("bin", "postern") }
