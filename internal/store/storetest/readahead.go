package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

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
	must(t, s.Apply(ctx, authorized([]schemas.Change{schemas.UpdateUser{UserID: a.user.ID, Attributes: map[string]any{"username": "anna"}, At: noon()}})))
	wantEqual(t, "the name of the user", reply(s.User(ctx, a.user.ID)).get(t).Text("username"), "anna")
	reply(s.Credential(ctx, schemas.Bytes("unknown"))).fails(t, schemas.NotFound, schemas.CodeCredentialNotFound)

	reply(s.SessionUser(ctx, a.session.ID, a.user.ID)).get(t)
	endAt(t, s, a.session.ID, noon())
	reply(s.SessionUser(ctx, a.session.ID, a.user.ID)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
}

// testPasskeyAhead has requests that name a passkey get what others get, also if it does not exist.
func testPasskeyAhead(t *testing.T, s *store.Store) {
	o := newOrganization(t, s)
	for _, id := range o.users {
		key, run := newCredential(id), newRun()
		apply(t, s, schemas.CreateCredential{Credential: key})
		commit(t, s, run)
		user := reply(s.User(t.Context(), id)).get(t)
		held := reply(s.Permissions(t.Context(), id)).get(t)
		request := func(passkey schemas.Bytes) context.Context {
			return schemas.WithNamed(s.ReadPasskeysAhead(t.Context()), schemas.Named{Passkey: passkey})
		}
		ctx := request(key.ID)
		for range 2 { // the second time nothing is kept
			reply(s.Run(ctx, run.ID)).equals(t, "the run", run)
			reply(s.Credential(ctx, key.ID)).equals(t, "the passkey", &key)
			reply(s.User(ctx, id)).equals(t, "its user", user)
			wantEqual(t, "the permissions", reply(s.Permissions(ctx, id)).get(t), held)
			ctx = s.ReadPasskeysAhead(t.Context())
		}
		ctx = request(key.ID)
		reply(s.Run(ctx, run.ID)).get(t)
		other := reply(s.Permissions(ctx, o.users[0])).get(t)
		wantEqual(t, "the permissions of another user", other, reply(s.Permissions(t.Context(), o.users[0])).get(t))
		apply(t, s, schemas.DeleteCredential{UserID: key.UserID, ID: key.ID, At: noon()})
		ctx = request(key.ID)
		reply(s.Run(ctx, run.ID)).equals(t, "the run", run)
		reply(s.Credential(ctx, key.ID)).fails(t, schemas.NotFound, schemas.CodeCredentialNotFound)
		reply(s.Run(request(key.ID), schemas.NewID())).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
	}
}

// testCodeAhead is testPasskeyAhead for codes.
func testCodeAhead(t *testing.T, s *store.Store) {
	a := newAuthorizing(t, s)
	r := a.answered(t, "code")
	request := func(code string) context.Context {
		return schemas.WithNamed(s.ReadGrantsAhead(t.Context()), schemas.Named{CodeHash: []byte(code)})
	}
	client := func(ctx context.Context) {
		t.Helper()
		id, updated, err := s.ClientRevision(ctx, a.client.ClientID)
		must(t, err)
		wantEqual(t, "the revision of the client", []any{id, updated}, []any{a.client.ID, a.client.UpdatedAt})
	}
	want := reply(s.AuthRequestByCode(t.Context(), []byte("code"))).get(t)
	wantEqual(t, "the request", want.Grant, r.Grant)
	ctx := request("code")
	client(ctx)
	reply(s.SessionUser(ctx, schemas.NewID(), a.user.ID)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	reply(s.SessionUser(ctx, a.session.ID, schemas.NewID())).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	for range 2 {
		reply(s.AuthRequestByCode(ctx, []byte("code"))).equals(t, "the request", want)
		reply(s.SessionUser(ctx, a.session.ID, a.user.ID)).equals(t, "the user", &a.user)
		client(ctx)
	}
	_, _, err := s.ClientRevision(request("code"), "unknown")
	wantError(t, err, schemas.NotFound, schemas.CodeAppNotFound)
	ctx = request("unknown")
	client(ctx)
	reply(s.AuthRequestByCode(ctx, []byte("unknown"))).fails(t, schemas.Invalid, schemas.CodeAuthCodeNotFound)
	ctx = request("code")
	client(ctx)
	must(t, s.TouchSession(ctx, a.session.ID, noon())) // a write of the request
	endAt(t, s, a.session.ID, noon())
	reply(s.SessionUser(ctx, a.session.ID, a.user.ID)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	ctx = request("code")
	client(ctx)
	reply(s.SessionUser(ctx, a.session.ID, a.user.ID)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
}

// testFamilyAhead is testPasskeyAhead for refresh tokens.
func testFamilyAhead(t *testing.T, s *store.Store) {
	a := newAuthorizing(t, s)
	r := a.redeemed(t, "code")
	want := reply(s.RefreshFamily(t.Context(), r.ID)).get(t)
	request := func(family string) context.Context {
		t.Helper()
		ctx := schemas.WithNamed(s.ReadGrantsAhead(t.Context()), schemas.Named{Family: family})
		id, updated, err := s.ClientRevision(ctx, a.client.ClientID)
		must(t, err)
		wantEqual(t, "the revision of the client", []any{id, updated}, []any{a.client.ID, a.client.UpdatedAt})
		return ctx
	}
	ctx := request(r.ID)
	reply(s.RefreshFamily(ctx, schemas.NewID())).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
	reply(s.SessionUser(ctx, schemas.NewID(), a.user.ID)).fails(t, schemas.NotFound, schemas.CodeUserNotFound)
	for range 2 { // the second time nothing is kept
		reply(s.RefreshFamily(ctx, r.ID)).equals(t, "the family", want)
		reply(s.SessionUser(ctx, a.session.ID, a.user.ID)).equals(t, "the user", &a.user)
	}
	unknown := schemas.NewID()
	reply(s.RefreshFamily(request(unknown), unknown)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)

	rotation := schemas.Rotation{ID: r.ID, At: noon(), Revoke: noon().Add(time.Hour)}
	ctx, late := request(r.ID), request(r.ID)
	reply(s.RotateRefresh(ctx, rotation)).equals(t, "whether it was used before", false)
	wantEqual(t, "the generation after a rotation of the request", reply(s.RefreshFamily(ctx, r.ID)).get(t).Generation, 1)
	reply(s.RefreshFamily(late, r.ID)).get(t) // read before that rotation, if the store reads ahead
	reply(s.RotateRefresh(late, rotation)).equals(t, "whether it was used before", true)

	r = a.redeemed(t, "another code")
	late = request(r.ID)
	endAt(t, s, a.session.ID, noon())
	reply(s.RotateRefresh(late, schemas.Rotation{ID: r.ID, At: noon()})).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
	reply(s.RefreshFamily(request(r.ID), r.ID)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
}

// testAccountAhead has requests that read the account of a token get what others get.
func testAccountAhead(t *testing.T, s *store.Store) {
	a := newAuthorizing(t, s)
	other := created(t, s, "bob")
	insertPermissions(t, s)
	request := func(session string, live bool) context.Context {
		t.Helper()
		ctx := s.ReadAccountsAhead(t.Context())
		reply(s.TokenLive(ctx, schemas.TokenRef{ID: "token", Session: session})).equals(t, "whether the token is live", live)
		return ctx
	}
	finds := func(ctx context.Context, u schemas.User) {
		t.Helper()
		for range 2 { // the second time nothing is kept
			reply(store.UserOf(ctx, s, u.ID)).equals(t, "the user", &u)
			reply(store.ProtectionOf(ctx, s, u.ID)).equals(t, "what protects the account", reply(store.ProtectionOf(t.Context(), s, u.ID)).get(t))
			reply(store.CredentialsOf(ctx, s, u.ID)).equals(t, "the passkeys", reply(store.CredentialsOf(t.Context(), s, u.ID)).get(t))
		}
	}
	finds(request(a.session.ID, true), a.user)
	finds(request(a.session.ID, true), other)
	finds(request("", true), a.user)
	for _, id := range []string{a.user.ID, other.ID, a.user.ID} {
		apply(t, s, schemas.CreateCredential{Credential: newCredential(id)})
		finds(request(a.session.ID, true), a.user)
	}
	role := newRole("administrators", []string{"system"})
	role.Assignments = []schemas.Principal{{Type: schemas.UserPrincipal, ID: a.user.ID}}
	insert(t, s, &role)
	finds(request(a.session.ID, true), a.user)
	apply(t, s, giveCodes(a.user.ID, "one")...)
	ctx := request(a.session.ID, true)
	finds(ctx, a.user)
	ctx = request(a.session.ID, true)
	must(t, s.Apply(ctx, authorized(giveCodes(a.user.ID)))) // a write of the request
	finds(ctx, a.user)
	apply(t, s, schemas.SetTOTP{TOTP: newTOTP(a.user.ID)})
	sessions := reply(store.SessionsOf(t.Context(), s, a.user.ID, noon())).get(t)
	for _, session := range sessions { // a new factor ends sessions
		finds(request(session.ID, true), a.user)
	}
	ctx = request(a.session.ID, len(sessions) > 0)
	update(t, s, func(tx *store.Tx) error {
		_, err := store.ProtectionOf(ctx, tx, a.user.ID)
		return err
	})
	apply(t, s, schemas.RevokeToken{ID: "token", ExpiresAt: noon().Add(time.Hour)})
	finds(request(a.session.ID, false), a.user)
	finds(request(schemas.NewID(), false), a.user)
}

// testAssumptions has requests that assume a client that has changed write nothing.
func testAssumptions(t *testing.T, s *store.Store) {
	a := newAuthorizing(t, s)
	begin := func(ctx context.Context) (schemas.AuthRequest, error) {
		_, _, err := s.ClientRevision(ctx, a.client.ClientID)
		must(t, err)
		r := a.request()
		return r, s.Apply(ctx, []schemas.Change{schemas.CreateAuthRequest{Request: r}})
	}
	confirmed := func(ctx context.Context, want bool) {
		t.Helper()
		reply(s.Confirm(ctx)).equals(t, "whether the assumption is confirmed", want)
	}
	revise := func() {
		was := a.client.UpdatedAt
		a.client.UpdatedAt = was.Add(1e9)
		update(t, s, func(tx *store.Tx) error { return store.Applications().Replace(tx, &a.client, was) })
	}
	confirmed(t.Context(), true)
	for range 2 { // the first request reads the revision, the second one assumes it
		ctx := s.Assume(t.Context())
		r, err := begin(ctx)
		must(t, err)
		confirmed(ctx, true)
		reply(s.AuthRequest(t.Context(), r.ID)).equals(t, "the request", &r)
	}
	revise()
	assumes := s.ReadAhead(t.Context()) != t.Context() // not on SQLite
	for name, write := range map[string]func(context.Context) error{
		"one statement": func(ctx context.Context) error { return s.TouchSession(ctx, a.session.ID, noon()) },
		"a batch":       func(ctx context.Context) error { return s.Apply(ctx, a.events(2)) },
		"a transaction": func(ctx context.Context) error {
			return s.Update(ctx, func(tx *store.Tx) error { return tx.Apply(a.events(1)) })
		},
		"no write": func(context.Context) error { return nil },
	} {
		ctx := s.Assume(t.Context())
		_, _, err := s.ClientRevision(ctx, a.client.ClientID)
		must(t, err)
		if err := write(ctx); assumes && name != "no write" && err == nil {
			t.Errorf("%s: written on an outdated assumption", name)
		}
		confirmed(ctx, !assumes)
	}
	ctx := s.Assume(t.Context())
	r, err := begin(ctx)
	wantEqual(t, "whether the write fails", err != nil, assumes)
	if assumes {
		reply(s.AuthRequest(t.Context(), r.ID)).fails(t, schemas.Invalid, schemas.CodeAuthRequest)
	}
	fresh := s.ReadAhead(t.Context())
	_, updated, err := s.ClientRevision(fresh, a.client.ClientID)
	must(t, err)
	wantEqual(t, "when the client was changed", updated, a.client.UpdatedAt)
	ctx = s.Assume(t.Context())
	_, err = begin(ctx)
	must(t, err)
	confirmed(ctx, true)
	must(t, s.TouchSession(ctx, a.session.ID, noon())) // nothing is assumed any more
	wantEqual(t, "the number of events", len(reply(s.Events(t.Context(), schemas.EventQuery{Limit: 10, Action: "test.assumed"})).get(t)), map[bool]int{true: 0, false: 3}[assumes])
}

// events are events to write.
func (a *authorizing) events(n int) (list []schemas.Change) {
	for range n {
		list = append(list, schemas.RecordEvent{Event: schemas.Event{ID: schemas.NewID(), At: noon(), Action: "test.assumed", UserID: a.user.ID}})
	}
	return list
}

// testAssumedClients has requests of several clients in turn assume the revision of each.
func testAssumedClients(t *testing.T, s *store.Store) {
	assumes := s.ReadAhead(t.Context()) != t.Context() // not on SQLite
	var clients []schemas.Application
	for i := range 5 {
		clients = append(clients, newClient(fmt.Sprintf("shop%d", i)))
		update(t, s, func(tx *store.Tx) error { return store.Applications().Insert(tx, &clients[i]) })
		_, _, err := s.ClientRevision(s.ReadAhead(t.Context()), clients[i].ClientID)
		must(t, err)
	}
	for i := range clients {
		was := clients[i].UpdatedAt
		clients[i].UpdatedAt = was.Add(time.Second)
		update(t, s, func(tx *store.Tx) error { return store.Applications().Replace(tx, &clients[i], was) })
	}
	for _, c := range clients {
		ctx := s.Assume(t.Context())
		_, _, err := s.ClientRevision(ctx, c.ClientID)
		must(t, err)
		reply(s.Confirm(ctx)).equals(t, "whether a request does not assume the former revision of "+c.Name, !assumes)
	}
}
