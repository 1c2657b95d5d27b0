package main

import (
	"context"
	"fmt"
	"net/http"
)

// fetch reads a third party's document.
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
