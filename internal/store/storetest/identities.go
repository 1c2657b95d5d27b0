package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func newIdentityProvider(handle string) schemas.IdentityProvider {
	return schemas.IdentityProvider{ID: schemas.NewID(), Handle: handle, Name: "Example Corp", Issuer: "https://login.example.com/",
		ClientID: "postern", TokenEndpointAuthMethod: "none", CreatedAt: noon(), UpdatedAt: noon()}
}

func newIdentity(userID, subject string) schemas.Identity {
	return schemas.Identity{ID: schemas.NewID(), UserID: userID, ProviderID: corpID, Subject: subject, Name: "ann@example.com", CreatedAt: noon()}
}

func link(i schemas.Identity) []schemas.Change {
	return []schemas.Change{schemas.LinkIdentity{Identity: i}}
}

func useIdentity(id string, at time.Time) []schemas.Change {
	return []schemas.Change{schemas.UseIdentity{ID: id, At: at}}
}

func identityProviders() tableCase[schemas.IdentityProvider] {
	return tableCase[schemas.IdentityProvider]{
		table: store.IdentityProviders(), code: schemas.CodeProviderNotFound,
		fresh: func(n int) schemas.IdentityProvider {
			return schemas.IdentityProvider{Handle: fmt.Sprint("provider", n), Name: "Provider", TokenEndpointAuthMethod: "none"}
		},
		full: func() schemas.IdentityProvider {
			v := newIdentityProvider("full")
			v.ID, v.SealedSecret, v.TokenEndpointAuthMethod = "", schemas.Bytes{0, 1, 0xff}, "client_secret_post"
			v.Scopes = []string{"openid", "email"}
			return v
		},
		edit: func(v *schemas.IdentityProvider) {
			v.Handle, v.Name, v.Issuer, v.ClientID, v.SealedSecret = "edited", "Edited", "https://login.example.org", "other", nil
			v.TokenEndpointAuthMethod, v.Scopes = "none", []string{"openid"}
		},
		filters:  []string{"handle"},
		prefixes: []string{"handle"},
	}
}

func testIdentities(t *testing.T, s RunStore) {
	ctx, ann, bob := t.Context(), created(t, s, "ann"), created(t, s, "bob")
	read := func(subject string) *schemas.Identity {
		t.Helper()
		got := reply(s.Identity(ctx, corpID, subject)).get(t)
		return got
	}
	of := func(userID string) []schemas.Identity {
		t.Helper()
		got := reply(s.UserIdentities(ctx, userID)).get(t)
		return got
	}
	first, second, his := newIdentity(ann.ID, "s1"), newIdentity(ann.ID, "S1"), newIdentity(bob.ID, "s1 ")
	second.CreatedAt, second.Name = noon().Add(time.Minute), ""
	if read("s1") != nil || of(ann.ID) != nil {
		t.Fatal("there is an identity that was never linked")
	}
	for _, i := range []schemas.Identity{second, first, his} { // three that only look alike
		apply(t, s, link(i)...)
	}
	for _, i := range []schemas.Identity{first, second, his} {
		wantEqual(t, "the identity "+i.Subject, read(i.Subject), &i)
	}
	wantEqual(t, "ann's", of(ann.ID), []schemas.Identity{first, second})
	if got, err := s.Identity(ctx, schemas.NewID(), "s1"); got != nil || err != nil {
		t.Fatalf("of another provider it is %+v, %v", got, err)
	}
	wantError(t, s.Commit(ctx, newRun(), authorized(link(newIdentity(bob.ID, "s1")))), schemas.Conflict, schemas.CodeIdentityTaken)
	again := newIdentity(ann.ID, "s1")
	again.Name = "ann@example.org"
	apply(t, s, link(again)...)
	first.Name = again.Name
	wantEqual(t, "what was linked again", read("s1"), &first)

	later := noon().Add(time.Hour)
	apply(t, s, useIdentity(first.ID, later)...)
	apply(t, s, useIdentity(first.ID, noon())...)
	first.LastUsedAt = &later
	wantEqual(t, "what was used", read("s1"), &first)
	wantEqual(t, "another", read("S1"), &second)
	for range 2 {
		apply(t, s, schemas.UnlinkIdentity{UserID: ann.ID, ID: first.ID})
	}
	wantEqual(t, "what is left", of(ann.ID), []schemas.Identity{second})
	wantError(t, s.Commit(ctx, newRun(), useIdentity(first.ID, later)), schemas.NotFound, schemas.CodeIdentityNotFound)
	must(t, s.Apply(ctx, authorized(link(newIdentity(bob.ID, "s1"))))) // it is free now
}

func testIdentityRace(t *testing.T, s RunStore) {
	for round := range 5 {
		subject := fmt.Sprint("subject", round)
		users := make([]schemas.User, 6)
		for i := range users {
			users[i] = created(t, s, fmt.Sprintf("u%d-%d", round, i))
		}
		oneWins(t, len(users), schemas.CodeIdentityTaken, func(i int) error {
			return s.Commit(t.Context(), newRun(), authorized(link(newIdentity(users[i].ID, subject))))
		})
	}
}

// testIdentitiesGo deletes the user and the provider of an identity, and tries to link invalid
// identities.
func testIdentitiesGo(t *testing.T, s *store.Store) {
	ctx, ann := t.Context(), created(t, s, "ann")
	corp := reply(s.IdentityProvider(ctx, "corp")).get(t)
	wantEqual(t, "the provider", corp.ID, corpID)
	reply(s.IdentityProvider(ctx, "Corp")).fails(t, schemas.NotFound, schemas.CodeProviderNotFound)

	stray := newIdentity(ann.ID, "s1")
	stray.ProviderID = schemas.NewID()
	wantError(t, s.Apply(ctx, authorized(link(stray))), schemas.NotFound, schemas.CodeProviderNotFound)
	of := func(issuer string) []schemas.Change {
		return []schemas.Change{schemas.LinkIdentity{Identity: newIdentity(ann.ID, "of "+issuer), Issuer: issuer}}
	}
	wantError(t, s.Apply(ctx, authorized(of("https://login.example.org/"))), schemas.NotFound, schemas.CodeProviderNotFound)
	apply(t, s, of(corp.Issuer)...)
	update(t, s, func(tx *store.Tx) error { _, err := store.UnlinkIdentities(tx, corpID, noon()); return err })
	for _, odd := range []string{"a\x00b", "\xff"} {
		wantError(t, s.Apply(ctx, authorized(link(newIdentity(ann.ID, odd)))), schemas.Invalid, schemas.CodeInvalidRequest)
	}
	apply(t, s, append(link(newIdentity(ann.ID, "s1")), link(newIdentity(ann.ID, "s2"))...)...)
	remove := func(tx *store.Tx) error { return store.IdentityProviders().Delete(tx, corpID, corp.UpdatedAt) }
	wantConflict(t, s.Update(ctx, remove))
	update(t, s, func(tx *store.Tx) error {
		reply(store.CountIdentities(ctx, tx, corpID)).equals(t, "how many identities there are", 2)
		wantEqual(t, "how many she has", len(reply(store.IdentitiesOf(ctx, tx, ann.ID)).get(t)), 2)
		return store.Users().Delete(tx, ann.ID, ann.UpdatedAt)
	})
	reply(s.Identity(ctx, corpID, "s1")).equals(t, "the identity of a user who is gone", (*schemas.Identity)(nil))
	update(t, s, remove)
}
