package directory

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// byAssertion returns a call of a user with the assertion that an application received.
func byAssertion(user, application string, permissions ...string) Call {
	c := as(user, permissions...)
	c.Actor.Client = application
	return c
}

// signInClient returns the body of an application for sign-ins.
func signInClient(t testing.TB, name string, scopes ...string) string {
	t.Helper()
	return object(t, "name", name, "inboundAuthConfig", []any{map[string]any{"type": "oauth2", "config": map[string]any{
		"redirectUris": []string{"https://app.example.com/back"}, "scopes": append([]string{}, scopes...)}}})
}

// manage returns the operations on a user's sign-in methods and sessions.
func (w *fixture) manage(user string, key schemas.Bytes, session string) map[string]func(context.Context, Call) error {
	return map[string]func(context.Context, Call) error{
		"registering a passkey": func(ctx context.Context, c Call) error { return w.MayManageAccount(ctx, c, user) },
		"renaming a passkey": func(ctx context.Context, c Call) error {
			_, err := w.RenamePasskey(ctx, c, user, key, "Mine")
			return err
		},
		"deleting a passkey": func(ctx context.Context, c Call) error { return w.DeletePasskey(ctx, c, user, key) },
		"signing out":        func(ctx context.Context, c Call) error { return w.EndSession(ctx, c, user, session) },
		"signing out everywhere": func(ctx context.Context, c Call) error {
			_, err := w.EndSessions(ctx, c, user, "")
			return err
		},
	}
}

// An application that receives a user's assertion cannot change how the user signs in, if
// the user has permissions that the application lacks.
func TestAccountsOfPermittedUsers(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		plain, lured := h.create(t, h.Applications, `{"name": "Plain"}`), h.create(t, h.Applications, signInClient(t, "Lure", "openid", "profile"))
		part := h.create(t, h.Applications, signInClient(t, "Part", "openid", "system:users"))
		account, all := h.create(t, h.Applications, signInClient(t, "Account", "openid", "account")), h.create(t, h.Applications, signInClient(t, "All", "system"))
		root, reader := h.ids["user"], h.ids["other"] // has shop:orders:write already
		var asked schemas.Application
		must(t, json.Unmarshal([]byte(signInClient(t, "Itself", "openid", "system")), &asked))
		registered, err := h.Register(t.Context(), UntrustedCall(), Registration{Application: asked, By: schemas.RegisteredDynamically})
		must(t, err)
		self := registered.ID
		h.role(t, root, "system:users", "system:groups")
		h.passkey(t, root, 9) // users cannot delete their last one
		h.passkey(t, reader, 8)
		key, session := h.passkey(t, root, 1), h.session(t, root)
		theirs, theirSession := h.passkey(t, reader, 3), h.session(t, reader)
		impostor := Call{Actor: schemas.Actor{Type: schemas.ApplicationActor, ID: root, Client: root}, Permissions: []string{"openid"}}
		for _, test := range []struct {
			name string
			call Call
			code string // "" if allowed
		}{
			{"an application that is no client", byAssertion(root, plain), CodeInsufficientScope},
			{"a client for signing in", byAssertion(root, lured), CodeInsufficientScope},
			{"an application that is gone", byAssertion(root, schemas.NewID()), CodeInsufficientScope},
			{"a part of what the user has", byAssertion(root, part, "system:users"), CodeInsufficientScope},
			{"all but what is of another resource server", byAssertion(root, part, "system:users", "system:groups"), CodeInsufficientScope},
			{"less than what the user has", byAssertion(root, part, "system:users:read", "system:groups:read", "shop:orders:write"), CodeInsufficientScope},
			{"a word that is like the scope", byAssertion(root, lured, "accounts", "account:"), CodeInsufficientScope},
			{"the name of a client in the place of an application's id", byAssertion(root, "taken"), CodeInsufficientScope},
			{"all that the user has", byAssertion(root, lured, "system:users", "system:groups", "shop"), CodeInsufficientScope},
			{"everything", byAssertion(root, lured, "system"), ""},
			{"a client for accounts", byAssertion(root, account), ""},
			{"a client for everything", byAssertion(root, all), ""},
			{"an access token for accounts", byAssertion(root, "taken", "openid", "account"), ""},
			{"a passkey on a user's page", as(root), CodeInsufficientScope},
			{"a passkey on our own page", as(root, "system:users", "system:groups", "shop:orders:write"), CodeInsufficientScope},
			{"a client that registered itself for everything", byAssertion(root, self), CodeInsufficientScope},
			{"a client that has the user's id", impostor, schemas.CodeForbidden},
			{"another user, for accounts", byAssertion(reader, account, "account"), schemas.CodeForbidden},
		} {
			for how, do := range h.manage(root, key, session) {
				test.call.DryRun, test.call.AuthTime = true, w.now()
				test.call.ACR, test.call.Methods = schemas.ACRPhishingResistant, []string{"pop"}
				err := do(t.Context(), test.call)
				if fine := err == nil && test.code == ""; !fine && (!schemas.HasCode(err, test.code) || !schemas.HasClass(err, schemas.Forbidden)) {
					t.Errorf("%s by %s: %v, expected %q", how, test.name, err, test.code)
				}
			}
		}
		// Users with fewer or no permissions are protected too.
		nobody := h.create(t, h.Users, person("nobody"))
		h.passkey(t, nobody, 7)
		for _, user := range []struct {
			id, session string
			key         schemas.Bytes
		}{{reader, theirSession, theirs}, {nobody, h.session(t, nobody), h.passkey(t, nobody, 6)}} {
			for how, do := range h.manage(user.id, user.key, user.session) {
				for _, app := range []string{plain, lured, self, schemas.NewID(), ""} {
					call := byAssertion(user.id, app)
					call.DryRun, call.AuthTime = true, w.now()
					if err := do(t.Context(), call); !schemas.HasCode(err, CodeInsufficientScope) {
						t.Errorf("%s at %q: %v", how, app, err)
					}
				}
			}
		}
		refused(t, h.MayManageAccount(t.Context(), SystemCall(), schemas.NewID()), schemas.CodeUserNotFound)
	})
}

// A client with the account scope can manage the accounts of administrators, so only they
// may register or change it.
func TestAccountScopeIsForAdministrators(t *testing.T) {
	h := furnished(t, newFixture(t))
	account, plain := h.create(t, h.Applications, signInClient(t, "Account", "openid", "account")), h.create(t, h.Applications, signInClient(t, "Plain", "openid"))
	flow := h.create(t, h.Flows, fmt.Sprintf(`{"handle": "own", "name": "Own", "flowType": "AUTHENTICATION", "nodes": %s}`, passkeyNodes))
	h.create(t, h.Applications, object(t, "name", "With a flow", "authFlowId", flow, "inboundAuthConfig", []any{map[string]any{"type": "oauth2", "config": map[string]any{
		"redirectUris": []string{"https://app.example.com/back"}, "scopes": []string{"account"}}}}))
	h.refusesClerks(t, map[string]func(context.Context, Call) error{
		"a new client with it": func(ctx context.Context, c Call) error {
			_, err := h.Applications.Create(ctx, c, doc(t, signInClient(t, "New", "account")))
			return err
		},
		"a client that is to have it": h.replace(t, h.Applications, plain, signInClient(t, "Plain", "openid", "account")),
		"a client that has it":        h.replace(t, h.Applications, account, signInClient(t, "Account", "openid")),
		"the flow of one that has it": h.replace(t, h.Flows, flow, fmt.Sprintf(`{"handle": "own", "name": "Theirs", "flowType": "AUTHENTICATION", "nodes": %s}`, passkeyNodes)),
		"its secret": func(ctx context.Context, c Call) error {
			_, err := h.RotateSecret(ctx, c, account, SecretRotation{})
			return err
		},
		"its deletion": func(ctx context.Context, c Call) error { return h.Applications.Delete(ctx, c, account, "") },
		"a client that registers itself, with their token": func(ctx context.Context, c Call) error {
			var app schemas.Application
			must(t, json.Unmarshal([]byte(signInClient(t, "Itself", "account")), &app))
			_, err := h.Register(ctx, c, Registration{Application: app, By: schemas.RegisteredDynamically})
			return err
		},
	})
}

// Changing an account requires a recent sign-in, even with a valid token for accounts.
// Reading it and ending sessions do not, nor does a token that may act for any
// user.
func TestAudit07AccountChangesNeedARecentSignIn(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		user := w.create(t, w.Users, person("ada"))
		key, session := w.passkey(t, user, 1), w.session(t, user)
		for name, test := range map[string]struct {
			at    time.Time
			fresh bool
		}{
			"now":           {w.now(), true},
			"2 minutes ago": {w.now().Add(-2 * time.Minute), true},
			"longer ago":    {w.now().Add(-MaxProofAge - time.Second), false},
			"unknown":       {time.Time{}, false},
		} {
			call := as(user, "openid", schemas.AccountScope)
			call.AuthTime, call.DryRun = test.at, true
			for how, do := range w.manage(user, key, session) {
				err := do(t.Context(), call)
				if strings.HasPrefix(how, "signing out") { // it only takes access away
					must(t, err)
				} else if (err == nil) != test.fresh || err != nil && (!schemas.HasCode(err, schemas.CodeStaleProof) || !schemas.HasClass(err, schemas.Unauthenticated)) {
					t.Errorf("%s, signed in %s: %v", how, name, err)
				}
			}
			_, err := w.Passkeys(t.Context(), call, user)
			must(t, err)
			call.Session = session
			must(t, w.EndSession(t.Context(), call, user, session))
			call.Permissions = []string{"system"}
			must(t, w.MayManageAccount(t.Context(), call, user))
		}
	})
}
