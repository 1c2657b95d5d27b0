package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/outbound"
)

// outboundRules are the rules for requests to untrusted URLs.
func outboundRules(c config.Outbound) outbound.Rules {
	var rules outbound.Rules
	for _, entry := range c.Allow {
		if network, err := config.ParseNetwork(entry); err == nil {
			rules.Networks = append(rules.Networks, network)
		} else {
			rules.Hosts = append(rules.Hosts, entry)
		}
	}
	return rules
}

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
