package directory

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// passkey adds a passkey with the id to a user.
func (w *fixture) passkey(t testing.TB, user string, id ...byte) schemas.Bytes {
	t.Helper()
	c := schemas.Credential{ID: id, UserID: user, Name: "Key", RPID: "localhost", PublicKey: schemas.Bytes{1}, Algorithm: -7, CreatedAt: w.now()}
	must(t, w.store.Apply(t.Context(), storetest.Authorized([]schemas.Change{schemas.CreateCredential{Credential: c}})))
	return id
}

func (w *fixture) passkeys(t testing.TB, user string) []schemas.Credential {
	t.Helper()
	all, err := w.Passkeys(t.Context(), SystemCall(), user)
	must(t, err)
	return all
}

// own returns a call of a user on their own account right after a sign-in.
func (w *fixture) own(user string) Call {
	c := as(user, schemas.AccountScope)
	c.AuthTime = w.now()
	return c
}

// keyless is the body of a person without a password.
const keyless = `{"type": "Person", "attributes": {"username": "eve"}}`

func TestPasskeys(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		ada, bob := w.create(t, w.Users, person("ada")), w.create(t, w.Users, person("bob"))
		first, second := w.passkey(t, ada, 1), w.passkey(t, ada, 2)
		theirs := w.passkey(t, bob, 3)
		c, err := w.RenamePasskey(t.Context(), w.own(ada), ada, first, "  Phone ")
		must(t, err)
		if c.Name != "Phone" || w.passkeys(t, ada)[0].Name != "Phone" {
			t.Errorf("it is called %q", c.Name)
		}
		_, err = w.RenamePasskey(t.Context(), w.own(ada), ada, first, "Phone") // unchanged
		must(t, err)
		for name, call := range map[string]func() error{
			"another user's": func() error { return w.DeletePasskey(t.Context(), w.own(ada), ada, theirs) },
			"none":           func() error { return w.DeletePasskey(t.Context(), w.own(ada), ada, schemas.Bytes{9}) },
			"another's name": func() error {
				_, err := w.RenamePasskey(t.Context(), w.own(ada), ada, theirs, "Mine")
				return err
			},
		} {
			if err := call(); !schemas.HasCode(err, schemas.CodeCredentialNotFound) || !schemas.HasClass(err, schemas.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if w.passkeys(t, bob)[0].Name != "Key" {
			t.Error("another user's passkey was renamed")
		}
		must(t, w.DeletePasskey(t.Context(), w.own(ada), ada, second))
		must(t, w.DeletePasskey(t.Context(), w.own(ada), ada, first)) // the password remains
		if n := len(w.passkeys(t, ada)); n != 0 {
			t.Errorf("%d passkeys are left", n)
		}
		wantEvents(t, w, ada, "user.created", "password.set", "passkey.renamed", "passkey.deleted", "passkey.deleted")
	})
}

func TestPasskeyNames(t *testing.T) {
	w := newFixture(t)
	id := w.create(t, w.Users, person("ada"))
	key := w.passkey(t, id, 1)
	for _, name := range []string{"", "   ", strings.Repeat("n", 201), "a\nb", "a\u202eb", "a\x00"} {
		_, err := w.RenamePasskey(t.Context(), w.own(id), id, key, name)
		refused(t, err, schemas.CodeInvalidRequest, "name: expected")
	}
	_, err := w.RenamePasskey(t.Context(), w.own(id), id, key, strings.Repeat("é", 200))
	must(t, err)
}

// Users cannot lock themselves out. An administrator may delete the last passkey of users
// without more permissions.
func TestTheLastLoginMethod(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		id := w.create(t, w.Users, keyless)
		key := w.passkey(t, id, 1)
		refused(t, w.DeletePasskey(t.Context(), as(id, "system"), id, key), schemas.CodeLastCredential)
		w.passkey(t, id, 2)
		must(t, w.DeletePasskey(t.Context(), w.own(id), id, key))
		must(t, w.DeletePasskey(t.Context(), as(schemas.NewID(), "system:users:write"), id, schemas.Bytes{2}))
	})
}

// If two passkeys are deleted at the same time, one remains.
func TestTheLastTwoLoginMethods(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		id := w.create(t, w.Users, keyless)
		keys := []schemas.Bytes{w.passkey(t, id, 1), w.passkey(t, id, 2)}
		for _, err := range together(2, func(i int) error { return w.DeletePasskey(t.Context(), w.own(id), id, keys[i]) }) {
			if err != nil {
				refused(t, err, schemas.CodeLastCredential)
			}
		}
		if n := len(w.passkeys(t, id)); n != 1 {
			t.Errorf("%d passkeys are left", n)
		}
	})
}

// A caller who may write users cannot change users with more permissions.
func TestMorePermittedUsers(t *testing.T) {
	w := newFixture(t)
	root := w.create(t, w.Users, person("root"))
	w.role(t, root, "system:groups")
	key, session := w.passkey(t, root, 1), w.session(t, root)
	for name, do := range map[string]func(context.Context, Call) error{
		"renaming": func(ctx context.Context, c Call) error {
			_, err := w.RenamePasskey(ctx, c, root, key, "Mine")
			return err
		},
		"deleting":    func(ctx context.Context, c Call) error { return w.DeletePasskey(ctx, c, root, key) },
		"signing out": func(ctx context.Context, c Call) error { return w.EndSession(ctx, c, root, session) },
		"signing out everywhere": func(ctx context.Context, c Call) error {
			_, err := w.EndSessions(ctx, c, root, "")
			return err
		},
	} {
		if err := do(t.Context(), as(schemas.NewID(), "system:users", "system:groups:write")); !schemas.HasClass(err, schemas.Forbidden) {
			t.Errorf("%s: %v", name, err)
		}
		dry := as(schemas.NewID(), "system:users", "system:groups")
		dry.DryRun = true
		must(t, do(t.Context(), dry))
	}
	// An application with the user's id is not the user.
	app := Call{Actor: schemas.Actor{Type: schemas.ApplicationActor, ID: root}}
	if err := w.DeletePasskey(t.Context(), app, root, key); !schemas.HasClass(err, schemas.Forbidden) {
		t.Errorf("got %v", err)
	}
}

// Ending sessions also ends unfinished sign-ins.
func TestRunsEndWithSessions(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		ada, bob := w.create(t, w.Users, person("ada")), w.create(t, w.Users, person("bob"))
		for name, signOut := range map[string]func() error{
			"everywhere": func() error { _, err := w.EndSessions(t.Context(), w.own(ada), ada, ""); return err },
			"by a password": func() error {
				_, err := w.Users.Replace(t.Context(), SystemCall(), ada, "", doc(t, `{"type": "Person", "attributes": {"username": "ada", "password": "grey lantern harbour"}}`))
				return err
			},
		} {
			hers, his := w.run(t, ada), w.run(t, bob)
			must(t, signOut())
			if _, err := w.store.Run(t.Context(), hers); !schemas.HasCode(err, schemas.CodeExecutionNotFound) {
				t.Errorf("%s: her run: %v", name, err)
			}
			if _, err := w.store.Run(t.Context(), his); err != nil {
				t.Errorf("%s: his run: %v", name, err)
			}
		}
	})
}

// run starts a flow run about a user and returns its id.
func (w *fixture) run(t testing.TB, user string) string {
	t.Helper()
	r := schemas.Run{
		ID: schemas.NewID(), Revision: 1, Status: schemas.Incomplete, FlowID: schemas.NewID(), FlowVersion: 1, UserID: user, Node: "key",
		CreatedAt: w.now(), UpdatedAt: w.now(), ExpiresAt: w.now().Add(time.Hour),
	}
	must(t, w.store.Commit(t.Context(), &r, nil))
	return r.ID
}

func TestSessions(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		ada, bob := w.create(t, w.Users, person("ada")), w.create(t, w.Users, person("bob"))
		w.session(t, ada)
		two, three := w.session(t, ada), w.session(t, ada)
		theirs := w.session(t, bob)
		for _, id := range []string{theirs, "none", "a\x00", ""} {
			if err := w.EndSession(t.Context(), w.own(ada), ada, id); !schemas.HasCode(err, "session_not_found") || !schemas.HasClass(err, schemas.NotFound) {
				t.Errorf("%q: %v", id, err)
			}
		}
		must(t, w.EndSession(t.Context(), w.own(ada), ada, two))
		live, err := w.store.TokenLive(t.Context(), schemas.TokenRef{ID: "t", Session: two})
		must(t, err)
		if live || w.sessions(t, ada) != 2 {
			t.Error("the session goes on")
		}
		n, err := w.EndSessions(t.Context(), w.own(ada), ada, three)
		must(t, err)
		if n != 1 || w.sessions(t, ada) != 1 || w.sessions(t, bob) != 1 {
			t.Errorf("%d ended; one of Ada's and one of Bob's go on", n)
		}
		n, err = w.EndSessions(t.Context(), SystemCall(), ada, "")
		must(t, err)
		if n != 1 || w.sessions(t, ada) != 0 {
			t.Errorf("%d ended", n)
		}
		wantEvents(t, w, ada, "user.created", "password.set", "session.ended", "session.ended", "session.ended")
	})
}

func TestAccountOfUnknownUser(t *testing.T) {
	w := newFixture(t)
	id, ctx := schemas.NewID(), t.Context()
	for name, do := range map[string]func() error{
		"passkeys": func() error { _, err := w.Passkeys(ctx, SystemCall(), id); return err },
		"renaming": func() error { _, err := w.RenamePasskey(ctx, SystemCall(), id, schemas.Bytes{1}, "n"); return err },
		"deleting": func() error { return w.DeletePasskey(ctx, SystemCall(), id, schemas.Bytes{1}) },
		"sessions": func() error { _, err := w.Sessions(ctx, SystemCall(), id); return err },
		"ending":   func() error { return w.EndSession(ctx, SystemCall(), id, "s") },
		"all":      func() error { _, err := w.EndSessions(ctx, SystemCall(), id, ""); return err },
	} {
		if err := do(); !schemas.HasCode(err, schemas.CodeUserNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
