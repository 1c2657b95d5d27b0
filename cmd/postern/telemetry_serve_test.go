package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// get returns the status and the body of a page.
func get(t *testing.T, address string) (int, string) {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// Metrics and profiles have listeners of their own, which end with the server. The collector of the
// spans does not answer, which neither delays the start nor makes the end fail.
func TestServeTelemetry(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent.Close() // connections are refused
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	logs, w := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		exit <- program{
			args: []string{"serve", "--listen", "127.0.0.1:0"},
			environ: append(testEnvironment(t.TempDir()), "POSTERN_SERVER_HTTP_ONLY=true", "POSTERN_TELEMETRY_METRICS_LISTEN=127.0.0.1:0",
				"POSTERN_TELEMETRY_PPROF_LISTEN=127.0.0.1:0", "POSTERN_TELEMETRY_TRACES_ENDPOINT=http://"+silent.Addr().String()),
			stdout: io.Discard, stderr: w,
		}.run(ctx)
		w.Close()
	}()
	line := regexp.MustCompile(`msg="?(listening[a-z ]*)"? addr=(\S+)`)
	at := map[string]string{}
	for lines := bufio.NewScanner(logs); len(at) < 3 && lines.Scan(); {
		if found := line.FindStringSubmatch(lines.Text()); found != nil {
			at[found[1]] = "http://" + found[2]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, logs) }()
	main, metrics, profiles := at["listening"], at["listening for metrics"], at["listening for profiles"]
	if main == "" || metrics == "" || profiles == "" {
		stop()
		t.Fatalf("the server listens at %v, exit code %d", at, <-exit)
	}
	get(t, main+"/health/liveness")
	if status, text := get(t, metrics+"/metrics"); status != 200 || !strings.Contains(text, `postern_http_requests_total{method="GET",route="/health/liveness",status="200"} 1`) {
		t.Errorf("the metrics: %d %s", status, text)
	}
	if status, text := get(t, profiles+"/debug/pprof/goroutine?debug=1"); status != 200 || !strings.Contains(text, "goroutine profile") {
		t.Errorf("the profiles: %d %s", status, text)
	}
	for _, wrong := range []string{main + "/metrics", main + "/debug/pprof/", metrics + "/debug/pprof/", profiles + "/metrics", metrics + "/health/liveness"} {
		if status, _ := get(t, wrong); status != 404 {
			t.Errorf("%s: %d", wrong, status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if code := <-exit; code != exitFine {
		t.Errorf("exit code %d", code)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(metrics, "http://")); err == nil {
		t.Error("the metrics are served after the end")
	}
}

// An address that is in use is reported with its key before anything starts.
func TestServeTelemetryInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for key, variable := range map[string]string{"telemetry.metrics.listen": "POSTERN_TELEMETRY_METRICS_LISTEN", "telemetry.pprof.listen": "POSTERN_TELEMETRY_PPROF_LISTEN"} {
		code, reported := start(t, []string{"--listen=127.0.0.1:0"}, "POSTERN_DATA_DIR="+t.TempDir(), variable+"="+taken.Addr().String())
		if code != exitUsage || !strings.Contains(reported, key+": "+taken.Addr().String()+" is in use") {
			t.Errorf("exit code %d: %s", code, reported)
		}
	}
}
