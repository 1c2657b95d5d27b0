package directory

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

const corpSecret = "what the corporation gave us"

// corp returns the body of a provider with changed members, given in pairs.
func corp(t testing.TB, changed ...any) string {
	t.Helper()
	return object(t, append([]any{"handle", "corp", "name", "Example Corp", "issuer", "https://login.example.com", "clientId", "postern"}, changed...)...)
}

// link links a user to a subject of a provider.
func (w *fixture) link(t testing.TB, userID, providerID, subject string) schemas.Identity {
	t.Helper()
	i := schemas.Identity{ID: schemas.NewID(), UserID: userID, ProviderID: providerID, Subject: subject, Name: "ann@example.com", CreatedAt: w.now()}
	must(t, w.store.Apply(t.Context(), storetest.Authorized([]schemas.Change{schemas.LinkIdentity{Identity: i}})))
	return i
}

// secretOf returns the authentication method and the secret for a provider.
func (w *fixture) secretOf(t testing.TB, handle string) string {
	t.Helper()
	p, err := w.IdentityProvider(t.Context(), handle)
	must(t, err)
	return p.TokenEndpointAuthMethod + " " + p.ClientSecret
}

// A new provider's metadata must have its issuer. Later writes do not read it, because the issuer stays, and
// neither do writes in a transaction, such as those of files.
func TestIdentityProviderIssuerIsRead(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		var read []string
		fault := "the configuration has the issuer \"https://login.example.com\": configure exactly that issuer"
		w.IssuerFault = func(_ context.Context, issuer string) string {
			read = append(read, issuer)
			return fault
		}
		_, err := w.IdentityProviders.Create(t.Context(), SystemCall(), doc(t, corp(t, "issuer", "https://login.example.com/", "tokenEndpointAuthMethod", "none")))
		if found := schemas.AsError(err).Errors; len(found) != 1 || found[0].Path != "issuer" || found[0].Message != fault {
			t.Errorf("another issuer: %v", err)
		}
		if _, err := w.IdentityProviders.Create(t.Context(), SystemCall(), doc(t, corp(t, "issuer", "ftp://login.example.com"))); err == nil {
			t.Error("an invalid issuer was accepted")
		}
		must(t, w.Transact(t.Context(), SystemCall(), func(call Call) error {
			_, err := w.IdentityProviders.Create(t.Context(), call, doc(t, corp(t, "handle", "seeded", "tokenEndpointAuthMethod", "none")))
			return err
		}))
		fault = ""
		id := w.create(t, w.IdentityProviders, corp(t, "tokenEndpointAuthMethod", "none"))
		fault = "it changed later"
		_, err = w.IdentityProviders.Replace(t.Context(), SystemCall(), id, "", doc(t, corp(t, "name", "Renamed", "tokenEndpointAuthMethod", "none")))
		must(t, err)
		if got := strings.Join(read, " "); got != "https://login.example.com/ https://login.example.com" {
			t.Errorf("the metadata that was read is %s", got)
		}
	})
}

// A caller who lost the permission while the request waited does not make the server read metadata.
func TestIssuerIsReadOnlyForAuthorizedCallers(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		reads := 0
		w.IssuerFault = func(context.Context, string) string {
			reads++
			return ""
		}
		const needed = "system:identity-providers:write"
		clerk := w.create(t, w.Users, `{"type": "Person", "attributes": {"username": "clerk"}}`)
		call := Call{Actor: schemas.Actor{Type: schemas.UserActor, ID: clerk}, Permissions: []string{needed}, Needs: needed, Token: &schemas.TokenRef{ID: "t"}}
		body := doc(t, corp(t, "tokenEndpointAuthMethod", "none"))
		if _, err := w.IdentityProviders.Create(t.Context(), call, body); !schemas.HasClass(err, schemas.Forbidden) || reads != 0 {
			t.Errorf("without the permission: %v, %d reads", err, reads)
		}
		w.create(t, w.Roles, object(t, "name", "Federation", "permissions", []string{needed}, "assignments", []schemas.Principal{{Type: schemas.UserPrincipal, ID: clerk}}))
		if _, err := w.IdentityProviders.Create(t.Context(), call, body); err != nil || reads != 1 {
			t.Errorf("with the permission: %v, %d reads", err, reads)
		}
	})
}

func TestIdentityProviderSecrets(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		id := w.create(t, w.IdentityProviders, corp(t, "clientSecret", corpSecret))
		if got := w.secretOf(t, "corp"); got != "client_secret_basic "+corpSecret {
			t.Errorf("the secret is %q", got)
		}
		if _, err := w.IdentityProvider(t.Context(), "club"); !schemas.HasCode(err, schemas.CodeProviderNotFound) {
			t.Errorf("another: %v", err)
		}
		item, err := w.IdentityProviders.Get(t.Context(), SystemCall(), id)
		must(t, err)
		first := item.ETag
		for _, c := range []struct {
			name, body, then string
			changes          bool
		}{
			{"said once more", corp(t, "clientSecret", corpSecret), "client_secret_basic " + corpSecret, false},
			{"left out", corp(t), "client_secret_basic " + corpSecret, false},
			{"by another method", corp(t, "tokenEndpointAuthMethod", "client_secret_post"), "client_secret_post " + corpSecret, true},
			{"another", corp(t, "clientSecret", "a new one"), "client_secret_basic a new one", true},
			{"done without", corp(t, "tokenEndpointAuthMethod", "none"), "none ", true},
			{"left out after that", corp(t), "none ", false},
			{"given again", corp(t, "clientSecret", "again"), "client_secret_basic again", true},
			{"done without once more", corp(t, "tokenEndpointAuthMethod", "none"), "none ", true},
		} {
			item, err := w.IdentityProviders.Replace(t.Context(), SystemCall(), id, "", doc(t, c.body))
			must(t, err)
			if p := item.Value.(*schemas.IdentityProvider); p.ClientSecret != "" {
				t.Errorf("%s: the answer contains the secret", c.name)
			}
			if got := w.secretOf(t, "corp"); got != c.then {
				t.Errorf("%s: the secret is %q, expected %q", c.name, got, c.then)
			}
			if changed := item.ETag != first; changed != c.changes {
				t.Errorf("%s: it was changed: %t", c.name, changed)
			}
			first = item.ETag
		}
		_, err = w.IdentityProviders.Replace(t.Context(), SystemCall(), id, "", doc(t, corp(t, "tokenEndpointAuthMethod", "client_secret_basic")))
		refused(t, err, schemas.CodeInvalidRequest, "clientSecret: needs the secret")
	})
}

// A secret sealed for one provider cannot be opened for another one or for another issuer,
// even after a change in the database.
func TestIdentityProviderSecretIsBound(t *testing.T) {
	w := newFixture(t)
	w.create(t, w.IdentityProviders, corp(t, "clientSecret", corpSecret))
	p, err := store.IdentityProviders().Find(t.Context(), w.store, "handle", "corp")
	must(t, err)
	was := p.UpdatedAt
	p.Issuer = "https://login.example.net"
	must(t, w.store.Update(t.Context(), func(tx *store.Tx) error { return store.IdentityProviders().Replace(tx, p, was) }))
	if got, err := w.IdentityProvider(t.Context(), "corp"); err == nil || strings.Contains(err.Error(), corpSecret) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The issuer of linked accounts and the handles that flows name cannot change.
func TestIdentityProvidersInUse(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		ctx, id := t.Context(), w.create(t, w.IdentityProviders, corp(t))
		h.writeFlow(t, "corp", "")
		replace := func(body string) error {
			_, err := h.IdentityProviders.Replace(ctx, SystemCall(), id, "", doc(t, body))
			return err
		}
		refused(t, h.IdentityProviders.Delete(ctx, SystemCall(), id, ""), schemas.CodeInUse, `flow: flow "by-corp"`)
		refused(t, replace(corp(t, "handle", "other")), schemas.CodeInUse, `flow: flow "by-corp"`)
		for _, issuer := range []string{"https://login.example.org", "https://login.example.com/", "https://LOGIN.example.com"} {
			refused(t, replace(corp(t, "issuer", issuer)), schemas.CodeInvalidRequest, "issuer: never changes; create a new provider")
		}
		i := h.link(t, h.ids["user"], id, "1")
		must(t, replace(corp(t, "name", "Corp", "clientId", "other")))
		h.dropFlow(t, "by-corp")
		must(t, replace(corp(t, "handle", "other")))
		refused(t, h.IdentityProviders.Delete(ctx, SystemCall(), id, ""), schemas.CodeInUse)
		h.link(t, h.ids["other"], id, "2")
		must(t, h.store.Apply(ctx, storetest.Authorized([]schemas.Change{schemas.UnlinkIdentity{UserID: i.UserID, ID: i.ID}})))
		_, err := h.UnlinkProvider(ctx, SystemCall(), schemas.NewID())
		refused(t, err, schemas.CodeProviderNotFound)
		for _, want := range []int{1, 0} {
			if n, err := h.UnlinkProvider(ctx, SystemCall(), id); n != want || err != nil {
				t.Errorf("%d were unlinked (%v), expected %d", n, err, want)
			}
		}
		if events := h.events(t); !slices.Contains(events, "identity_provider.unlinked") {
			t.Errorf("the log has %q", events)
		}
		must(t, h.IdentityProviders.Delete(ctx, SystemCall(), id, ""))
	})
}

// writeFlow stores a flow that names a provider, without the proofs, which have their own
// tests. The application, if any, uses the flow for sign-ins.
func (h *accessFixture) writeFlow(t testing.TB, provider, applicationID string) {
	t.Helper()
	now := h.now()
	f := schemas.Flow{ID: schemas.NewID(), Handle: "by-" + provider, Name: "By another", FlowType: schemas.Authentication, CreatedAt: &now, UpdatedAt: &now,
		ActiveVersion: 1, Nodes: []schemas.Node{{ID: "there", Use: federatedKind, With: []byte(object(t, "provider", provider)), Next: schemas.Next{To: "end"}}}}
	must(t, h.store.Update(t.Context(), func(tx *store.Tx) error {
		if err := store.Flows().Insert(tx, &f); err != nil || applicationID == "" {
			return err
		}
		a, err := store.Applications().Get(t.Context(), tx, applicationID)
		must(t, err)
		was := a.UpdatedAt
		a.AuthFlowID, a.AllowedUserTypes, a.UpdatedAt = f.ID, []string{"Nobody"}, nextUpdate(now, was) // its users have no permissions
		return store.Applications().Replace(tx, a, was)
	}))
}

// dropFlow deletes the flow.
func (h *accessFixture) dropFlow(t testing.TB, handle string) {
	t.Helper()
	f, err := store.Flows().Find(t.Context(), h.store, schemas.Authentication, handle)
	must(t, err)
	must(t, h.Flows.Delete(t.Context(), SystemCall(), f.ID, ""))
}

// providerAttempts change providers whose linked users have permissions.
func (h *accessFixture) providerAttempts(t testing.TB) []attempt {
	linked := h.create(t, h.IdentityProviders, corp(t))
	h.link(t, h.ids["user"], linked, "1") // a member of the group with the role
	named := h.create(t, h.IdentityProviders, corp(t, "handle", "club"))
	h.writeFlow(t, "club", h.create(t, h.Applications, machine(t, "Club", "openid "+reading)))
	h.writeFlow(t, "missing", h.create(t, h.Applications, machine(t, "Held", "openid "+reading)))
	free := h.create(t, h.IdentityProviders, corp(t, "handle", "free"))
	return []attempt{
		{"the client of a provider with a linked user who has it", writing, h.replace(t, h.IdentityProviders, linked, corp(t, "clientId", "mine"))},
		{"the name of a provider with a linked user who has it", writing, h.replace(t, h.IdentityProviders, linked, corp(t, "name", "Mine"))},
		{"the identity of a user who has it", writing, func(ctx context.Context, c Call) error {
			_, err := h.UnlinkProvider(ctx, c, linked)
			return err
		}},
		{"the client of a provider that the flow of a client names that has it", reading, h.replace(t, h.IdentityProviders, named, corp(t, "handle", "club", "clientId", "mine"))},
		{"a provider that a flow of a client waits for that has it", reading, func(ctx context.Context, c Call) error {
			_, err := h.IdentityProviders.Create(ctx, c, doc(t, corp(t, "handle", "missing")))
			return err
		}},
		{"its name for another provider", reading, h.replace(t, h.IdentityProviders, free, corp(t, "handle", "missing"))},
	}
}

// A flow names the providers of its sub-flows, in the versions that it uses.
func TestPartsNameProviders(t *testing.T) {
	part := &schemas.Flow{Nodes: []schemas.Node{{ID: "a", Use: federatedKind, With: []byte(`{"provider": "corp"}`)}}}
	whole := &schemas.Flow{Parts: map[string]*schemas.Flow{"other": {}, "there": {Parts: map[string]*schemas.Flow{"further": part}}}}
	for handle, want := range map[string]bool{"corp": true, "club": false, "": false} {
		if got := slices.Contains(providersOf(whole), handle); got != want {
			t.Errorf("it names %q: %t", handle, got)
		}
	}
}

// Flows name existing providers, except flows from files, which are stored first.
func TestFlowsNameProviders(t *testing.T) {
	h := furnished(t, newFixture(t))
	h.create(t, h.IdentityProviders, corp(t))
	flow := schemas.Flow{Handle: "by-corp", Name: "By corp", FlowType: schemas.Authentication, Nodes: []schemas.Node{
		{ID: "a", Use: federatedKind, With: []byte(`{"provider": "corp"}`)},
		{ID: "b", Use: "prompt", With: []byte(`{"provider": "nobody"}`)},
		{ID: "c", Use: federatedKind, With: []byte(`{"provider": 7}`)},
		{ID: "d", Use: federatedKind, With: []byte(`{"provider": "club"}`)},
	}}
	check := func(c Call, readOnly bool) error {
		return h.store.Update(t.Context(), func(tx *store.Tx) error {
			f := flow
			f.IsReadOnly = readOnly
			w := &writeContext{ctx: t.Context(), call: c, tx: tx, now: h.now(), directory: h.Directory}
			return flowResource{h.Directory}.validate(w, &provenFlow{flow: &f, valid: true}, nil, nil, &f)
		})
	}
	for _, c := range []struct {
		call     Call
		readOnly bool
	}{{SystemCall(), false}, {as(h.ids["user"], "system"), false}, {as(h.ids["user"], "system"), true}} {
		refused(t, check(c.call, c.readOnly), schemas.CodeInvalidFlow, `nodes[3].with.provider: there is no identity provider "club"; create it first`)
	}
	flow.Nodes[3].With = []byte(`{"provider": "crop"}`)
	refused(t, check(SystemCall(), false), schemas.CodeInvalidFlow, `nodes[3].with.provider: there is no identity provider "crop"; did you mean "corp"? Otherwise create it first`)
	must(t, check(SystemCall(), true))
}
