package telemetry

import (
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Definition describes a metric. Names, types and labels are stable: docs/observability.md.
type Definition struct {
	Name, Type, Help string
	Labels           []string
}

// Metrics counts what the server does. Its methods are safe for concurrent use and do nothing if
// it is nil.
type Metrics struct {
	registry    *prometheus.Registry
	definitions []Definition
	log         *slog.Logger

	requests                         *prometheus.CounterVec
	durations                        *prometheus.HistogramVec
	inFlight                         prometheus.Gauge
	runsStarted, runsEnded, steps    *prometheus.CounterVec
	nodes                            *prometheus.HistogramVec
	tokens, refusedClients, verified *prometheus.CounterVec
	writes, reads                    *prometheus.HistogramVec
	calls, attempts, exports         *prometheus.CounterVec
	forwarded                        *prometheus.CounterVec
	auditBroken                      prometheus.Gauge

	flows, flowEnds, flowSteps, grants *admission
}

// The buckets of histograms in seconds. The targets of the service are below 5 ms for most
// requests; a password takes about 50 ms.
func durationBuckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
}

// NewMetrics returns metrics of a version of the program. Faults of a scrape are logged.
func NewMetrics(version string, log *slog.Logger) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), log: log,
		flows: newAdmission(maxFlows), flowEnds: newAdmission(maxFlowEnds), flowSteps: newAdmission(maxFlowSteps), grants: newAdmission(maxTokens),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.gauge("postern_build_info", "The running program; always 1.", "version", "go_version").WithLabelValues(version, runtime.Version()).Set(1)
	m.requests = m.counter("postern_http_requests_total", "HTTP requests that were answered.", "route", "method", "status")
	m.durations = m.histogram("postern_http_request_duration_seconds", "Time from a request to the end of its reply.", "route")
	m.inFlight = m.gauge("postern_http_requests_in_flight", "HTTP requests in progress.").WithLabelValues()
	m.addFlowMetrics()
	m.tokens = m.counter("postern_oauth_token_requests_total", "Requests to the token endpoint by the result: issued, or the error code.", "grant", "result")
	m.refusedClients = m.counter("postern_oauth_client_failures_total", "Failed authentications of OAuth clients.", "method")
	m.verified = m.counter("postern_token_verifications_total", "Verifications of tokens that callers sent.", "result")
	m.writes = m.histogram("postern_store_write_duration_seconds", "Time of a write to the store with its wait and its commit.", "mode", "result")
	m.reads = m.histogram("postern_store_snapshot_duration_seconds", "Time of a transaction that only reads.", "result")
	m.calls = m.counter("postern_outbound_requests_total", "HTTP requests to other servers by the class of the reply, or error.", "result")
	m.attempts = m.counter("postern_delivery_attempts_total", "Attempts to send a delivery.", "kind", "result")
	m.exports = m.counter("postern_trace_exports_total", "Batches of spans that were sent to the collector.", "result")
	m.forwarded = m.counter("postern_audit_sink_batches_total", "Batches of audit events that were sent to a sink.", "sink", "result")
	m.auditBroken = m.gauge("postern_audit_broken", "1 while the audit log is not sealed because it was changed.").WithLabelValues()
	m.beginAtZero()
	return m
}

// beginAtZero creates series before their first event: Prometheus computes no increase from a series
// that does not exist to its first value, so that an alert would miss the first fault.
func (m *Metrics) beginAtZero() {
	for _, method := range []string{"client_secret", "private_key_jwt"} {
		m.refusedClients.WithLabelValues(method)
	}
	for _, grant := range []string{"authorization_code", "refresh_token", "client_credentials"} {
		m.tokens.WithLabelValues(m.grants.admit(grant, "issued")...)
	}
	for _, result := range []string{"accepted", "rejected", "error"} {
		m.verified.WithLabelValues(result)
	}
	for _, result := range []string{"2xx", "3xx", "4xx", "5xx", "error"} {
		m.calls.WithLabelValues(result)
	}
	for _, result := range []string{"ok", "error"} {
		m.exports.WithLabelValues(result)
	}
}

func (m *Metrics) addFlowMetrics() {
	m.runsStarted = m.counter("postern_flow_runs_started_total", "Runs that were started.", "flow")
	m.runsEnded = m.counter("postern_flow_runs_ended_total", "Runs that ended, by the result and the error code.", "flow", "result", "reason")
	m.steps = m.counter("postern_flow_steps_total", "Decisions of nodes by their result and outcome.", "flow", "node", "kind", "result", "outcome")
	m.nodes = m.histogram("postern_flow_node_duration_seconds", "Time of the decision of a node.", "kind")
}

func (m *Metrics) define(typ, name, help string, labels []string) {
	m.definitions = append(m.definitions, Definition{Name: name, Type: typ, Help: help, Labels: labels})
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	m.define("counter", name, help, labels)
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	m.define("gauge", name, help, labels)
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	m.define("histogram", name, help, labels)
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: durationBuckets()}, labels)
	m.registry.MustRegister(v)
	return v
}

// Definitions returns the metrics of this package, sorted by name. The collectors of the process
// and of Go have others, which begin with process_ and go_.
func (m *Metrics) Definitions() []Definition {
	list := slices.Clone(m.definitions)
	slices.SortFunc(list, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Gatherer returns the values of the metrics.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Handler serves GET /metrics. A metric that cannot be read is missing and logged.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: scrapeLog{m.log}, MaxRequestsInFlight: 4,
	}))
	return mux
}

// scrapeLog logs the faults of scrapes.
type scrapeLog struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(v ...any) { l.log.Warn("reading the metrics", "fault", v) }

// countRequest counts a finished request.
func (m *Metrics) countRequest(x Exchange) {
	if m == nil {
		return
	}
	route := x.Route
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, oneOf(methods(), x.Method), strconv.Itoa(x.Status)).Inc()
	m.durations.WithLabelValues(route).Observe(x.Duration.Seconds())
}

// StartRun counts a run that starts. The series of failed runs with the error code fault begins at 0.
func (m *Metrics) StartRun(flow, fault string) {
	if m != nil {
		m.runsStarted.WithLabelValues(m.flows.admit(flow)...).Inc()
		m.ended(flow, "failed", fault)
	}
}

func (m *Metrics) ended(flow, result, reason string) prometheus.Counter {
	v := m.flowEnds.admit(flow, reason)
	return m.runsEnded.WithLabelValues(v[0], result, v[1])
}

// EndRun counts a run that ended. The reason is the error code of a failed run, otherwise "".
func (m *Metrics) EndRun(flow, result, reason string) {
	if m != nil {
		m.ended(flow, result, reason).Inc()
	}
}

// CountDecision counts a decision of a node. The outcome is "" unless the run left the node.
func (m *Metrics) CountDecision(d Decision) {
	if m != nil {
		v := m.flowSteps.admit(d.Flow, d.Node, d.Outcome)
		m.steps.WithLabelValues(v[0], v[1], d.Kind, d.Result, v[2]).Inc()
		m.nodes.WithLabelValues(d.Kind).Observe(d.Duration.Seconds())
	}
}

// Decision is a decision of a node in a run.
type Decision struct {
	Flow, Node, Kind string
	Result           string // see engine.Exit
	Outcome          string
	Duration         time.Duration
}

// CountTokenRequest counts a request to the token endpoint. The result is "issued" or the error
// code of RFC 6749 §5.2.
func (m *Metrics) CountTokenRequest(grant, result string) {
	if m != nil {
		m.tokens.WithLabelValues(m.grants.admit(grant, result)...).Inc()
	}
}

// CountRefusedClient counts an OAuth client that failed to authenticate.
func (m *Metrics) CountRefusedClient(method string) {
	if m != nil {
		m.refusedClients.WithLabelValues(method).Inc()
	}
}

// CountVerification counts a verification of a token: accepted, rejected or error.
func (m *Metrics) CountVerification(result string) {
	if m != nil {
		m.verified.WithLabelValues(result).Inc()
	}
}

// CountDelivery counts an attempt to send a delivery: sent, failed or refused.
func (m *Metrics) CountDelivery(kind, result string) {
	if m != nil {
		m.attempts.WithLabelValues(kind, result).Inc()
	}
}

// CountForwarded counts a batch of audit events for a sink.
func (m *Metrics) CountForwarded(sink string, err error) {
	if m != nil {
		m.forwarded.WithLabelValues(sink, resultOf(err)).Inc()
	}
}

// SetAuditBroken reports whether the audit log was changed, so that it is not sealed.
func (m *Metrics) SetAuditBroken(broken bool) {
	switch {
	case m == nil:
	case broken:
		m.auditBroken.Set(1)
	default:
		m.auditBroken.Set(0)
	}
}

// observeStore records a transaction of the store: see Telemetry.BeginStore.
func (m *Metrics) observeStore(mode, result string, took time.Duration) {
	switch {
	case m == nil:
	case mode == "snapshot":
		m.reads.WithLabelValues(result).Observe(took.Seconds())
	default:
		m.writes.WithLabelValues(mode, result).Observe(took.Seconds())
	}
}

// countCall counts a request to another server.
func (m *Metrics) countCall(status int, err error) {
	if m == nil {
		return
	}
	result := "error"
	if err == nil && status >= 100 && status < 600 {
		result = strconv.Itoa(status/100) + "xx"
	}
	m.calls.WithLabelValues(result).Inc()
}

func (m *Metrics) countExport(err error) {
	if m != nil {
		m.exports.WithLabelValues(resultOf(err)).Inc()
	}
}

// resultOf is the label of a result.
func resultOf(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}
