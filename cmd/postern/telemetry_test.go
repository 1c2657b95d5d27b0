package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/telemetry"
)

// spanCollector is a collector of OTLP over HTTP that records what it receives.
type spanCollector struct {
	mu    sync.Mutex
	raw   bytes.Buffer
	spans []*tracepb.Span
	fault error
}

// ServeHTTP implements POST /v1/traces.
func (c *spanCollector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	unzipped, err := gzip.NewReader(r.Body)
	if err != nil {
		c.fault = err
		return
	}
	body, err := io.ReadAll(unzipped)
	var message tracepb.TracesData
	if err == nil {
		err = proto.Unmarshal(body, &message)
	}
	if err != nil {
		c.fault = err
	}
	c.raw.Write(body)
	for _, of := range message.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// observedApp is a server with metrics, traces, and its whole log.
type observedApp struct {
	*testApp
	collector *spanCollector
	logs      *logtest.Buffer
}

func newObservedApp(t *testing.T, environ ...string) *observedApp {
	t.Helper()
	o := &observedApp{collector: new(spanCollector), logs: new(logtest.Buffer)}
	receiver := httptest.NewServer(o.collector)
	t.Cleanup(receiver.Close)
	environ = append(append(testEnvironment(t.TempDir()), "POSTERN_TELEMETRY_METRICS_LISTEN=127.0.0.1:0",
		"POSTERN_TELEMETRY_TRACES_ENDPOINT="+receiver.URL), environ...)
	o.testApp = newLoggedApp(t, environ, slog.New(slog.NewJSONHandler(o.logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	return o
}

// counts are the values of all series by name and labels: name{label="value"}.
type counts map[string]float64

// scrape reads the metrics.
func (o *observedApp) scrape() (counts, string) {
	o.t.Helper()
	rec := httptest.NewRecorder()
	o.telemetry.Metrics.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if rec.Code != http.StatusOK {
		o.t.Fatalf("the scrape is answered with %d %s", rec.Code, rec.Body)
	}
	values := counts{}
	for line := range strings.Lines(rec.Body.String()) {
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		var n float64
		if err := json.Unmarshal([]byte(strings.TrimSpace(line[at:])), &n); err == nil { // NaN and Inf are of no interest
			values[line[:at]] = n
		}
	}
	return values, rec.Body.String()
}

// A sign-in with a password, its tokens and their refresh are counted, traced and logged, and what is
// secret or personal in it is in none of the three.
func TestTelemetryOfSignIn(t *testing.T) {
	o := newObservedApp(t, "POSTERN_FLOW_MAX_FAILURES=1")
	o.createPat()
	p := o.newParties("query")(t)
	before, _ := o.scrape()
	secrets := o.signInObserved(p)
	after, metrics := o.scrape()
	o.checkCounts(before, after)
	o.telemetry.Close()
	o.checkSpans()
	o.checkLog(p)
	for _, output := range []struct{ name, text string }{{"the log", o.logs.String()}, {"the metrics", metrics}, {"the spans", o.collector.raw.String()}} {
		for name, secret := range secrets {
			if secret == "" || strings.Contains(output.text, secret) {
				t.Errorf("%s: the %s %q is there, or empty", output.name, name, secret)
			}
		}
	}
}

// signInObserved signs in, refreshes, fails with a wrong password and a wrong client secret, and
// returns what must stay secret.
func (o *observedApp) signInObserved(p *party) map[string]string {
	p.t.Helper()
	code := p.code(p.ask("scope", "openid profile email offline_access"))
	got, status := p.redeem(code)
	if status != http.StatusOK || got.Refresh == "" {
		p.t.Fatalf("%d %+v", status, got)
	}
	again, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
	if status != http.StatusOK {
		p.t.Fatalf("%d %+v", status, again)
	}
	s := o.signInTo(bootstrap.ConsoleID)
	s = o.answer(s, "password", nil)
	failed := o.answer(s, "continue", map[string]string{"username": "pat", "password": "a wrong guess 77"})
	if failed.Error == nil {
		p.t.Fatalf("the wrong password is accepted: %+v", failed)
	}
	secret := p.secret
	p.secret = "no-such-secret-5501"
	if reply, status := p.redeem(code); status != http.StatusUnauthorized {
		p.t.Fatalf("%d %+v", status, reply)
	}
	return map[string]string{
		"password": rpPassword, "user name": `"pat"`, "e-mail": "pat@example.com", "name": "Pat Doe", "phone": "+15551234", "code": code, "access token": got.Access,
		"refresh token": got.Refresh, "ID token": got.ID, "second refresh token": again.Refresh, "client secret": secret, "wrong client secret": p.secret,
		"wrong password": "a wrong guess 77", "challenge token": s.ChallengeToken, "run": s.ExecutionID, "state": "a state, with", "nonce": "nonce-1",
		"administrator's password": adminPassword,
	}
}

func (o *observedApp) checkCounts(before, after counts) {
	o.t.Helper()
	for series, want := range map[string]float64{
		`postern_http_requests_total{method="POST",route="/oauth2/token",status="200"}`:            2,
		`postern_http_requests_total{method="POST",route="/oauth2/token",status="401"}`:            1,
		`postern_http_request_duration_seconds_count{route="/oauth2/token"}`:                       3,
		`postern_oauth_token_requests_total{grant="authorization_code",result="issued"}`:           1,
		`postern_oauth_token_requests_total{grant="refresh_token",result="issued"}`:                1,
		`postern_oauth_token_requests_total{grant="authorization_code",result="invalid_client"}`:   1,
		`postern_oauth_client_failures_total{method="client_secret"}`:                              1,
		`postern_flow_runs_started_total{flow="sign-in"}`:                                          2,
		`postern_flow_runs_ended_total{flow="sign-in",reason="",result="completed"}`:               1,
		`postern_flow_runs_ended_total{flow="sign-in",reason="too_many_attempts",result="failed"}`: 1,
		`postern_store_write_queue_length`:                                                         0,
	} {
		if got := after[series] - before[series]; got != want {
			o.t.Errorf("%s grew by %v, want %v", series, got, want)
		}
	}
	if grown := growth(before, after, "postern_flow_steps_total", `kind="password-authenticate"`); grown != 2 {
		o.t.Errorf("the steps of the password grew by %v, want 2", grown)
	}
	for _, name := range []string{"postern_store_write_duration_seconds_count", "postern_flow_node_duration_seconds_count", "postern_store_connections", "postern_password_hashes", "postern_build_info", "go_goroutines"} {
		if !slices.ContainsFunc(seriesNames(after), func(series string) bool { return strings.HasPrefix(series, name) }) {
			o.t.Errorf("there is no %s", name)
		}
	}
	o.checkExistence(after)
	o.checkFamilies()
}

func seriesNames(c counts) (names []string) {
	for name := range c {
		names = append(names, name)
	}
	return names
}

// growth sums the growth of the series of a metric with a label.
func growth(before, after counts, name, label string) (sum float64) {
	for series, n := range after {
		if strings.HasPrefix(series, name+"{") && strings.Contains(series, label) {
			sum += n - before[series]
		}
	}
	return sum
}

// checkExistence checks that every metric has a series after a sign-in, except those of features that
// this server does not use: the sinks, the throttle, and snapshots.
func (o *observedApp) checkExistence(after counts) {
	o.t.Helper()
	unused := []string{"postern_audit_sink_batches_total", "postern_audit_sink_lag_events", "postern_throttle_decisions_total", "postern_store_snapshot_duration_seconds"}
	names := map[string]bool{}
	for _, series := range seriesNames(after) {
		name, _, _ := strings.Cut(series, "{")
		names[strings.TrimSuffix(name, "_count")] = true
	}
	for name := range definitions(o.telemetry.Metrics) {
		if !names[name] && !slices.Contains(unused, name) {
			o.t.Errorf("after a sign-in there is no %s", name)
		}
	}
}

// checkFamilies compares everything that is exported with the definitions.
func (o *observedApp) checkFamilies() {
	o.t.Helper()
	families, err := o.telemetry.Metrics.Gatherer().Gather()
	if err != nil {
		o.t.Fatal(err)
	}
	defined := definitions(o.telemetry.Metrics)
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "go_") || strings.HasPrefix(f.GetName(), "process_") {
			continue
		}
		d, ok := defined[f.GetName()]
		if !ok || !strings.EqualFold(d.Type, f.GetType().String()) {
			o.t.Errorf("%s is exported as a %s, and defined as %+v", f.GetName(), f.GetType(), d)
			continue
		}
		for _, m := range f.GetMetric() {
			if got, want := labelNames(m), slices.Sorted(slices.Values(d.Labels)); !slices.Equal(got, want) {
				o.t.Errorf("%s has the labels %v, and is defined with %v", d.Name, got, want)
			}
		}
	}
}

func labelNames(m *dto.Metric) (names []string) {
	for _, l := range m.GetLabel() {
		names = append(names, l.GetName())
	}
	return names
}

func definitions(m *telemetry.Metrics) map[string]telemetry.Definition {
	byName := map[string]telemetry.Definition{}
	for _, d := range m.Definitions() {
		byName[d.Name] = d
	}
	return byName
}

// checkSpans checks that each request to the token endpoint and each answer has its span, and that
// those of nodes and the store are below.
func (o *observedApp) checkSpans() {
	o.t.Helper()
	c := o.collector
	if c.fault != nil {
		o.t.Fatal(c.fault)
	}
	byID, names := map[string]*tracepb.Span{}, map[string]int{}
	for _, s := range c.spans {
		byID[string(s.SpanId)] = s
		names[s.Name]++
	}
	if names["POST /oauth2/token"] != 3 || names["GET /oauth2/authorize"] == 0 {
		o.t.Errorf("the spans are %v", names)
	}
	executions := map[string]int{} // requests by run
	for _, s := range c.spans {
		for _, a := range s.Attributes {
			if a.Key == "postern.execution" {
				executions[a.Value.GetStringValue()]++
			}
		}
	}
	for _, line := range o.lines("a run failed") {
		if run, _ := line["execution"].(string); executions[run] != 3 {
			o.t.Errorf("the failed run of three requests has the spans %v", executions)
		}
	}
	checked := map[string]bool{}
	for _, s := range c.spans {
		if !strings.HasPrefix(s.Name, "node ") && !strings.HasPrefix(s.Name, "store ") {
			continue
		}
		for parent := s; len(parent.ParentSpanId) > 0; {
			next := byID[string(parent.ParentSpanId)]
			if next == nil || !bytes.Equal(next.TraceId, s.TraceId) {
				o.t.Fatalf("the parent of %s is %v", parent.Name, next)
			}
			if parent = next; parent.Name == "POST /flow/execute" {
				checked[s.Name] = true
			}
		}
	}
	if !checked["node password-authenticate"] || !checked["store write"] {
		o.t.Errorf("below POST /flow/execute there are %v", checked)
	}
	traces := map[string]bool{}
	for _, s := range c.spans {
		traces[hex.EncodeToString(s.TraceId)] = true
	}
	for _, line := range o.lines("request") {
		if id, _ := line["traceId"].(string); !traces[id] {
			o.t.Errorf("no span has the trace id of the log line %v", line)
		}
	}
}

// lines are the lines of the log with a message.
func (o *observedApp) lines(message string) (list []map[string]any) {
	o.t.Helper()
	for text := range strings.Lines(o.logs.String()) {
		var line map[string]any
		datatest.Unmarshal(o.t, []byte(text), &line)
		if line["msg"] == message {
			list = append(list, line)
		}
	}
	return list
}

// checkLog checks that the lines contain the client, the flow, the node and the user, and that the
// failed run is a warning.
func (o *observedApp) checkLog(p *party) {
	o.t.Helper()
	user := o.userNamed("pat")
	found := map[string]bool{}
	for _, line := range o.lines("request") {
		switch line["route"] {
		case "/oauth2/token":
			if line["status"] == 200.0 && line["client"] == p.id && line["user"] == user {
				found["token"] = true
			}
		case "/oauth2/authorize":
			found["authorize"] = found["authorize"] || line["client"] == p.id
		case "/flow/execute":
			found["flow"] = found["flow"] || line["flow"] == "sign-in" && line["node"] != nil && line["user"] == user && line["application"] != nil
		}
	}
	if len(found) != 3 {
		o.t.Errorf("only the lines of %v are complete: %s", found, o.logs)
	}
	failed := o.lines("a run failed")
	if len(failed) != 1 || failed[0]["level"] != "WARN" || failed[0]["error"] != "too_many_attempts" || failed[0]["flow"] != "sign-in" || failed[0]["traceId"] == "" {
		o.t.Errorf("the failed run is logged as %v", failed)
	}
}

// Files of pages are no lines of the log at its default level.
func TestAssetRequestsAreNotLogged(t *testing.T) {
	o := newObservedApp(t)
	for _, path := range []string{"/gate/signin", "/console/"} {
		rec := o.exchange(http.MethodGet, path, "")
		if rec.Code != http.StatusOK {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
	lines := o.lines("request")
	if len(lines) != 2 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if line["level"] != "DEBUG" {
			t.Errorf("logged %v", line)
		}
	}
}

// The trace id of an error reply is that of the span, and a client that sends a traceparent does not
// choose it.
func TestTraceIDOfError(t *testing.T) {
	const sent = "4bf92f3577b34da6a3ce929d0e0e4736"
	o := newObservedApp(t)
	rec := o.exchange(http.MethodGet, "/users/me", "", "Traceparent: 00-"+sent+"-00f067aa0ba902b7-01")
	var reply struct{ TraceID string }
	datatest.Unmarshal(t, rec.Body.Bytes(), &reply)
	o.telemetry.Close()
	for _, s := range o.collector.spans {
		id := hex.EncodeToString(s.TraceId)
		if id == reply.TraceID && id == rec.Header().Get("X-Trace-Id") && len(s.Links) == 1 && hex.EncodeToString(s.Links[0].TraceId) == sent {
			return
		}
	}
	t.Errorf("no span has the trace id %q and a link to %s: %v", reply.TraceID, sent, o.collector.spans)
}
