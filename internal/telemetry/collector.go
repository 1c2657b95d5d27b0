package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector sends spans to an OpenTelemetry collector: OTLP/HTTP with binary protobuf. It is the
// client of the official exporter. The official client for HTTP would link gRPC, which adds
// several megabytes to the program.
type collector struct {
	TraceOptions
	http    *http.Client
	failing atomic.Bool
}

func newCollector(o TraceOptions) *collector {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &collector{TraceOptions: o, http: &http.Client{
		Transport: transport, Timeout: exportTimeout,
		// A redirect would carry the spans elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. Spans that the collector does not accept are lost. It
// returns nil even then: the SDK would print the error in a form of its own. The log reports the
// first failure after a success, and the first success after a failure.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	err := c.post(ctx, spans)
	c.Metrics.countExport(err)
	switch {
	case err != nil && !c.failing.Swap(true):
		c.Log.Warn("sending spans failed; they are lost until the collector accepts them again", "error", err)
	case err == nil && c.failing.Swap(false):
		c.Log.Info("the collector accepts spans again")
	}
	return nil
}

// post sends a TracesData, which has the encoding of an ExportTraceServiceRequest.
func (c *collector) post(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	message, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	var body bytes.Buffer
	compressed := gzip.NewWriter(&body)
	_, _ = compressed.Write(message) // a Buffer accepts everything
	_ = compressed.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint, &body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	if c.Authorization != "" {
		r.Header.Set("Authorization", c.Authorization)
	}
	reply, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	const enough = 64 << 10
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, enough)) // so that the connection can be used again
	if reply.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answered with %d, expected 2xx", reply.StatusCode)
	}
	return nil
}
