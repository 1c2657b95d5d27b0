package main

import (
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
