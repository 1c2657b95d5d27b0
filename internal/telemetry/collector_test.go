package telemetry

import (
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/postern-id/postern/internal/logtest"
)

// fakeCollector records the spans that it receives.
type fakeCollector struct {
	*httptest.Server
	status int
	wait   chan struct{} // closed when requests are answered; nil: at once

	mu     sync.Mutex
	spans  []*tracepb.Span
	header http.Header
}

func newFakeCollector(t *testing.T) *fakeCollector {
	f := &fakeCollector{status: http.StatusOK}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.wait != nil {
		<-f.wait
	}
	var message tracepb.TracesData
	body, err := gzip.NewReader(r.Body)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(body)
	}
	if err = errors.Join(err, proto.Unmarshal(text, &message)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.header = r.Header
	for _, of := range message.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			f.spans = append(f.spans, scope.Spans...)
		}
	}
	w.WriteHeader(f.status)
}

// tracing returns telemetry that sends its spans to the collector, and its log.
func (f *fakeCollector) tracing(ratio float64) (*Telemetry, *logtest.Buffer) {
	text := &logtest.Buffer{}
	log := slog.New(slog.NewTextHandler(text, nil))
	metrics := newTestMetrics()
	return &Telemetry{Metrics: metrics, Log: log, Tracer: NewTracer(TraceOptions{
		Endpoint: f.URL + "/v1/traces", Authorization: "Bearer collector-key", Ratio: ratio, Version: "test", Metrics: metrics, Log: log,
	})}, text
}

const (
	sentTrace  = "0af7651916cd43dd8448eb211c80319c"
	sentParent = "00-" + sentTrace + "-b7ad6b7169203331-01"
)

// A trusted sender continues its trace and decides about sampling. Any other becomes a link.
func TestTraceParents(t *testing.T) {
	for _, test := range []struct {
		name            string
		trusted         bool
		parent          string
		ratio           float64
		continues, link bool
		spans           int
	}{
		{"a proxy", true, sentParent, 0, true, false, 1},
		{"a proxy that does not sample", true, strings.TrimSuffix(sentParent, "1") + "0", 1, true, false, 0},
		{"a client", false, sentParent, 1, false, true, 1},
		{"a client that wants to be sampled", false, sentParent, 0, false, false, 0},
		{"a client with nonsense", false, "00-x", 1, false, false, 1},
		{"no parent", true, "", 1, false, false, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeCollector(t)
			on, _ := f.tracing(test.ratio)
			ctx, id, end := on.BeginRequest(t.Context(), http.Header{"Traceparent": {test.parent}}, test.trusted)
			_, endStore := on.BeginStore(ctx, "single")
			endStore("ok")
			end(Exchange{Method: "GET", Route: "/x", Status: 200})
			on.Close()
			if len(id) != 32 || (id == sentTrace) != test.continues {
				t.Errorf("trace id %q", id)
			}
			if len(f.spans) != 2*test.spans {
				t.Fatalf("%d spans, want %d", len(f.spans), 2*test.spans)
			}
			if test.spans == 0 {
				return
			}
			child, root := f.spans[0], f.spans[1]
			if string(child.ParentSpanId) != string(root.SpanId) || root.Name != "GET /x" || len(root.Links) > 0 != test.link {
				t.Errorf("spans %v", f.spans)
			}
			if f.header.Get("Authorization") != "Bearer collector-key" || f.header.Get("Content-Type") != "application/x-protobuf" {
				t.Errorf("header %v", f.header)
			}
		})
	}
}

// A failing collector is logged once, without the key, and the process ends in time.
func TestFailingCollector(t *testing.T) {
	f := newFakeCollector(t)
	f.status = http.StatusInternalServerError
	on, log := f.tracing(1)
	for range 3 {
		_, _, end := on.BeginRequest(t.Context(), nil, false)
		end(Exchange{})
		if err := on.Tracer.provider.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	on.Close()
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "answered with 500") || strings.Contains(text, "collector-key") {
		t.Errorf("the log is %s", text)
	}
	if got := strings.Join(seriesOf(t, on.Metrics, "postern_trace_exports_total"), "\n"); got != "postern_trace_exports_total{result=\"error\"} 3\npostern_trace_exports_total{result=\"ok\"} 0" {
		t.Errorf("exports %s", got)
	}
}

// Requests do not wait for a collector that does not answer; spans beyond the queue are lost.
func TestSlowCollector(t *testing.T) {
	f := newFakeCollector(t)
	f.wait = make(chan struct{})
	on, _ := f.tracing(1)
	for range 4 * maxQueuedSpans {
		_, _, end := on.BeginRequest(t.Context(), nil, false)
		end(Exchange{Status: 200})
	}
	close(f.wait)
	on.Close()
	if n := len(f.spans); n == 0 || n >= 4*maxQueuedSpans {
		t.Errorf("%d spans arrived", n)
	}
}
