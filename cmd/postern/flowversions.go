package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/schemas"
)

type flowVersionsCommand struct {
	Handle string `arg:"" help:"The handle of a flow; with the type, as in REGISTRATION/handle, if two flows share it."`
	flowServer
}

// find connects to the server and finds a flow by its handle.
func (c flowServer) find(ctx context.Context, p program, handle string) (*bootstrap.FlowServer, *schemas.Flow, error) {
	server, err := c.connect(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	all, err := server.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	f, err := findFlowByHandle(all, handle)
	return server, f, err
}

// Run lists the versions of a flow, newest first.
func (c flowVersionsCommand) Run(ctx context.Context, p program) error {
	server, f, err := c.find(ctx, p, c.Handle)
	if err != nil {
		return err
	}
	versions, err := server.Versions(ctx, f.ID)
	if err != nil {
		return err
	}
	for _, v := range versions {
		mark := ""
		if v.IsActive {
			mark = "active"
		}
		author := cmp.Or(v.Author.Name, v.Author.ID, "unknown author")
		if v.Author.ClientName != "" {
			author += ", with " + v.Author.ClientName
		}
		fmt.Fprintf(p.stdout, "%d\t%s\t%s\t%s\t%s\t%d open runs\t%s\n", v.Version, v.CreatedAt.UTC().Format("2006-01-02 15:04:05Z"), v.Name, mark, author, v.OpenRuns, v.Reason)
	}
	return nil
}
