package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/postern-id/postern/server/oauth"
)

// keyAuthentication is what clients need that authenticate by a key of their own.
func (h *app) keyAuthentication() *oauth.KeyAuthentication {
	return &oauth.KeyAuthentication{Use: h.store.UseClientAssertion, Fetch: h.fetch}
}

// fetch reads what somebody else publishes.
func (h *app) fetch(ctx context.Context, uri string) ([]byte, error) {
	reply, err := h.outbound.Get(ctx, uri)
	if err != nil {
		return nil, err
	}
	if reply.Status != http.StatusOK {
		return nil, fmt.Errorf("expected the status 200, got %d", reply.Status)
	}
	return reply.Body, nil
}
