package mcp

import (
	"context"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

type call = func(ctx context.Context, c directory.Call, args *schemas.Document) (*toolAnswer, error)

type byID struct {
	ID string `json:"id"`
}

// getTool returns the tool that gets a resource by its id.
func getTool(t tool, from directory.Resource) tool {
	return typedCall(t, func(ctx context.Context, c directory.Call, in *byID) (*toolAnswer, error) {
		item, err := from.Get(ctx, c, in.ID)
		if err != nil {
			return nil, err
		}
		return itemAnswer(item), nil
	})
}

// write writes one resource.
type write func(ctx context.Context, c directory.Call, w *writeArguments) (*directory.Item, error)

// createIn returns the write of a new resource.
func createIn(resource directory.Resource) write {
	return func(ctx context.Context, c directory.Call, w *writeArguments) (*directory.Item, error) {
		return resource.Create(ctx, c, w.document)
	}
}

// writeCall is the call of a tool that writes: with its parameters in addition to the content, and
// the required ones.
func writeCall(parameters map[string]any, do write, needed ...string) call {
	split := splitArguments(parameters, needed...)
	return func(ctx context.Context, c directory.Call, args *schemas.Document) (*toolAnswer, error) {
		w, err := split(args)
		if err != nil {
			return nil, err
		}
		c.DryRun, c.Reason = w.how.DryRun, w.how.Reason
		item, err := do(ctx, c, w)
		if err != nil {
			return nil, err
		}
		return writtenAnswer(item, c.DryRun), nil
	}
}
