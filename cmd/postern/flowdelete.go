package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/schemas"
)

type flowDeleteCommand struct {
	Handle string `arg:"" help:"The handle of a flow; with the type, as in REGISTRATION/handle, if two flows share it."`
	confirmation
	apiServer
}

// Run deletes a flow that no application and no other flow uses.
func (c flowDeleteCommand) Run(ctx context.Context, p program) error {
	client, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	f, err := findStoredFlow(ctx, client, c.Handle)
	if err != nil {
		return err
	}
	with := []string{fmt.Sprintf("its versions up to %d", f.ActiveVersion), "its unfinished runs"}
	if ok, err := c.confirm(p, "delete the flow "+f.Handle, with); !ok {
		return err
	}
	if err := client.Send(ctx, http.MethodDelete, "/flows/"+f.ID, nil, nil); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: deleted\n", f.Handle)
	return err
}

func findStoredFlow(ctx context.Context, client *bootstrap.Client, handle string) (*schemas.Flow, error) {
	all, err := client.Flows().List(ctx)
	if err != nil {
		return nil, err
	}
	return findFlowByHandle(all, handle)
}
