// Package bootstrap makes a store good enough to sign in to: the first unit and
// user type, the API's own resource server, the built-in flows, the console, and
// an administrator. It does so in a store, or over HTTP. What is seeded is data,
// in YAML beside this file, and all of it is made as anybody would make it, by
// the rules that hold for everybody.
package bootstrap

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/password"
)

// Seed gives a store what it begins with, all or nothing: of an empty store all
// of it, of one of an earlier version what is missing. What is there is left as
// it is. An administrator is made if nobody may do everything, and returned,
// with the password in clear if it was made up here. It returns nil if there is
// one, and does nothing at all in a store that was seeded before.
//
// The base URL is where the server is reached.
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

// createAdministrator makes the administrator.
func (s *seeder) createAdministrator(ctx context.Context, policy password.Policy, a Admin) error {
	if err := a.check(policy); err != nil {
		return err
	}
	other, err := s.find(ctx, a)
	if err != nil {
		return err
	}
	if other != nil {
		return fmt.Errorf("nobody may administer this store, and somebody else is called %q: choose another name for the administrator with ADMIN_USERNAME", a.Username)
	}
	id, err := s.create(ctx, a)
	if err != nil {
		return err
	}
	return s.addAdministrators(ctx, id)
}

// EnsureTry makes the application of the try-it page exist.
func EnsureTry(ctx context.Context, d *directory.Directory, baseURL string) error {
	resources, err := declare.ReadSeed("try.yaml", tryText)
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	resources[0].Document = resources[0].Document.Edited(map[string]any{redirectsPath: []string{baseURL + "/try/"}})
	return d.Transact(ctx, directory.SystemCall(), func(call directory.Call) error {
		return newSeeder(declare.NewDirectory(d, call), nil).ensure(ctx, resources, nil)
	})
}

// consoleURL is where the console is served.
func consoleURL(baseURL string) string { return baseURL + "/console" }

// newSeeder returns a seeder that tells what it does; tell may be nil.
func newSeeder(t declare.Target, report func(format string, args ...any)) *seeder {
	if report == nil {
		report = func(string, ...any) {}
	}
	return &seeder{target: t, report: report}
}
