package main

import (
	"context"
	"time"

	"github.com/postern-id/postern/flows/lsp"
)

type lspCommand struct {
	Stdio bool `hidden:"" help:"Accepted for clients that name the transport; the server always uses standard input and output."`
}

// rulesPage describes the rules of flows.
const rulesPage = "https://github.com/postern-id/postern/blob/main/docs/rules.md"

// checkDelay is how long the language server waits for further changes before it checks files.
const checkDelay = 150 * time.Millisecond

// Run serves an editor until it disconnects.
func (lspCommand) Run(ctx context.Context, p program) error {
	return lsp.Serve(ctx, p.stdin, p.stdout, lsp.Options{Version: version, RulesPage: rulesPage, Delay: checkDelay, Log: p.stderr})
}
