package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/store"
)

type migrateCommand struct {
	Config string `type:"path" help:"The configuration file of the server."`
	Plan   bool   `help:"Print the pending migrations, their compatibility with running servers, what they block, and what changes for users. Change nothing. The exit code is 1 if there are any."`
}

// Run migrates the schema, or prints the plan.
func (c migrateCommand) Run(ctx context.Context, p program) error {
	cfg, err := config.Load(c.Config, p.environ)
	if err != nil {
		return err
	}
	if err := requireStore(cfg.Database); err != nil {
		return err
	}
	on := storeConfig(cfg.Database)
	versions, pending, err := store.PlanMigrations(ctx, on)
	if err != nil {
		return err
	}
	printPlan(p.stdout, versions, pending, cfg.Database.Driver)
	switch {
	case len(pending) == 0:
		return nil
	case c.Plan:
		return cmp.Or(c.planForUsers(ctx, p, on, versions), errFindings)
	}
	progress := p.startProgress("migrating")
	defer progress.stop()
	s, err := store.Open(ctx, on)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	progress.stop()
	fmt.Fprintf(p.stdout, "migrated to schema version %d\n", versions.Program)
	return nil
}

// planForUsers prints what the upgrade changes for the users of a store with content.
func (c migrateCommand) planForUsers(ctx context.Context, p program, on store.Config, v store.Versions) error {
	if v.Applied == 0 {
		return nil
	}
	progress := p.startProgress("counting")
	found, err := planEffects(ctx, on, v.Applied)
	progress.stop()
	if err != nil {
		return err
	}
	printEffects(p.stdout, found)
	return nil
}

// printPlan prints the versions of a store and its pending migrations.
func printPlan(w io.Writer, v store.Versions, pending []store.Migration, driver string) {
	fmt.Fprintf(w, "The database has schema version %d; this program has %d.\n", v.Applied, v.Program)
	if v.Applied > v.Program && v.CompatibleFrom <= v.Program {
		fmt.Fprintln(w, "The newer schema is compatible with this program.")
	}
	if v.CompatibleFrom > v.Program {
		fmt.Fprintf(w, "The schema works with programs from version %d on: run a newer Postern.\n", v.CompatibleFrom)
	}
	for _, m := range pending {
		if m.Compatible {
			fmt.Fprintf(w, "%05d %s: compatible\n", m.Version, m.Name)
		} else {
			fmt.Fprintf(w, "%05d %s: not compatible: %s\n", m.Version, m.Name, m.Incompatible)
		}
		if driver == "sqlite" {
			continue // its only server waits for the migration anyway
		}
		for _, line := range m.Locks {
			fmt.Fprintf(w, "      %s\n", line)
		}
	}
	printAdvice(w, v, pending)
}

// printAdvice prints how to apply the migrations.
func printAdvice(w io.Writer, v store.Versions, pending []store.Migration) {
	compatible := true
	for _, m := range pending {
		compatible = compatible && m.Compatible
	}
	switch {
	case len(pending) == 0:
		fmt.Fprintln(w, "There are no pending migrations.")
	case v.Applied == 0:
		fmt.Fprintln(w, "The database is empty; `postern serve` fills it.")
	case compatible:
		fmt.Fprintln(w, "Servers of the previous version work during and after these migrations, and you can return to that version.")
	default:
		fmt.Fprintln(w, "Stop the servers of earlier versions first: they do not work with the new schema. Make a backup: you cannot return to an earlier version without it.")
	}
}
