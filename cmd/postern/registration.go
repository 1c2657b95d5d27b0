package main

import (
	"context"

	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/server/oauth"
)

// registration is what clients register themselves with.
func (h *house) registration() *oauth.Registration {
	documents := h.outbound.With(func(r *outbound.Rules) { r.MaxBytes = oauth.DocumentBytes })
	return &oauth.Registration{
		Clients: h.directory, Open: h.cfg.OAuth.DCR.Insecure, Fetch: documents.Get,
		Admit: func(ctx context.Context) error { return h.throttle.AdmitFrom(ctx, throttle.Register) },
	}
}
