// Package telemetry exports metrics for Prometheus and traces for OpenTelemetry.
//
// A [Telemetry] has [Metrics], which a Prometheus server reads over HTTP, and a tracer, which sends
// spans to a collector. Both are off unless configured. All methods accept nil receivers, which do
// nothing, so callers need no conditions. Counters and histograms of events are in metrics.go; values that
// are read at each scrape, such as the length of a queue, are in gauges.go.
//
// # Labels
//
// Label values come from a fixed list or from resources that administrators create. A label of the
// second kind has a limit: further values are counted as [Other]. Values that a client sends, such as
// paths and names, are never labels.
//
// # Privacy
//
// Metrics contain no users and no clients. Spans contain the ids that the access log contains, and
// never inputs, tokens, names or texts of errors.
//
// # Faults
//
// Spans are sent in the background from a bounded queue. A collector that is slow or down loses spans
// and delays no request.
package telemetry
