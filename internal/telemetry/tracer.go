package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

const (
	// maxQueuedSpans bounds the memory of spans that wait for the collector; further ones are lost.
	maxQueuedSpans = 2048
	// exportTimeout bounds one request to the collector.
	exportTimeout = 10 * time.Second
	// closeTimeout bounds how long spans delay the end of the process.
	closeTimeout = 3 * time.Second
)

// TraceOptions configure a Tracer.
type TraceOptions struct {
	// Endpoint is the URL to which spans are posted, with its path: OTLP/HTTP §Request.
	Endpoint string
	// Authorization is the value of the header field of that name, "" for none. It is a secret.
	Authorization string
	// Ratio is the share of the requests that are traced, from 0 to 1. Trusted senders decide for
	// their own requests.
	Ratio   float64
	Version string
	Metrics *Metrics
	Log     *slog.Logger
}

// Tracer creates spans and sends them to a collector. A nil Tracer creates none.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// NewTracer returns a tracer. It does not connect to the collector.
func NewTracer(o TraceOptions) *Tracer {
	exporter, _ := otlptrace.New(context.Background(), newCollector(o)) // starting this client cannot fail
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "postern"), attribute.String("service.version", o.Version))),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Ratio))),
		sdktrace.WithBatcher(exporter,
			sdktrace.WithMaxQueueSize(maxQueuedSpans), sdktrace.WithExportTimeout(exportTimeout), sdktrace.WithBatchTimeout(time.Second)),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer("github.com/postern-id/postern")}
}

// startRequest starts the span of a request, which continues the trace of a trusted parent.
func (t *Tracer) startRequest(ctx context.Context, parent trace.SpanContext, trusted bool) (context.Context, trace.Span) {
	if t == nil {
		return ctx, noop.Span{}
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	switch {
	case !parent.IsValid():
	case trusted:
		ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
	default:
		options = append(options, trace.WithLinks(trace.Link{SpanContext: parent}))
	}
	return t.tracer.Start(ctx, "request", options...)
}

// start starts a span below that of the context, if there is one.
func (t *Tracer) start(ctx context.Context, name string, kind trace.SpanKind, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	if t == nil {
		return ctx, noop.Span{}
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
}

// startChild is start, but starts no span without a parent: background tasks read and write the
// store every second.
func (t *Tracer) startChild(ctx context.Context, name string, kind trace.SpanKind, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, noop.Span{}
	}
	return t.start(ctx, name, kind, attributes...)
}

// end ends a span. The text of an error can contain personal data and is no part of the span.
func end(span trace.Span, failed bool, attributes ...attribute.KeyValue) {
	if failed {
		span.SetStatus(codes.Error, "")
	}
	span.SetAttributes(attributes...)
	span.End()
}

// endRequest ends the span of a request. Faults of clients are no errors of the server.
func endRequest(span trace.Span, x Exchange) {
	if !span.IsRecording() {
		span.End()
		return
	}
	method := oneOf(methods(), x.Method)
	span.SetName(method + " " + x.Route)
	list := []attribute.KeyValue{
		attribute.String("http.request.method", method), attribute.String("http.route", x.Route), attribute.Int("http.response.status_code", x.Status),
	}
	for name, value := range map[string]string{
		"error.type": x.Code, "postern.client": x.Client, "postern.application": x.Application,
		"postern.flow": x.Flow, "postern.node": x.Node, "postern.execution": x.Execution, "user.id": x.User,
	} {
		if value != "" {
			list = append(list, attribute.String(name, value))
		}
	}
	end(span, x.Status >= 500, list...)
}
