package telemetry

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Telemetry observes the server. A nil Telemetry only assigns trace ids.
type Telemetry struct {
	// Metrics is nil if metrics are off.
	Metrics *Metrics
	// Tracer is nil if traces are off.
	Tracer *Tracer
	// Log receives faults of the telemetry itself.
	Log *slog.Logger
}

// Exchange is an answered request. Members about what a request did not concern are "".
type Exchange struct {
	Method   string
	Route    string // the template of the path, "" for an unknown one
	Status   int
	Code     string // of the error
	Duration time.Duration

	Client, Application, Flow, Node, User string // ids, and the handle of the flow
	Execution                             string // the digest of the id of the run
}

// BeginRequest begins the span of a request. It returns the context of the request, its trace id
// of 32 hexadecimal digits, and a function that is called with the answered request.
//
// The traceparent of a trusted sender (W3C Trace Context §3.2) continues its trace. That of any
// other only becomes a link: otherwise a client could add to the trace of another request and
// decide what is sampled.
func (t *Telemetry) BeginRequest(ctx context.Context, h http.Header, trusted bool) (context.Context, string, func(Exchange)) {
	var parent trace.SpanContext
	if h["Traceparent"] != nil {
		parent = trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(h)))
	}
	if t == nil {
		return ctx, traceID(parent, trusted), func(Exchange) {}
	}
	if t.Metrics != nil {
		t.Metrics.inFlight.Inc()
	}
	ctx, span := t.Tracer.startRequest(ctx, parent, trusted)
	id := traceID(parent, trusted)
	if span.SpanContext().HasTraceID() {
		id = span.SpanContext().TraceID().String()
	}
	return ctx, id, func(x Exchange) {
		if t.Metrics != nil {
			t.Metrics.inFlight.Dec()
		}
		t.Metrics.countRequest(x)
		endRequest(span, x)
	}
}

// traceID returns the trace id of a trusted parent, otherwise a new one.
func traceID(parent trace.SpanContext, trusted bool) string {
	if trusted && parent.IsValid() {
		return parent.TraceID().String()
	}
	var id trace.TraceID
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64()) // an id is unique, but no secret
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	return id.String()
}

// BeginNode begins the span of a decision of a node.
func (t *Telemetry) BeginNode(ctx context.Context, flow, node, kind string) (context.Context, func(result, outcome string)) {
	if t == nil {
		return ctx, func(string, string) {}
	}
	begun := time.Now()
	ctx, span := t.Tracer.start(ctx, "node "+kind, trace.SpanKindInternal,
		attribute.String("postern.flow", flow), attribute.String("postern.node", node), attribute.String("postern.kind", kind))
	return ctx, func(result, outcome string) {
		t.Metrics.CountDecision(Decision{Flow: flow, Node: node, Kind: kind, Result: result, Outcome: outcome, Duration: time.Since(begun)})
		end(span, result == "error", attribute.String("postern.result", result), attribute.String("postern.outcome", outcome))
	}
}

// BeginStore begins the span of a transaction of the store: write, single, serial or snapshot. The
// result is ok, rejected (by a rule of the product), canceled, unavailable or error.
func (t *Telemetry) BeginStore(ctx context.Context, mode string) (context.Context, func(result string)) {
	if t == nil {
		return ctx, func(string) {}
	}
	begun := time.Now()
	ctx, span := t.Tracer.startChild(ctx, "store "+mode, trace.SpanKindClient, attribute.String("db.operation.name", mode))
	return ctx, func(result string) {
		t.Metrics.observeStore(mode, result, time.Since(begun))
		end(span, result == "error" || result == "unavailable", attribute.String("postern.result", result))
	}
}

// BeginCall begins the span of an HTTP request to another server. The span has no path and no
// query, which can contain secrets.
func (t *Telemetry) BeginCall(ctx context.Context, method, host string) (context.Context, func(status int, err error)) {
	if t == nil {
		return ctx, func(int, error) {}
	}
	ctx, span := t.Tracer.start(ctx, "call "+method, trace.SpanKindClient,
		attribute.String("http.request.method", method), attribute.String("server.address", host))
	return ctx, func(status int, err error) {
		t.Metrics.countCall(status, err)
		end(span, err != nil, attribute.Int("http.response.status_code", status))
	}
}

// BeginDelivery begins the span of an attempt to send a delivery.
func (t *Telemetry) BeginDelivery(ctx context.Context, kind string) (context.Context, func(result string)) {
	if t == nil {
		return ctx, func(string) {}
	}
	ctx, span := t.Tracer.start(ctx, "delivery "+kind, trace.SpanKindProducer, attribute.String("postern.delivery", kind))
	return ctx, func(result string) {
		t.Metrics.CountDelivery(kind, result)
		end(span, result != "sent", attribute.String("postern.result", result))
	}
}

// Counted returns the metrics, nil if there are none.
func (t *Telemetry) Counted() *Metrics {
	if t == nil {
		return nil
	}
	return t.Metrics
}

// Close sends the queued spans, for a few seconds at most.
func (t *Telemetry) Close() {
	if t == nil || t.Tracer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := t.Tracer.provider.Shutdown(ctx); err != nil {
		t.Log.Warn("the last spans were not sent", "error", err)
	}
}
