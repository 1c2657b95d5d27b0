package telemetry

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Sources are the parts of the server that count by themselves. They are read at each scrape. All
// members are required.
type Sources struct {
	Store     func() Store
	Passwords func() Passwords
	Throttle  func() []Throttled
	// Queues and Lags read the store. Their results are used again for a few seconds, so that
	// scrapes cannot load it.
	Queues func(ctx context.Context) ([]Queue, error)
	// Kinds are the kinds of deliveries. A kind that Queues does not return has the length 0.
	Kinds []string
	Lags  func(ctx context.Context) ([]Lag, error)
}

// Store describes the state of the store.
type Store struct {
	Waiting int // writes in the queue
	Retries int64
	Pools   map[string]sql.DBStats // by name
}

// Passwords describes the pool that hashes passwords.
type Passwords struct {
	Running, Waiting int
	Refused          int64 // callers that found no place to wait
}

// Throttled counts the decisions of the throttle at an endpoint.
type Throttled struct {
	Endpoint          string
	Admitted, Refused int64
}

// Queue describes the waiting deliveries of a kind.
type Queue struct {
	Kind   string
	Length int
	Oldest time.Time
}

// Lag is the number of sealed audit events that a sink has not received.
type Lag struct {
	Sink   string
	Events int64
}

// How long a scrape may read the store, and how long the result is used.
const (
	sourceTimeout = 2 * time.Second
	sourceMaxAge  = 5 * time.Second
)

// Watch registers the metrics of the sources. It is called at most once.
func (m *Metrics) Watch(s Sources) {
	if m == nil {
		return
	}
	c := &sourceCollector{Sources: s}
	desc := func(typ, name, help string, labels ...string) *prometheus.Desc {
		m.define(typ, name, help, labels)
		return prometheus.NewDesc(name, help, labels, nil)
	}
	c.waiting = desc("gauge", "postern_store_write_queue_length", "Writes that wait for the writer of SQLite.")
	c.retries = desc("counter", "postern_store_write_retries_total", "Writes to PostgreSQL that were repeated after a conflict.")
	c.connections = desc("gauge", "postern_store_connections", "Connections to the database by state.", "pool", "state")
	c.waits = desc("counter", "postern_store_connection_waits_total", "Operations that waited for a connection.", "pool")
	c.waitTime = desc("counter", "postern_store_connection_wait_seconds_total", "Time that operations waited for a connection.", "pool")
	c.hashing = desc("gauge", "postern_password_hashes", "Passwords that are being hashed or wait for a worker.", "state")
	c.unhashed = desc("counter", "postern_password_refused_total", "Passwords that were not checked because the queue was full.")
	c.decisions = desc("counter", "postern_throttle_decisions_total", "Decisions of the throttle.", "endpoint", "decision")
	c.queued = desc("gauge", "postern_delivery_queue_length", "Queued deliveries, in the whole service.", "kind")
	c.oldest = desc("gauge", "postern_delivery_queue_oldest_seconds", "Age of the oldest queued delivery.", "kind")
	c.lag = desc("gauge", "postern_audit_sink_lag_events", "Sealed audit events that a sink has not received.", "sink")
	m.registry.MustRegister(c)
	for _, kind := range s.Kinds {
		for _, result := range []string{"sent", "failed", "refused"} {
			m.attempts.WithLabelValues(kind, result)
		}
	}
}

// sourceCollector is the prometheus.Collector of the sources.
type sourceCollector struct {
	Sources
	waiting, retries, connections, waits, waitTime, hashing, unhashed, decisions, queued, oldest, lag *prometheus.Desc

	queues cached[[]Queue]
	lags   cached[[]Lag]
}

// Describe implements prometheus.Collector.
func (c *sourceCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.waiting, c.retries, c.connections, c.waits, c.waitTime, c.hashing, c.unhashed, c.decisions, c.queued, c.oldest, c.lag} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *sourceCollector) Collect(to chan<- prometheus.Metric) {
	s := sink(to)
	store := c.Store()
	s.gauge(c.waiting, float64(store.Waiting))
	s.counter(c.retries, float64(store.Retries))
	for name, p := range store.Pools {
		s.gauge(c.connections, float64(p.InUse), name, "used")
		s.gauge(c.connections, float64(p.Idle), name, "idle")
		s.gauge(c.connections, float64(p.MaxOpenConnections), name, "limit")
		s.counter(c.waits, float64(p.WaitCount), name)
		s.counter(c.waitTime, p.WaitDuration.Seconds(), name)
	}
	hashes := c.Passwords()
	s.gauge(c.hashing, float64(hashes.Running), "running")
	s.gauge(c.hashing, float64(hashes.Waiting), "waiting")
	s.counter(c.unhashed, float64(hashes.Refused))
	for _, t := range c.Throttle() {
		s.counter(c.decisions, float64(t.Admitted), t.Endpoint, "admitted")
		s.counter(c.decisions, float64(t.Refused), t.Endpoint, "refused")
	}
	c.collectQueues(s)
}

func (c *sourceCollector) collectQueues(s sink) {
	queues, err := c.queues.read(c.Queues)
	if err != nil {
		s <- prometheus.NewInvalidMetric(c.queued, err)
	} else {
		c.collectLengths(s, queues)
	}
	lags, err := c.lags.read(c.Lags)
	if err != nil {
		s <- prometheus.NewInvalidMetric(c.lag, err)
	}
	for _, l := range lags {
		s.gauge(c.lag, float64(l.Events), l.Sink)
	}
}

func (c *sourceCollector) collectLengths(s sink, queues []Queue) {
	empty := slices.Clone(c.Kinds)
	for _, q := range queues {
		empty = slices.DeleteFunc(empty, func(kind string) bool { return kind == q.Kind })
		s.gauge(c.queued, float64(q.Length), q.Kind)
		s.gauge(c.oldest, max(0, time.Since(q.Oldest).Seconds()), q.Kind)
	}
	for _, kind := range empty {
		s.gauge(c.queued, 0, kind)
		s.gauge(c.oldest, 0, kind)
	}
}

// sink receives the values of a scrape.
type sink chan<- prometheus.Metric

func (s sink) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (s sink) counter(d *prometheus.Desc, v float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}
