package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/chains"
)

// The analysis of attacks across flows knows every endpoint that changes something, and no other.
func TestAnalysisKnowsTheRoutes(t *testing.T) {
	h := newTestServer(t)
	known, unaffecting := chains.Operations(), chains.Unaffecting()
	served := map[string]bool{}
	for _, r := range h.routes() {
		if endpoint := r.Method + " " + r.Path; r.Method != "GET" {
			served[endpoint] = true
			if (unaffecting[endpoint] != "") == slices.Contains(known, endpoint) {
				t.Errorf("%s must be in exactly one of the two lists of flows/chains/operations.go: either it changes what a sign-in rests on, or there is a reason why not", endpoint)
			}
		}
	}
	for endpoint := range unaffecting {
		known = append(known, endpoint)
	}
	for _, endpoint := range known {
		if isTool := !strings.Contains(endpoint, " "); !served[endpoint] && !isTool { // tools: see package mcp
			t.Errorf("there is no endpoint %s", endpoint)
		}
	}
}
