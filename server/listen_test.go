package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/server"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestServeStopsGracefully(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		if r.Context().Err() != nil {
			t.Error("the request in flight was cancelled")
		}
		_, _ = io.WriteString(w, "finished")
	})
	l := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l, h, nil, slog.New(slog.DiscardHandler)) }()
	reply := make(chan string, 1)
	go func() {
		res, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			reply <- err.Error()
			return
		}
		body, _ := io.ReadAll(res.Body)
		reply <- string(body)
	}()
	<-arrived
	cancel()
	for { // until the listener is closed
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		_ = c.Close()
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-served:
		t.Fatalf("Serve returned %v with a request in flight", err)
	default:
	}
	close(release)
	if got := <-reply; got != "finished" {
		t.Errorf("the request in flight got %q", got)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestServeExplainsFailures(t *testing.T) {
	l := listen(t)
	_ = l.Close()
	err := server.Serve(context.Background(), l, http.NotFoundHandler(), nil, slog.New(slog.DiscardHandler))
	if !errors.Is(err, net.ErrClosed) || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("got %v", err)
	}
}

// The whole server, over TLS with its own certificate, to a client that trusts
// that certificate alone.
func TestServeTLS(t *testing.T) {
	config, err := server.Certificate(server.CertificateOptions{DataDir: t.TempDir(), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	w := newPasskeyFixture(t)
	l := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l, w.handler, config, slog.New(slog.DiscardHandler)) }()
	roots := x509.NewCertPool()
	roots.AddCert(config.Certificates[0].Leaf)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	base := "https://localhost:" + strings.Split(l.Addr().String(), ":")[1]
	res, err := client.Get(base + "/health/liveness")
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 || res.ProtoMajor != 2 {
		t.Errorf("%s %s", res.Proto, res.Status)
	}
	res, err = client.Post(base+"/flow/execute", "application/json", strings.NewReader(begin))
	if err != nil || res.StatusCode != 200 {
		t.Errorf("%v %v", res, err)
	}
	// A body past the limit that does not tell its length.
	res, err = client.Post(base+"/flow/execute", "application/json", io.MultiReader(strings.NewReader(`"`), io.LimitReader(endless{}, 1<<20)))
	if err != nil || res.StatusCode != 413 {
		t.Errorf("a chunked body past the limit: %v %v", res, err)
	}
	client.CloseIdleConnections()
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A connection that cannot be accepted is a warning; a failed handshake is not.
func TestConnectionLog(t *testing.T) {
	for report, want := range map[string]string{
		"http: Accept error: accept tcp [::]:8090: accept4: too many open files; retrying in 5ms\n": "level=WARN",
		"http: TLS handshake error from 192.0.2.1:4321: EOF\n":                                      "level=DEBUG",
	} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		if _, err := server.NewConnectionLog(logger).Write([]byte(report)); err != nil || !strings.Contains(log.String(), want) {
			t.Errorf("%q is logged as %q, %v", report, log.String(), err)
		}
	}
}
