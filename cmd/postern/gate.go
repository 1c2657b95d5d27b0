package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/gate"
)

// listenHostedPages listens on the hosted pages' own port, on the interface of the server;
// nil if they have none.
func listenHostedPages(cfg *config.Config, adjacent net.Listener) (net.Listener, error) {
	addr := cfg.GateListen()
	if addr == "" {
		return nil, nil
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(adjacent.Addr().String())
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("gate_client.port: %w; choose another port, or set gate_client.external if you serve your own sign-in pages there", err)
	}
	return l, nil
}

// serve serves requests at the server's address, at that of the pages if they have their own, and at
// the internal ones, until ctx is done or one of them fails.
func (h *app) serve(ctx context.Context, handler http.Handler, certificates *tls.Config, l, pages net.Listener, internal []internalListener) error {
	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error { return server.Serve(ctx, l, handler, certificates, h.log) })
	if pages != nil {
		h.log.Info("listening for the hosted pages", "addr", pages.Addr().String(), "url", h.cfg.GateURL())
		serving.Go(func() error { return server.Serve(ctx, pages, gate.AtRoot(handler), certificates, h.log) })
	}
	for _, l := range internal {
		serving.Go(func() error { return h.serveInternal(ctx, l) })
	}
	return serving.Wait()
}
