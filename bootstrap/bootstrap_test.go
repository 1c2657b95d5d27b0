package bootstrap_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// plain hashes passwords so that a test can read them.
type plain struct{}

func (plain) Hash(_ context.Context, password string) (string, error) {
	return "plain:" + password, nil
}

func noon() time.Time { return time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC) }

func open(t *testing.T, c store.Config) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// eachStore runs a test on every database.
func eachStore(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Run("sqlite", func(t *testing.T) { test(t, open(t, store.Config{Driver: "sqlite", DSN: ":memory:"})) })
	t.Run("postgres", func(t *testing.T) {
		test(t, open(t, store.Config{Driver: "postgres", DSN: storetest.Postgres(t)}))
	})
}

func TestSeed(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		admin, err := bootstrap.Seed(ctx, s, plain{}, bootstrap.Admin{Username: "root", Password: "quiet harbour"}, noon())
		if err != nil || admin == nil || admin.Username != "root" || admin.Password != "" {
			t.Fatalf("%+v, %v: a chosen password is not shown", admin, err)
		}
		u, err := s.UserByAttribute(ctx, "username", "root")
		if err != nil {
			t.Fatal(err)
		}
		if u.OUID != bootstrap.DefaultUnitID || u.Type != "Person" {
			t.Errorf("the administrator is %+v", u)
		}
		if hash, err := s.PasswordHash(ctx, u.ID); err != nil || hash != "plain:quiet harbour" {
			t.Errorf("hash %q, %v", hash, err)
		}
		if may, err := s.Permissions(ctx, u.ID); err != nil || strings.Join(may, " ") != "system" {
			t.Errorf("permissions %v, %v", may, err)
		}
		console, err := s.Application(ctx, bootstrap.ConsoleID)
		if err != nil || console.ClientID != "CONSOLE" || console.IsRegistrationFlowEnabled {
			t.Errorf("the console is %+v, %v", console, err)
		}
		for _, id := range []string{console.AuthFlowID, console.RegistrationFlowID} {
			f, err := s.Flow(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			if g, problems := engine.Compile(f, nodes.Kinds(nodes.Deps{})); g == nil {
				t.Errorf("the flow %s as it is stored: %v", f.Handle, problems)
			}
		}

		again, err := bootstrap.Seed(ctx, s, plain{}, bootstrap.Admin{Username: "other"}, noon())
		if err != nil || again != nil {
			t.Errorf("a second seeding: %+v, %v", again, err)
		}
		if _, err := s.UserByAttribute(ctx, "username", "other"); !schemas.HasCode(err, schemas.CodeUserNotFound) {
			t.Errorf("a second administrator: %v", err)
		}
	})
}

func TestSeedMakesUpAPassword(t *testing.T) {
	s := open(t, store.Config{Driver: "sqlite", DSN: ":memory:"})
	admin, err := bootstrap.Seed(t.Context(), s, plain{}, bootstrap.Admin{}, noon())
	if err != nil || admin.Username != "admin" || len(admin.Password) < 20 {
		t.Fatalf("%+v, %v", admin, err)
	}
}

// Of instances that start at once on an empty store, one tells a password, and it
// is the right one.
func TestSeedOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store) {
		var mu sync.Mutex
		var told []string
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				admin, err := bootstrap.Seed(t.Context(), s, plain{}, bootstrap.Admin{}, noon())
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				} else if admin != nil {
					told = append(told, admin.Password)
				}
			})
		}
		wg.Wait()
		if len(told) != 1 {
			t.Fatalf("%d instances told a password", len(told))
		}
		u, err := s.UserByAttribute(t.Context(), "username", "admin")
		if err != nil {
			t.Fatal(err)
		}
		if hash, err := s.PasswordHash(t.Context(), u.ID); err != nil || hash != "plain:"+told[0] {
			t.Errorf("the password that was told is not the administrator's: %v", err)
		}
	})
}

func TestEnsureTry(t *testing.T) {
	s := open(t, store.Config{Driver: "sqlite", DSN: ":memory:"})
	ctx := t.Context()
	if err := bootstrap.EnsureTry(ctx, s, noon()); !schemas.HasCode(err, schemas.CodeFlowNotFound) {
		t.Errorf("before the flows exist: %v", err)
	}
	if _, err := bootstrap.Seed(ctx, s, plain{}, bootstrap.Admin{}, noon()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := bootstrap.EnsureTry(ctx, s, noon()); err != nil {
			t.Fatal(err)
		}
	}
	app, err := s.Application(ctx, bootstrap.TryID)
	if err != nil || !app.IsRegistrationFlowEnabled {
		t.Errorf("%+v, %v", app, err)
	}
}
