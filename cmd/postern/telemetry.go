package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/telemetry"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/oauth"
	"github.com/postern-id/postern/server/runs"
)

// newTelemetry returns the telemetry of a server; nil if the configuration has none.
func newTelemetry(c config.Telemetry, log *slog.Logger) *telemetry.Telemetry {
	if c.Metrics.Listen == "" && c.Traces.Endpoint == "" {
		return nil
	}
	t := &telemetry.Telemetry{Log: log}
	if c.Metrics.Listen != "" {
		t.Metrics = telemetry.NewMetrics(version, log)
	}
	if c.Traces.Endpoint != "" {
		t.Tracer = telemetry.NewTracer(telemetry.TraceOptions{
			Endpoint: c.Traces.Endpoint, Authorization: c.Traces.Authorization, Ratio: c.Traces.SamplingRatio,
			Version: version, Metrics: t.Metrics, Log: log,
		})
	}
	return t
}

// observeStore returns the observer of the store; nil without telemetry.
func observeStore(t *telemetry.Telemetry) store.Observe {
	if t == nil {
		return nil
	}
	return func(ctx context.Context, mode string) (context.Context, func(error)) {
		ctx, end := t.BeginStore(ctx, mode)
		return ctx, func(err error) { end(storeResult(err)) }
	}
}

// storeResult returns the result of a transaction for its metric.
func storeResult(err error) string {
	_, reported := errors.AsType[*schemas.Error](err)
	switch {
	case err == nil:
		return "ok"
	case schemas.HasClass(err, schemas.Unavailable):
		return "unavailable"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "canceled"
	case reported && !schemas.HasClass(err, schemas.Internal):
		return "rejected"
	}
	return "error"
}

// observedRules are rules whose requests are observed.
func (h *app) observedRules() outbound.Rules {
	rules := outboundRules(h.cfg.Outbound)
	if h.telemetry != nil {
		rules.Observe = h.telemetry.BeginCall
	}
	return rules
}

// watch connects the metrics to the components that count by themselves.
func (h *app) watch() {
	h.telemetry.Counted().Watch(telemetry.Sources{
		Store: h.storeState,
		Passwords: func() telemetry.Passwords {
			return telemetry.Passwords(h.passwords.Stats())
		},
		Throttle: func() (list []telemetry.Throttled) {
			for _, d := range h.throttle.Decisions() {
				list = append(list, telemetry.Throttled(d))
			}
			return list
		},
		Queues: h.queues, Kinds: schemas.DeliveryKinds(), Lags: h.sinkLags,
	})
}

func (h *app) storeState() telemetry.Store {
	s := h.store.Stats()
	pools := map[string]sql.DBStats{"read": s.Read, "write": s.Write}
	if s.Shared {
		pools = map[string]sql.DBStats{"shared": s.Read}
	}
	return telemetry.Store{Waiting: s.Waiting, Retries: s.Retries, Pools: pools}
}

// queues returns the lengths of the delivery queues that are not empty.
func (h *app) queues(ctx context.Context) ([]telemetry.Queue, error) {
	waiting, err := h.store.QueuedDeliveries(ctx)
	if err != nil {
		return nil, err
	}
	var list []telemetry.Queue
	for _, w := range waiting {
		list = append(list, telemetry.Queue{Kind: w.Kind, Length: w.Count, Oldest: w.Oldest})
	}
	return list, nil
}

func (h *app) sinkLags(ctx context.Context) (list []telemetry.Lag, err error) {
	for _, sink := range h.eventSinks() {
		n, err := h.store.SinkLag(ctx, sink.name)
		if err != nil {
			return nil, err
		}
		list = append(list, telemetry.Lag{Sink: sink.name, Events: n})
	}
	return list, nil
}

// runObserver reports runs to the access log and the telemetry.
type runObserver struct{ *telemetry.Telemetry }

// EnterNode implements engine.Observer.
func (o runObserver) EnterNode(ctx context.Context, at engine.Place) (context.Context, func(engine.Exit)) {
	ctx, end := o.BeginNode(ctx, at.Flow, at.Node, at.Kind)
	return ctx, func(x engine.Exit) { end(x.Result, x.Outcome) }
}

// StoreStep implements engine.Observer.
func (o runObserver) StoreStep(ctx context.Context, s engine.StoredStep) {
	e := runs.EntryOf(ctx)
	e.Flow, e.Node, e.User, e.Application, e.Execution = s.Flow, s.Node, s.UserID, s.ApplicationID, s.Execution
	if s.Started {
		o.Counted().StartRun(s.Flow, schemas.CodeExpressionFailed)
	}
	switch s.Status {
	case schemas.Complete:
		o.Counted().EndRun(s.Flow, "completed", "")
	case schemas.Failed:
		o.Counted().EndRun(s.Flow, "failed", s.Error)
	}
}

// tokenObserver returns the observer of the token endpoint; nil without metrics.
func (h *app) tokenObserver() oauth.Observer {
	if m := h.telemetry.Counted(); m != nil {
		return m
	}
	return nil
}

// countedTokens counts verifications of the tokens of callers.
type countedTokens struct {
	*token.Issuer
	metrics *telemetry.Metrics
}

// Verify is Issuer.Verify.
func (c countedTokens) Verify(ctx context.Context, raw, audience string) (*token.Claims, error) {
	claims, err := c.Issuer.Verify(ctx, raw, audience)
	switch {
	case err == nil:
		c.metrics.CountVerification("accepted")
	case schemas.HasClass(err, schemas.Unauthenticated):
		c.metrics.CountVerification("rejected")
	default:
		c.metrics.CountVerification("error")
	}
	return claims, err
}

// countedSender observes the attempts of a sender.
type countedSender struct {
	delivery.Sender
	*telemetry.Telemetry
}

// Send implements delivery.Sender.
func (s countedSender) Send(ctx context.Context, d schemas.Delivery) error {
	ctx, end := s.BeginDelivery(ctx, d.Kind)
	err := s.Sender.Send(ctx, d)
	switch {
	case err == nil:
		end("sent")
	case errors.Is(err, delivery.ErrRefused):
		end("refused")
	default:
		end("failed")
	}
	return err
}

// internalListener is a listener that is not for users.
type internalListener struct {
	net.Listener
	name, path string // of what is served there
}

const metricsListener = "metrics"

// listenTelemetry listens for scrapes and for requests for profiles, as configured.
func listenTelemetry(c config.Telemetry) (list []internalListener, err error) {
	add := func(key, addr, name, path string) {
		if addr == "" || err != nil {
			return
		}
		var l net.Listener
		if l, err = net.Listen("tcp", addr); err == nil {
			list = append(list, internalListener{Listener: l, name: name, path: path})
		} else if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%s: %s is in use, perhaps by this server itself: choose another port", key, addr)
		} else {
			err = fmt.Errorf("%s: %w", key, err)
		}
	}
	add("telemetry.metrics.listen", c.Metrics.Listen, metricsListener, "/metrics")
	add("telemetry.pprof.listen", c.Pprof.Listen, "profiles", "/debug/pprof/")
	if err != nil {
		closeAll(list)
		return nil, err
	}
	return list, nil
}

func closeAll(list []internalListener) {
	for _, l := range list {
		l.Close()
	}
}

// serveInternal serves metrics or profiles until ctx is done.
func (h *app) serveInternal(ctx context.Context, l internalListener) error {
	h.log.Info("listening for "+l.name, "addr", l.Addr().String(), "path", l.path)
	handler := telemetry.Profiles(h.cfg.Telemetry.Pprof.AllowRemote)
	if l.name == metricsListener {
		handler = h.telemetry.Metrics.Handler()
	}
	return server.Serve(ctx, l.Listener, handler, nil, h.log)
}
