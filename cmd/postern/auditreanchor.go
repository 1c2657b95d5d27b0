package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postern-id/postern/internal/store"
)

type auditReanchorCommand struct {
	Config string `type:"path" help:"The configuration file of the local server."`
	Note   string `required:"" placeholder:"TEXT" help:"What is known about the break. The audit log contains it."`
}

// shownFaults is how many faults the command prints.
const shownFaults = 20

// Run verifies the log, and records its faults with a code of the key, after which it is sealed again.
func (c auditReanchorCommand) Run(ctx context.Context, p program) error {
	if strings.TrimSpace(c.Note) == "" {
		return errors.New("--note is empty: expected what is known about the break")
	}
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.rememberForwarded(); err != nil {
		return err
	}
	progress := p.startProgress("verifying the audit log")
	defer progress.stop()
	if _, err := h.chain.Seal(ctx); err != nil && !isBroken(err) {
		return err
	}
	faults, err := h.chain.Faults(ctx, nil)
	if err != nil {
		return err
	}
	if len(faults) == 0 {
		progress.stop()
		fmt.Fprintln(p.stdout, "The audit log is intact: nothing was changed.")
		return nil
	}
	done, err := h.chain.Repair(ctx, faults, map[string]string{"note": c.Note})
	if err != nil {
		return err
	}
	_, err = h.chain.Seal(ctx)
	progress.stop()
	for i, f := range done.Faults {
		if i == shownFaults {
			fmt.Fprintf(p.stdout, "and %d more\n", len(done.Faults)-i)
			break
		}
		fmt.Fprintln(p.stdout, describeFault(&f))
	}
	fmt.Fprintf(p.stdout, "Recorded as audit.anchored: %d faults, %d events that were removed before their seal, %d events without a seal.\n"+
		"The audit log is sealed again. Keep the copies that show what is missing.\n", len(done.Faults), done.Lost, done.Added)
	return err
}

// isBroken reports whether an error is that of a log that may not be extended.
func isBroken(err error) bool {
	_, is := errors.AsType[*store.ChainBroken](err)
	return is
}
