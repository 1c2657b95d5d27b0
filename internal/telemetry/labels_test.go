package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// seriesOf returns the series of a metric, as lines of a scrape.
func seriesOf(t *testing.T, m *Metrics, name string) (series []string) {
	t.Helper()
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(rec.Body.String()) {
		if strings.HasPrefix(line, name+"{") {
			series = append(series, strings.TrimSpace(line))
		}
	}
	return series
}

func newTestMetrics() *Metrics {
	return NewMetrics("test", slog.New(slog.NewTextHandler(io.Discard, nil)))
}

// Thousands of flows, nodes, reasons, paths and methods create a bounded number of series, and every
// count is kept.
func TestLabelsAreBounded(t *testing.T) {
	const many = 5000
	m := newTestMetrics()
	for i := range many {
		name := fmt.Sprintf("made-up-%d", i)
		m.StartRun(name, "expression_failed")
		m.EndRun(name, "failed", name)
		m.CountDecision(Decision{Flow: name, Node: name, Kind: "prompt", Result: "left", Outcome: name})
		m.CountTokenRequest(name, name)
		m.countRequest(Exchange{Route: "", Method: name, Status: 404})
	}
	for name, limit := range map[string]int{
		"postern_flow_runs_started_total": maxFlows, "postern_flow_runs_ended_total": maxFlowEnds, "postern_flow_steps_total": maxFlowSteps,
		"postern_oauth_token_requests_total": maxTokens, "postern_http_requests_total": 0,
	} {
		series := seriesOf(t, m, name)
		if len(series) != limit+1 {
			t.Errorf("%s has %d series, want %d and one of others", name, len(series), limit)
		}
		sum := 0.0
		for _, line := range series {
			var n float64
			if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &n); err != nil {
				t.Fatal(err)
			}
			sum += n
		}
		if sum != many {
			t.Errorf("%s counted %v of %d", name, sum, many)
		}
	}
	if others := seriesOf(t, m, "postern_http_requests_total"); len(others) != 1 || others[0] != fmt.Sprintf(`postern_http_requests_total{method="other",route="none",status="404"} %d`, many) {
		t.Errorf("requests of unknown paths: %v", others)
	}
}

// A counter whose labels are known begins at 0: otherwise an alert on its increase misses the first fault.
func TestCountersBeginAtZero(t *testing.T) {
	m := newTestMetrics()
	m.Watch(Sources{
		Store: func() Store { return Store{} }, Passwords: func() Passwords { return Passwords{} }, Throttle: func() []Throttled { return nil },
		Queues: func(context.Context) ([]Queue, error) {
			return []Queue{{Kind: "call", Length: 3, Oldest: time.Now()}}, nil
		},
		Lags:  func(context.Context) ([]Lag, error) { return nil, nil },
		Kinds: []string{"mail", "call"},
	})
	m.StartRun("sign-in", "expression_failed")
	for name, want := range map[string][]string{
		"postern_oauth_client_failures_total": {`{method="client_secret"} 0`, `{method="private_key_jwt"} 0`},
		"postern_flow_runs_ended_total":       {`{flow="sign-in",reason="expression_failed",result="failed"} 0`},
		"postern_oauth_token_requests_total": {
			`{grant="authorization_code",result="issued"} 0`, `{grant="client_credentials",result="issued"} 0`, `{grant="refresh_token",result="issued"} 0`,
		},
		"postern_trace_exports_total":   {`{result="error"} 0`, `{result="ok"} 0`},
		"postern_delivery_queue_length": {`{kind="call"} 3`, `{kind="mail"} 0`},
		"postern_delivery_attempts_total": {
			`{kind="call",result="failed"} 0`, `{kind="call",result="refused"} 0`, `{kind="call",result="sent"} 0`,
			`{kind="mail",result="failed"} 0`, `{kind="mail",result="refused"} 0`, `{kind="mail",result="sent"} 0`,
		},
	} {
		for i := range want {
			want[i] = name + want[i]
		}
		if got := seriesOf(t, m, name); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
}

// A flow that was counted before the limit was reached is counted under its name afterwards.
func TestAdmittedLabelsStay(t *testing.T) {
	a := newAdmission(2)
	for _, test := range []struct{ flow, node, want string }{
		{"a", "x", "[a x]"}, {"b", "", "[b ]"}, {"c", "x", "[other other]"}, {"c", "", "[other ]"}, {"a", "x", "[a x]"}, {"a", "y", "[other other]"},
	} {
		if got := fmt.Sprint(a.admit(test.flow, test.node)); got != test.want {
			t.Errorf("%s %s: %s, want %s", test.flow, test.node, got, test.want)
		}
	}
}

// Nothing is counted and nothing fails without telemetry.
func TestNilTelemetry(t *testing.T) {
	var off *Telemetry
	ctx, id, end := off.BeginRequest(t.Context(), nil, false)
	if len(id) != 32 {
		t.Errorf("trace id %q", id)
	}
	end(Exchange{})
	for _, on := range []*Telemetry{nil, {}, {Metrics: newTestMetrics()}} {
		_, endNode := on.BeginNode(ctx, "flow", "node", "kind")
		endNode("left", "done")
		_, endStore := on.BeginStore(ctx, "write")
		endStore("ok")
		_, endCall := on.BeginCall(ctx, "GET", "host")
		endCall(200, nil)
		_, endDelivery := on.BeginDelivery(ctx, "mail")
		endDelivery("sent")
		m := on.Counted()
		m.StartRun("flow", "expression_failed")
		m.EndRun("flow", "completed", "")
		m.CountTokenRequest("refresh_token", "issued")
		m.CountRefusedClient("client_secret")
		m.CountVerification("accepted")
		m.CountForwarded("file", nil)
		on.Close()
	}
}

// BenchmarkRequest is the cost of the metrics of a request.
func BenchmarkRequest(b *testing.B) {
	on := &Telemetry{Metrics: newTestMetrics()}
	for b.Loop() {
		_, _, end := on.BeginRequest(b.Context(), nil, false)
		end(Exchange{Route: "/flow/execute", Method: "POST", Status: 200, Duration: time.Millisecond})
	}
}
