package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
)

// Asked for any free port, the server tells in its first log line which it took,
// and the origin of passkeys follows from it.
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
