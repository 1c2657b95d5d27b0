package storetest

import (
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testReadAhead has requests that read ahead get what others get, and never what they have written
// over.
func testReadAhead(t *testing.T, s *store.Store) {
	a := newAuthorizing(t, s)
	key, run := newCredential(a.user.ID), newRun()
	run.ApplicationID = a.client.ID
	r := a.request()
	apply(t, s, schemas.CreateCredential{Credential: key}, schemas.CreateAuthRequest{Request: r})
	commit(t, s, run)
	ctx := s.ReadAhead(t.Context())
	revised := func(want schemas.Application) {
		t.Helper()
		updated, _, _, err := s.ApplicationRevision(ctx, want.ID)
		must(t, err)
		wantEqual(t, "when the application was changed", updated, want.UpdatedAt)
		id, updated, err := s.ClientRevision(ctx, want.ClientID)
		must(t, err)
		wantEqual(t, "the revision of the client", []any{id, updated}, []any{want.ID, want.UpdatedAt})
	}
	revise := func() {
		was := a.client.UpdatedAt
		a.client.UpdatedAt = was.Add(1e9)
		update(t, s, func(tx *store.Tx) error { return store.Applications().Replace(tx, &a.client, was) })
	}
	reply(s.Run(ctx, run.ID)).equals(t, "the run", run)
	revised(a.client)
	revise()
	ctx = s.ReadAhead(t.Context()) // the next request
	reply(s.AuthRequest(ctx, r.ID)).equals(t, "the authorization request", &r)
	revised(a.client)
	revise()
	must(t, s.TouchSession(ctx, a.session.ID, noon())) // a write of the request
	revised(a.client)
	reply(s.Run(ctx, schemas.NewID())).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
	reply(s.AuthRequest(ctx, schemas.NewID())).fails(t, schemas.Invalid, schemas.CodeAuthRequest)
	_, _, err := s.ClientRevision(ctx, "unknown")
	wantError(t, err, schemas.NotFound, schemas.CodeAppNotFound)

	reply(s.Credential(ctx, key.ID)).equals(t, "the passkey", &key)
	reply(s.User(ctx, a.user.ID)).equals(t, "its user", &a.user)
	reply(s.Credential(ctx, key.ID)).get(t)
	reply(s.User(ctx, schemas.NewID())).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	reply(s.Credential(ctx, key.ID)).get(t)
	must(t, s.Apply(ctx, []schemas.Change{schemas.UpdateUser{UserID: a.user.ID, Attributes: map[string]any{"username": "anna"}, At: noon()}}))
	wantEqual(t, "the name of the user", reply(s.User(ctx, a.user.ID)).get(t).Text("username"), "anna")
	reply(s.Credential(ctx, schemas.Bytes("unknown"))).fails(t, schemas.NotFound, schemas.CodeCredentialNotFound)

	reply(s.SessionUser(ctx, a.session.ID, a.user.ID)).get(t)
	endAt(t, s, a.session.ID, noon())
	reply(s.SessionUser(ctx, a.session.ID, a.user.ID)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
}
