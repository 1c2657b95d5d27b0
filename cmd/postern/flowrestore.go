package main

import (
	"context"
	"fmt"
)

type flowRestoreCommand struct {
	Handle  string `arg:"" help:"The handle of a flow; with the type, as in REGISTRATION/handle, if two flows share it."`
	Version int    `arg:"" help:"The number of the version."`
	Reason  string `short:"m" placeholder:"TEXT" help:"The reason for the change: one line, without secrets. It is stored with the new version."`
	flowServer
}

// Run makes an older version of a flow the current one.
func (c flowRestoreCommand) Run(ctx context.Context, p program) error {
	server, f, err := c.find(ctx, p, c.Handle)
	if err != nil {
		return err
	}
	now, err := server.Restore(ctx, f.ID, c.Version, c.Reason)
	if err != nil {
		return err
	}
	if now.ActiveVersion == c.Version {
		fmt.Fprintf(p.stdout, "%s: version %d is the current one already\n", now.Handle, c.Version)
	} else {
		fmt.Fprintf(p.stdout, "%s: version %d restores version %d\n", now.Handle, now.ActiveVersion, c.Version)
	}
	for _, use := range now.UsedBy {
		fmt.Fprintf(p.stdout, "%s still uses version %d of it: restore or push that flow too\n", use.Handle, use.Version)
	}
	return nil
}
