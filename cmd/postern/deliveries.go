package main

import (
	"context"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// deliveries is the queue of what is sent to others.
func (h *house) deliveries() delivery.Queue {
	return delivery.Queue{Store: h.store, Log: h.log, Senders: map[string]delivery.Sender{
		schemas.LogoutDelivery: &oauth.Backchannel{
			Application: func(ctx context.Context, id string) (*schemas.Application, error) {
				return store.Applications().Get(ctx, h.store, id)
			},
			Tokens: h.tokens, Requests: h.outbound,
		},
	}}
}
