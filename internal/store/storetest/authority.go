package storetest

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// signedInAs is the authority of a user who has just signed in.
func signedInAs(userID, acr string, methods ...string) schemas.Authority {
	return schemas.Authority{UserID: userID, ACR: acr, Methods: methods, Time: noon()}
}

// insertPermissions adds the permissions of administrators.
func insertPermissions(t *testing.T, s *store.Store) {
	t.Helper()
	insert(t, s, &schemas.ResourceServer{ID: schemas.NewID(), Handle: "system", Name: "System", OUID: homeID, CreatedAt: noon(), UpdatedAt: noon(),
		Resources: []schemas.Resource{{Handle: "users", Name: "Users", Actions: []schemas.ResourceAction{{Handle: "write", Name: "Change users"}}}}})
}

// accountChanges are one change of each kind that concerns an account.
func accountChanges(u schemas.User) map[string]schemas.Change {
	key, app := newCredential(u.ID), newTOTP(u.ID)
	key.AddedBy = schemas.Provenance{}
	return map[string]schemas.Change{
		"a password":                schemas.SetPassword{UserID: u.ID, Hash: "$argon2id$2", At: noon()},
		"the end of a password":     schemas.RemovePassword{UserID: u.ID, At: noon()},
		"a passkey":                 schemas.CreateCredential{Credential: key},
		"the name of a passkey":     schemas.RenameCredential{UserID: u.ID, ID: schemas.Bytes("key of " + u.ID), Name: "x"},
		"the end of a passkey":      schemas.DeleteCredential{UserID: u.ID, ID: schemas.Bytes("key of " + u.ID), At: noon()},
		"the end of passkeys":       schemas.RemoveCredentials{UserID: u.ID, Keep: []schemas.Bytes{schemas.Bytes("key of " + u.ID)}, At: noon()},
		"an authenticator app":      schemas.SetTOTP{TOTP: app},
		"the end of an app":         schemas.DeleteTOTP{UserID: u.ID, At: noon()},
		"recovery codes":            schemas.SetRecoveryCodes{UserID: u.ID, Hashes: [][]byte{[]byte("code")}, At: noon()},
		"the end of recovery codes": schemas.DeleteRecoveryCodes{UserID: u.ID, At: noon()},
		"an identity":               schemas.LinkIdentity{Identity: newIdentity(u.ID, "subject of "+u.ID)},
		"the end of an identity":    schemas.UnlinkIdentity{UserID: u.ID, ID: schemas.NewID(), At: noon()},
		"an address":                schemas.UpdateUser{UserID: u.ID, Attributes: map[string]any{"email": u.ID + "@example.com", "email_verified": true}, At: noon()},
		"a username":                schemas.UpdateUser{UserID: u.ID, Attributes: map[string]any{"username": "new-" + u.ID}, At: noon()},
		"what is kept":              schemas.KeepAddition{UserID: u.ID, ID: schemas.Bytes("key of " + u.ID).String()},
		"a number":                  schemas.UpdateUser{UserID: u.ID, Attributes: map[string]any{"phone_number": "+15550100"}, At: noon()},
	}
}

// authorityUsers stores users with each kind of protection, by its description.
func authorityUsers(t *testing.T, s *store.Store) map[string]schemas.User {
	t.Helper()
	insertPermissions(t, s)
	users := map[string]schemas.User{}
	for _, name := range []string{"plain", "factor", "admin", "admin with a passkey", "admin who lost the passkey", "admin with a limited passkey", "admin of a group", "other"} {
		u := newUser(strings.ReplaceAll(name, " ", "-"))
		users[name] = u
		apply(t, s, create(u)...)
	}
	key := func(name string, by schemas.Provenance) schemas.Credential {
		c := newCredential(users[name].ID)
		c.ID, c.AddedBy = schemas.Bytes("key of "+c.UserID), by
		return c
	}
	limited := schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}}
	apply(t, s, schemas.SetTOTP{TOTP: newTOTP(users["factor"].ID)},
		schemas.CreateCredential{Credential: key("admin with a passkey", schemas.Provenance{})},
		schemas.CreateCredential{Credential: key("admin with a limited passkey", limited)},
		schemas.CreateCredential{Credential: key("admin of a group", schemas.Provenance{ACR: schemas.ACRMultiFactorPR, Methods: []string{"pop", "user"}})},
		schemas.CreateCredential{Credential: key("admin who lost the passkey", schemas.Provenance{})},
		schemas.CreateCredential{Credential: key("other", schemas.Provenance{})})
	apply(t, s, schemas.DeleteCredential{UserID: users["admin who lost the passkey"].ID, ID: key("admin who lost the passkey", limited).ID, At: noon()})
	newGroup := func(name string) schemas.Group {
		return schemas.Group{ID: schemas.NewID(), Name: name, OUID: homeID, CreatedAt: noon(), UpdatedAt: noon()}
	}
	outer, inner := newGroup("outer"), newGroup("inner")
	inner.Members = []schemas.Principal{{Type: schemas.UserPrincipal, ID: users["admin of a group"].ID}}
	outer.Members = []schemas.Principal{{Type: schemas.GroupPrincipal, ID: inner.ID}}
	role := newRole("administrators", []string{"system"})
	role.Assignments = []schemas.Principal{{Type: schemas.GroupPrincipal, ID: outer.ID}}
	partial := newRole("helpers", []string{"system:users:write"})
	for _, name := range []string{"admin", "admin with a passkey", "admin who lost the passkey", "admin with a limited passkey"} {
		partial.Assignments = append(partial.Assignments, schemas.Principal{Type: schemas.UserPrincipal, ID: users[name].ID})
	}
	insert(t, s, &inner, &outer, &role, &partial)
	return users
}

// replacing is the authority to replace an app that was never used.
func replacing(methods ...string) schemas.Authority {
	a := signedInAs("", schemas.ACRPassword, methods...)
	a.ReplacesUnused = true
	return a
}

// authorityTest is a sign-in with the codes of the refusals, by the account of authorityUsers.
type authorityTest struct {
	name string
	by   schemas.Authority
	want map[string]string
}

func authorityTests() []authorityTest {
	const stale, factor = schemas.CodeStaleProof, schemas.CodeFactorRequired
	old := signedInAs("", schemas.ACRMultiFactorPR, "pop", "user", "mfa")
	old.Time = noon().Add(-schemas.MaxAdministratorProofAge - time.Second)
	enrols := schemas.Authority{NewFactor: true, ACR: schemas.ACRPassword, Methods: []string{"pwd"}, Time: noon()}
	administrators := map[string]string{"admin with a passkey": stale, "admin who lost the passkey": stale, "admin of a group": stale}
	and := func(more map[string]string) map[string]string {
		all := maps.Clone(administrators)
		maps.Copy(all, more)
		return all
	}
	withFactor := and(map[string]string{"factor": factor})
	mailOnly := and(map[string]string{"factor": factor, "admin": stale, "admin with a limited passkey": stale})
	return []authorityTest{
		{"a password", signedInAs("", schemas.ACRPassword, "pwd"), withFactor},
		{"two factors", signedInAs("", schemas.ACRMultiFactor, "pwd", "otp", "mfa"), administrators},
		{"a passkey", signedInAs("", schemas.ACRPhishingResistant, "pop"), nil},
		{"an old passkey", old, administrators},
		{"a mailed code", signedInAs("", schemas.ACRVouched, schemas.AMREmail), mailOnly},
		{"no sign-in", schemas.Authority{}, mailOnly},
		{"a password, in a run that added the factor", enrols, administrators},
		{"a password, to replace an unused app", replacing("pwd"), withFactor},
		{"a password and a mailed code, to replace an unused app", replacing("pwd", schemas.AMREmail), administrators},
		{"the program", schemas.Authority{Program: true}, nil},
	}
}

// testAuthority changes accounts with each kind of protection after each kind of sign-in. Every change
// needs the authority, whatever part of the program asks for it.
func testAuthority(t *testing.T, s *store.Store) {
	users := authorityUsers(t, s)
	for _, tt := range authorityTests() {
		for account, u := range users {
			tt.by.UserID = u.ID
			err := s.Update(t.Context(), func(tx *store.Tx) error {
				return store.CheckAuthority(t.Context(), tx, schemas.RequireAuthority{UserID: u.ID, By: tt.by, At: noon()})
			})
			wantCode(t, account+" after "+tt.name, err, tt.want[account])
			if tt.want[account] == "" {
				continue
			}
			for what, change := range accountChanges(u) {
				err := s.Commit(t.Context(), newRun(), []schemas.Change{schemas.RequireAuthority{UserID: u.ID, By: tt.by, At: noon()}, change})
				wantCode(t, what+" of "+account+" after "+tt.name, err, tt.want[account])
			}
		}
	}
	apply(t, s, schemas.UseTOTP{UserID: users["factor"].ID, Step: 101, At: noon()})
	used := schemas.RequireAuthority{UserID: users["factor"].ID, By: replacing("pwd", schemas.AMREmail), At: noon()}
	used.By.UserID = used.UserID
	wantCode(t, "an app that was used", store.CheckAuthority(t.Context(), s, used), schemas.CodeFactorRequired)
	for what, change := range accountChanges(users["plain"]) { // the precondition cannot be left out, or be that of another
		for _, others := range [][]schemas.Change{nil, {schemas.RequireAuthority{UserID: users["other"].ID, By: schemas.Authority{Program: true}}}} {
			if err := s.Apply(t.Context(), append(others, change)); err == nil {
				t.Errorf("%s is changed without authority", what)
			}
		}
	}
	testAuthorityOverOthers(t, s, users)
}

// testAuthorityOverOthers changes the accounts of other users.
func testAuthorityOverOthers(t *testing.T, s *store.Store, users map[string]schemas.User) {
	for _, tt := range []struct{ caller, account, acr, code string }{
		{"admin with a passkey", "admin", schemas.ACRPassword, schemas.CodeStaleProof},
		{"admin who lost the passkey", "admin of a group", schemas.ACRMultiFactor, schemas.CodeStaleProof},
		{"admin with a passkey", "admin of a group", schemas.ACRPhishingResistant, ""},
		{"admin with a passkey", "plain", schemas.ACRPassword, ""},
		{"admin with a passkey", "factor", schemas.ACRPassword, ""},
		{"admin", "admin with a passkey", schemas.ACRPassword, ""},
	} {
		err := store.CheckAuthority(t.Context(), s, schemas.RequireAuthority{UserID: users[tt.account].ID, By: signedInAs(users[tt.caller].ID, tt.acr, "pwd"), At: noon()})
		wantCode(t, tt.caller+" over "+tt.account, err, tt.code)
	}
}

// wantCode fails the test unless err has the code, "" for no error.
func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	if (err == nil) != (code == "") || err != nil && !schemas.HasCode(err, code) {
		t.Errorf("%s: %v, expected the code %q", what, err, code)
	}
}

// testEnrolmentLink lets an administrator who has lost the passkey add one, once, and change nothing else.
func testEnrolmentLink(t *testing.T, s *store.Store) {
	insertPermissions(t, s)
	user := newUser("admin")
	key := newCredential(user.ID)
	key.AddedBy = schemas.Provenance{}
	apply(t, s, schemas.CreateUser{User: user}, schemas.SetPassword{UserID: user.ID, Hash: "$argon2id$1", At: noon()}, schemas.CreateCredential{Credential: key})
	apply(t, s, schemas.DeleteCredential{UserID: user.ID, ID: key.ID, At: noon()})
	role := newRole("administrators", []string{"system"})
	role.Assignments = []schemas.Principal{{Type: schemas.UserPrincipal, ID: user.ID}}
	insert(t, s, &role)
	link := func(token string) schemas.Link {
		return schemas.Link{TokenHash: schemas.HashSecret(token), UserID: user.ID, Purpose: schemas.EnrolmentLink, Subject: "app", CreatedAt: noon(), ExpiresAt: noon().Add(time.Hour)}
	}
	accept := func(token string, at time.Time) (*schemas.Run, error) {
		run, l := newRun(), link(token)
		return run, s.Commit(t.Context(), run, []schemas.Change{
			schemas.AcceptInvitation{TokenHash: l.TokenHash, UserID: user.ID, RunID: run.ID, At: at},
			schemas.RequireProofs{UserID: user.ID, Proofs: []schemas.Proof{l.Proof()}, At: at},
		})
	}
	use := func(run *schemas.Run, token string, id string) error {
		l := link(token)
		added := newCredential(user.ID)
		added.ID = schemas.Bytes(id)
		return s.Commit(t.Context(), next(run, id), []schemas.Change{
			schemas.RequireAuthority{UserID: user.ID, By: schemas.Authority{UserID: user.ID, Enrolment: true}, At: noon()},
			schemas.CreateCredential{Credential: added}, schemas.UseEnrolment{Proof: l.Proof(), UserID: user.ID, RunID: run.ID, At: noon()},
			schemas.RequireProofs{UserID: user.ID, Proofs: []schemas.Proof{l.Proof()}, At: noon()},
		})
	}
	apply(t, s, schemas.CreateLink{Link: link("1")})
	replaced, err := accept("1", noon())
	must(t, err)
	apply(t, s, schemas.CreateLink{Link: link("2")})
	wantError(t, use(replaced, "1", "of a replaced link"), schemas.Conflict, schemas.CodeInvalidLink)
	_, err = accept("2", noon().Add(time.Hour))
	wantError(t, err, schemas.Conflict, schemas.CodeInvalidLink)
	first, err := accept("2", noon())
	must(t, err)
	second, err := accept("2", noon())
	must(t, err)
	wantError(t, use(first, "2", "of another run"), schemas.Conflict, schemas.CodeInvalidLink)
	must(t, use(second, "2", "the passkey"))
	again := next(second, "the passkey")
	wantError(t, use(again, "2", "a second passkey"), schemas.Conflict, schemas.CodeInvalidLink)
	must(t, s.Commit(t.Context(), next(again, "done"), []schemas.Change{schemas.RequireProofs{UserID: user.ID, Proofs: []schemas.Proof{(&schemas.Link{TokenHash: schemas.HashSecret("2"), Purpose: schemas.EnrolmentLink}).Proof()}, At: noon()}}))
	_, err = accept("2", noon())
	wantError(t, err, schemas.Conflict, schemas.CodeInvalidLink)
	for what, change := range accountChanges(user) { // without using a link up
		err := s.Apply(t.Context(), []schemas.Change{schemas.RequireAuthority{UserID: user.ID, By: schemas.Authority{UserID: user.ID, Enrolment: true}, At: noon()}, change})
		wantCode(t, what+" with a link that is not used", err, schemas.CodeStaleProof)
	}
	keys := reply(s.Credentials(t.Context(), user.ID)).get(t)
	if len(keys) != 1 || string(keys[0].ID) != "the passkey" {
		t.Errorf("the passkeys are %+v", keys)
	}
}

// testFormerPassword replaces a password: what it alone has added is marked, and passkeys among it are
// limited.
func testFormerPassword(t *testing.T, s *store.Store) {
	user := newUser("ann")
	password, other := schemas.Proof{Kind: schemas.PasswordProof, Of: "first"}, newTOTP(user.ID)
	set := schemas.SetPassword{UserID: user.ID, ID: "second", Hash: "$argon2id$2", At: noon().Add(time.Minute)}
	byPassword := schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}, Proofs: []schemas.Proof{password}}
	unlimited := schemas.Provenance{Proofs: []schemas.Proof{password}}
	both := schemas.Provenance{ACR: schemas.ACRMultiFactor, Methods: []string{"pwd", "otp"}, Proofs: []schemas.Proof{password, schemas.ProofOfTOTP(&other)}}
	unrecorded := schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}}
	limited := schemas.Provenance{ACR: schemas.ACRVouched, Methods: []string{schemas.FormerPassword}}
	limitedBy := limited
	limitedBy.Proofs = []schemas.Proof{password}
	limitedBoth, another := limited, both
	limitedBoth.Proofs = both.Proofs // the app was added with the password, too
	another.Proofs = []schemas.Proof{password, {Kind: schemas.IdentityProof, Of: "x"}}
	keyProof := func(i int) schemas.Proof {
		return schemas.Proof{Kind: schemas.PasskeyProof, Of: schemas.Bytes(fmt.Sprint("key ", i)).String()}
	}
	tests := []struct{ before, after schemas.Provenance }{
		{byPassword, limitedBy}, {unlimited, limitedBy}, {unrecorded, limited}, {both, limitedBoth}, {another, another}, {schemas.Provenance{}, schemas.Provenance{}},
		{schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}, Proofs: []schemas.Proof{{Kind: schemas.PasswordProof, Of: "another"}}},
			schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}, Proofs: []schemas.Proof{{Kind: schemas.PasswordProof, Of: "another"}}}},
		{schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}, Proofs: []schemas.Proof{keyProof(0)}}, schemas.Provenance{ACR: schemas.ACRVouched, Methods: []string{schemas.FormerPassword}, Proofs: []schemas.Proof{keyProof(0)}}},
		{byPassword, schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}, Proofs: []schemas.Proof{{Kind: schemas.PasswordProof, Of: "second"}}}}, // confirmed
	}
	changes := append(create(user), schemas.SetPassword{UserID: user.ID, ID: "first", Hash: "$argon2id$1", At: noon()})
	var keys []schemas.Credential
	for i, tt := range tests {
		key := newCredential(user.ID)
		key.ID, key.AddedBy, key.CreatedAt = schemas.Bytes(fmt.Sprint("key ", i)), tt.before, noon().Add(time.Duration(i)*time.Second)
		keys = append(keys, key)
		changes = append(changes, schemas.CreateCredential{Credential: key})
	}
	other.AddedBy = byPassword
	apply(t, s, append(changes, schemas.SetTOTP{TOTP: other}, schemas.SetRecoveryCodes{UserID: user.ID, Hashes: [][]byte{[]byte("a")}, At: noon(), AddedBy: unlimited})...)
	for i, key := range reply(s.Credentials(t.Context(), user.ID)).get(t) {
		wantEqual(t, "the provenance before", key.AddedBy, tests[i].before)
	}
	set.Confirmed = []schemas.Proof{{Kind: schemas.PasskeyProof, Of: keys[len(keys)-1].ID.String()}}
	apply(t, s, set)
	for i, key := range reply(s.Credentials(t.Context(), user.ID)).get(t) {
		wantEqual(t, "the provenance after", key.AddedBy, tests[i].after)
	}
	app, codes := reply(s.TOTP(t.Context(), user.ID)).get(t), reply(s.RecoveryCodes(t.Context(), user.ID)).get(t)
	wantEqual(t, "the app", app.AddedBy, byPassword.Former(false))
	wantEqual(t, "the codes", codes.AddedBy, unlimited.Former(false))
	wantEqual(t, "the events", len(reply(s.Events(t.Context(), schemas.EventQuery{Action: "passkey.limited", Limit: 9})).get(t)), 5)
	wantEqual(t, "whether the user had a passkey", reply(s.Protection(t.Context(), user.ID)).get(t).HadPasskey, true)
}

// testSuspects finds the passkeys that earlier releases may have let others add.
func testSuspects(t *testing.T, s *store.Store) {
	insertPermissions(t, s)
	limited := schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}}
	add := func(name string, by schemas.Provenance, at time.Time, changes ...schemas.Change) schemas.Credential {
		t.Helper()
		u, err := s.UserByAttribute(t.Context(), "", "username", strings.ReplaceAll(name, " ", "-"))
		if err != nil {
			made := newUser(strings.ReplaceAll(name, " ", "-"))
			apply(t, s, create(made)...)
			u = &made
		}
		key := newCredential(u.ID)
		key.AddedBy, key.CreatedAt = by, at
		apply(t, s, append(changes, schemas.CreateCredential{Credential: key})...)
		return key
	}
	used := func(key schemas.Credential, run string) {
		apply(t, s, schemas.RecordEvent{Event: schemas.Event{ID: schemas.NewID(), At: noon().Add(time.Minute), Action: "passkey.used", UserID: key.UserID,
			ExecutionDigest: run, Detail: map[string]string{"credentialId": key.ID.String()}}})
	}
	inFlow := add("in a flow", limited, noon())
	used(inFlow, "digest")
	outside := add("outside", limited, noon())
	used(outside, "")
	second := add("outside", schemas.Provenance{}, noon().Add(time.Hour))
	add("outside", schemas.Provenance{Proofs: []schemas.Proof{{Kind: schemas.PasswordProof, Of: "x"}}}, noon().Add(time.Hour)) // by this release
	full := add("in full", schemas.Provenance{}, noon())
	used(full, "")
	removed := add("admin", schemas.Provenance{}, noon())
	apply(t, s, schemas.DeleteCredential{UserID: removed.UserID, ID: removed.ID, At: noon()}, schemas.RecordEvent{Event: schemas.Event{
		ID: schemas.NewID(), At: noon().Add(time.Minute), Action: "passkey.deleted", UserID: removed.UserID, Actor: schemas.Actor{Type: schemas.UserActor, ID: removed.UserID}}})
	again := add("admin", schemas.Provenance{}, noon().Add(time.Hour))
	role := newRole("administrators", []string{"system:users"}, person(removed.UserID))
	insert(t, s, &role)
	var got []string
	for _, one := range reply(s.Suspects(t.Context())).get(t) {
		got = append(got, one.ID.String())
	}
	wantEqual(t, "the passkeys", got, []string{again.ID.String(), outside.ID.String(), second.ID.String()})
}
