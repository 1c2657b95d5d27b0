package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// drain returns a context that outlasts ctx by server.drain. During that time the server
// answers requests and readiness fails, so that load balancers stop sending requests before
// the server stops. A second signal ends it.
func (h *app) drain(ctx context.Context) context.Context {
	period := h.cfg.Server.Drain
	if period == 0 {
		return ctx
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		defer stop()
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(again)
		h.draining.Store(true)
		h.log.Info("draining: requests are served, but readiness returns 503", slog.Duration("for", period))
		select {
		case <-time.After(period):
		case <-again:
		}
	})
	return serving
}
