// Package bootstrap seeds a store with the resources for a first sign-in: a unit and a user type,
// the resource server of the API, the built-in flows, the console, and an administrator. It seeds a
// store directly or over HTTP. The seed is YAML next to this file, and the rules of the API apply
// to it.
package bootstrap

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/password"
)

// Seed seeds a store in one transaction: it creates what is missing and leaves existing
// resources unchanged. If the store has no administrator, Seed creates and returns one,
// with the password in clear if it was generated. It returns nil if there is an
// administrator, and does nothing in a store that was seeded before.
//
// The base URL is the address of the server.
func Seed(ctx context.Context, d *directory.Directory, baseURL string, admin Admin) (*Admin, error) {
	complete, reported := admin.withPassword()
	administered := false
	seeded, err := d.Seed(ctx, directory.SystemCall(), func(call directory.Call) (err error) {
		s := newSeeder(declare.NewDirectory(d, call), nil)
		if err := s.ensureBase(ctx, []string{consoleURL(baseURL)}); err != nil {
			return err
		}
		holders, err := d.Administrators(ctx, call, 1)
		if administered = len(holders) > 0; administered || err != nil {
			return err
		}
		return s.createAdministrator(ctx, d.Passwords, complete)
	})
	if err != nil || !seeded || administered {
		return nil, err
	}
	return &reported, nil
}

func (s *seeder) createAdministrator(ctx context.Context, policy password.Policy, a Admin) error {
	if err := a.check(policy); err != nil {
		return err
	}
	other, err := s.find(ctx, a)
	if err != nil {
		return err
	}
	if other != nil {
		return fmt.Errorf("the store has no administrator, and another user has the username %q: set ADMIN_USERNAME to another name", a.Username)
	}
	id, err := s.create(ctx, a)
	if err != nil {
		return err
	}
	return s.addAdministrator(ctx, id)
}

// EnsureTry creates the application of the try-it page if it is missing.
func EnsureTry(ctx context.Context, d *directory.Directory, baseURL string) error {
	resources, err := declare.ReadSeed("try.yaml", tryText)
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	resources[0].Document = resources[0].Document.Edited(map[string]any{redirectsPath: []string{baseURL + "/try/"}})
	return ensureIn(ctx, d, resources)
}

// EnsureExamples creates the clients of the programs in examples/, and the API that they call, if
// they are missing.
func EnsureExamples(ctx context.Context, d *directory.Directory) error {
	resources, err := declare.ReadSeed("examples.yaml", examplesText)
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	return ensureIn(ctx, d, resources)
}

func ensureIn(ctx context.Context, d *directory.Directory, resources []declare.Resource) error {
	return d.Transact(ctx, directory.SystemCall(), func(call directory.Call) error {
		return newSeeder(declare.NewDirectory(d, call), nil).ensure(ctx, resources, declare.Secrets{})
	})
}

// consoleURL returns the address of the console.
func consoleURL(baseURL string) string { return baseURL + "/console" }

// newSeeder returns a seeder that reports its changes; report may be nil.
func newSeeder(t declare.Target, report func(format string, args ...any)) *seeder {
	if report == nil {
		report = func(string, ...any) {}
	}
	return &seeder{target: t, report: report}
}
