package mcp

import (
	"context"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

type call = func(ctx context.Context, c directory.Call, args *schemas.Document) (*toolAnswer, error)

// write writes one resource.
type write func(ctx context.Context, c directory.Call, w *writeArguments) (*directory.Item, error)

// writeCall is the call of a tool that writes: with its parameters in addition to the content, and
// the required ones.
func writeCall(parameters map[string]any, do write, needed ...string) call {
	split := splitArguments(parameters, needed...)
	return func(ctx context.Context, c directory.Call, args *schemas.Document) (*toolAnswer, error) {
		w, err := split(args)
		if err != nil {
			return nil, err
		}
		c.DryRun = w.how.DryRun
		item, err := do(ctx, c, w)
		if err != nil {
			return nil, err
		}
		return writtenAnswer(item, c.DryRun), nil
	}
}

// dryRunNote is said of a dry run.
const dryRunNote = "This was a dry run: everything is valid, and nothing was stored. Generated ids will be different."

// writtenAnswer is the result of a tool that has written something, or would have. A secret from a
// dry run is not valid.
func writtenAnswer(item *directory.Item, dryRun bool) *toolAnswer {
	a := &toolAnswer{value: item.Value, notes: findings(item.Warnings)}
	app, _ := item.Value.(*schemas.Application)
	switch {
	case dryRun:
		a.notes = append(a.notes, dryRunNote)
		if app != nil && app.ClientSecret != "" {
			app.ClientSecret, app.OAuth().ClientSecret = "", ""
		}
	case app != nil && app.ClientSecret != "":
		a.notes = append(a.notes, "The client secret is shown in this answer and never again. Keep it where only the application reads it.")
	}
	return a
}
