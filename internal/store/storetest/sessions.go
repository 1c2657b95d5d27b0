package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func newSignIn(userID string, at time.Time) schemas.Session {
	return schemas.Session{ID: schemas.NewID(), UserID: userID, ApplicationID: appID, AMR: []string{"swk", "user"},
		ACR: "urn:example:loa", Client: "Mozilla/5.0 ä", CreatedAt: at, LastSeenAt: at, ExpiresAt: at.Add(time.Hour)}
}

func start(sessions ...schemas.Session) (changes []schemas.Change) {
	for _, s := range sessions {
		changes = append(changes, schemas.StartSession{Session: s})
	}
	return changes
}

func testSessions(t *testing.T, s *store.Store) {
	ctx, ann, bob := t.Context(), newUser("ann"), newUser("bob")
	apply(t, s, append(create(ann), create(bob)...)...)
	first, second, other := newSignIn(ann.ID, noon()), newSignIn(ann.ID, noon().Add(time.Minute)), newSignIn(bob.ID, noon())
	second.AMR, second.ACR, second.Client, second.ApplicationID = nil, "", "", ""
	apply(t, s, start(second, first, other)...)
	wantSessions := func(user string, at time.Time, want ...schemas.Session) {
		t.Helper()
		reply(store.SessionsOf(ctx, s, user, at)).equals(t, "the sessions", want)
	}
	wantSessions(ann.ID, noon(), second, first)
	wantSessions(ann.ID, first.ExpiresAt.Add(-time.Microsecond), second, first)
	wantSessions(ann.ID, first.ExpiresAt, second)
	wantSessions(ann.ID, second.ExpiresAt)
	wantSessions(schemas.NewID(), noon())
	wantSessions("a\x00", noon())
	for range 2 { // ending an ended session is not an error
		apply(t, s, schemas.EndSession{ID: first.ID, At: noon()})
	}
	wantSessions(ann.ID, noon(), second)
	wantError(t, s.Apply(ctx, start(newSignIn(schemas.NewID(), noon()))), schemas.NotFound, schemas.CodeUserNotFound)

	// The sessions of a deleted user end.
	update(t, s, func(tx *store.Tx) error { return store.Users().Delete(tx, ann.ID, ann.UpdatedAt) })
	wantSessions(ann.ID, noon())
	wantSessions(bob.ID, noon(), other)
}

func testTokenLive(t *testing.T, s *store.Store) {
	ann, client := newUser("ann"), newClient("shop")
	session := newSignIn(ann.ID, noon())
	apply(t, s, append(create(ann), start(session)...)...)
	insert(t, s, &client)
	wantLive := func(want bool, ref schemas.TokenRef) {
		t.Helper()
		reply(s.TokenLive(t.Context(), ref)).equals(t, fmt.Sprintf("whether %+v counts", ref), want)
	}
	all := schemas.TokenRef{ID: "t1", Session: session.ID, Client: client.ClientID}
	all.Application = client.ID
	for _, ref := range []schemas.TokenRef{all, {ID: "t1"}, {ID: "t1", Application: client.ID}, {ID: "t1", Session: session.ID}, {ID: "t1", Client: client.ClientID}, {}} {
		wantLive(true, ref)
	}
	for _, ref := range []schemas.TokenRef{{Session: "unknown"}, {Client: "unknown"}, {Session: session.ID, Client: "unknown"},
		{Session: "unknown", Client: client.ClientID}, {ID: "\x00"}, {Session: "\xff"}, {Client: "a\x00"}, {Client: client.ID},
		{Application: "unknown"}, {Application: client.ClientID}, {Session: session.ID, Application: "unknown"}, {Application: "a\x00"}} {
		wantLive(false, ref)
	}
	for range 2 {
		apply(t, s, schemas.RevokeToken{ID: "t1", ExpiresAt: noon().Add(time.Hour)})
	}
	wantLive(false, all)
	wantLive(false, schemas.TokenRef{ID: "t1"})
	all.ID = "t2"
	wantLive(true, all)
	apply(t, s, schemas.EndSession{ID: session.ID, At: noon()})
	wantLive(false, all)
	update(t, s, func(tx *store.Tx) error { return store.Applications().Delete(tx, client.ID, client.UpdatedAt) })
	wantLive(false, schemas.TokenRef{ID: "t2", Client: client.ClientID})
	wantLive(false, schemas.TokenRef{ID: "t2", Application: client.ID})
}

// testTokenGenerations accepts only tokens with the current generation of their application. An
// application from before generations has "", and so do its tokens.
func testTokenGenerations(t *testing.T, s *store.Store) {
	client := newClient("shop")
	insert(t, s, &client)
	wantCurrent := func(current string) {
		t.Helper()
		for _, generation := range []string{"", "g1", "g2"} {
			for _, ref := range []schemas.TokenRef{{ID: "t", Client: client.ClientID, Generation: generation}, {ID: "t", Application: client.ID, Generation: generation}} {
				reply(s.TokenLive(t.Context(), ref)).equals(t, fmt.Sprintf("whether %+v counts, with the generation %q", ref, current), generation == current)
			}
		}
		for _, read := range []func() (*schemas.Application, error){
			func() (*schemas.Application, error) { return s.Application(t.Context(), client.ID) },
			func() (*schemas.Application, error) { return s.ApplicationByClientID(t.Context(), client.ClientID) },
		} {
			wantEqual(t, "the generation that is read", reply(read()).get(t).TokenGeneration, current)
		}
	}
	wantCurrent("")
	for _, generation := range []string{"g1", "g2"} {
		was := client.UpdatedAt
		client.TokenGeneration, client.UpdatedAt = generation, was.Add(time.Second)
		update(t, s, func(tx *store.Tx) error { return store.Applications().Replace(tx, &client, was) })
		wantCurrent(generation)
	}
	reply(s.TokenLive(t.Context(), schemas.TokenRef{ID: "t", Client: client.ClientID, Generation: "a\x00"})).equals(t, "whether a generation that cannot be stored counts", false)
}

// testSweepSignIns sweeps expired rows.
func testSweepSignIns(t *testing.T, s *store.Store) {
	ctx, ann := t.Context(), newUser("ann")
	old, live := newSignIn(ann.ID, noon().Add(-time.Hour)), newSignIn(ann.ID, noon())
	apply(t, s, append(create(ann), start(old, live)...)...)
	reply(s.Sweep(ctx, noon())).equals(t, "the number of rows swept", 1)
	reply(store.SessionsOf(ctx, s, ann.ID, time.Time{})).equals(t, "the sessions", []schemas.Session{live})
}

// testClockJumps sweeps with a clock that is temporarily ahead. Revoked tokens and used assertions
// stay rejected when the clock is right again.
func testClockJumps(t *testing.T, s *store.Store) {
	ctx, expires := t.Context(), noon()
	assertion := []byte("assertion")
	for ahead, kept := range map[time.Duration]bool{0: true, time.Minute: true, 24*time.Hour - time.Microsecond: true, 24 * time.Hour: false} {
		apply(t, s, schemas.RevokeToken{ID: "token", ExpiresAt: expires})
		reply(s.UseClientAssertion(ctx, assertion, expires)).get(t)
		reply(s.Sweep(ctx, expires.Add(ahead))).get(t)
		reply(s.TokenLive(ctx, schemas.TokenRef{ID: "token"})).equals(t, fmt.Sprintf("whether a revoked token counts after a sweep %v later", ahead), !kept)
		reply(s.UseClientAssertion(ctx, assertion, expires)).equals(t, fmt.Sprintf("whether an assertion is new after a sweep %v later", ahead), !kept)
	}
}

func testCredentialChanges(t *testing.T, s *store.Store) {
	ctx, ann := t.Context(), newUser("ann")
	key, other := newCredential(ann.ID), newCredential(ann.ID)
	apply(t, s, append(create(ann), schemas.CreateCredential{Credential: key}, schemas.CreateCredential{Credential: other})...)
	apply(t, s, schemas.RenameCredential{UserID: ann.ID, ID: key.ID, Name: "Phone"})
	key.Name = "Phone"
	reply(s.Credential(ctx, key.ID)).equals(t, "the renamed passkey", &key)

	// If one change of a commit fails, the changes before and after it are undone.
	for _, change := range []schemas.Change{schemas.RenameCredential{UserID: ann.ID, ID: schemas.Bytes("unknown"), Name: "x"},
		schemas.DeleteCredential{UserID: ann.ID, ID: schemas.Bytes("unknown")}} {
		wantError(t, s.Apply(ctx, authorized([]schemas.Change{schemas.DeleteCredential{UserID: ann.ID, ID: key.ID}, change})), schemas.NotFound, schemas.CodeCredentialNotFound)
	}
	apply(t, s, schemas.DeleteCredential{UserID: ann.ID, ID: key.ID})
	reply(s.Credentials(ctx, ann.ID)).equals(t, "the passkeys", []schemas.Credential{other})
}

// testRemoveCredentials replaces the passkeys of a user: the passkeys of others stay, sessions and runs of
// the user end, and a passkey that was added meanwhile prevents it.
func testRemoveCredentials(t *testing.T, s *store.Store) {
	ctx, ann, bob := t.Context(), newUser("ann"), newUser("bob")
	lost, added, foreign := newCredential(ann.ID), newCredential(ann.ID), newCredential(bob.ID)
	session, others := newSignIn(ann.ID, noon()), newSignIn(bob.ID, noon())
	apply(t, s, append(create(ann), start(session)...)...)
	apply(t, s, append(create(bob), start(others)...)...)
	apply(t, s, schemas.CreateCredential{Credential: lost}, schemas.CreateCredential{Credential: foreign})

	replace := schemas.RemoveCredentials{UserID: ann.ID, Keep: []schemas.Bytes{added.ID}, At: noon()}
	err := s.Apply(ctx, authorized([]schemas.Change{schemas.CreateCredential{Credential: added}, replace}))
	wantError(t, err, schemas.Conflict, schemas.CodeSuperseded)
	reply(s.Credentials(ctx, ann.ID)).equals(t, "the passkeys after a conflict", []schemas.Credential{lost})

	for _, id := range []schemas.Bytes{lost.ID, foreign.ID, schemas.Bytes("removed meanwhile")} {
		gone := schemas.Event{At: noon(), Action: "passkey.deleted", UserID: ann.ID, Detail: map[string]string{"credentialId": id.String()}}
		replace.Remove = append(replace.Remove, schemas.CredentialRemoval{ID: id, Event: gone})
	}
	apply(t, s, schemas.CreateCredential{Credential: added}, replace)
	var recorded []string
	for _, e := range reply(s.Events(ctx, schemas.EventQuery{Action: "passkey.deleted", Limit: 10})).get(t) {
		recorded = append(recorded, e.Detail["credentialId"])
	}
	wantEqual(t, "the recorded removals", recorded, []string{lost.ID.String()})
	reply(s.Credentials(ctx, ann.ID)).equals(t, "the passkeys", []schemas.Credential{added})
	reply(s.Credentials(ctx, bob.ID)).equals(t, "the passkeys of another user", []schemas.Credential{foreign})
	reply(store.SessionsOf(ctx, s, ann.ID, time.Time{})).equals(t, "the sessions", nil)
	reply(store.SessionsOf(ctx, s, bob.ID, time.Time{})).equals(t, "the sessions of another user", []schemas.Session{others})
}

// testCounts creates and deletes users concurrently, in transactions that succeed and that fail:
// the count is the number of existing users.
func testCounts(t *testing.T, s *store.Store) {
	const callers, each = 16, 12
	ctx, broken := t.Context(), errors.New("broken")
	together(callers, func(i int) {
		for n := range each {
			mine, gone := newUser(fmt.Sprintf("u%d-%d", i, n)), newUser(fmt.Sprintf("g%d-%d", i, n))
			err := s.Apply(ctx, create(mine))
			if n%3 == 0 {
				err = errors.Join(err, s.Update(ctx, func(tx *store.Tx) error { return store.Users().Insert(tx, &gone) }),
					s.Update(ctx, func(tx *store.Tx) error { return store.Users().Delete(tx, gone.ID, gone.UpdatedAt) }))
			}
			if err != nil {
				t.Errorf("user %s: %v", mine.Text("username"), err)
			}
			if err := s.Apply(ctx, append(create(gone), create(mine)...)); err == nil {
				t.Error("a user was created twice")
			}
			failed := s.Update(ctx, func(tx *store.Tx) error {
				if err := store.Users().Delete(tx, mine.ID, mine.UpdatedAt); err != nil {
					return err
				}
				return broken
			})
			if !errors.Is(failed, broken) {
				t.Errorf("the transaction failed with %v, expected its own error", failed)
			}
		}
	})
	all := reply(store.Users().List(ctx, s, store.Page{Limit: 10 * callers * each})).get(t)
	wantEqual(t, "the number of users", len(all), callers*each)
	wantCounts(t, s, all)

	// A user who changes type and unit is counted under the new ones.
	customer, branch := newUserType("Customer"), newUnit("branch")
	insert(t, s, &customer, &branch)
	for i := range 10 {
		update(t, s, func(tx *store.Tx) error {
			return replaceUser(tx, all[i], []string{"Person", "Customer"}[i%2], branch.ID)
		})
	}
	all = reply(store.Users().List(ctx, s, store.Page{Limit: 10 * callers * each})).get(t)
	wantCounts(t, s, all)
}

// wantCounts compares the counts with the existing users.
func wantCounts(t *testing.T, s *store.Store, all []schemas.User) {
	t.Helper()
	want := map[store.Page]int{{}: len(all), {Member: "type", Value: "Nobody"}: 0}
	for _, u := range all {
		want[store.Page{Member: "type", Value: u.Type}]++
		want[store.Page{Member: "ouId", Value: u.OUID}]++
	}
	for page, n := range want {
		reply(store.Users().Count(t.Context(), s, page)).equals(t, fmt.Sprintf("the count of %+v", page), n)
	}
}

// endAt ends a session at a time.
func endAt(t *testing.T, s *store.Store, id string, at time.Time) {
	t.Helper()
	apply(t, s, schemas.EndSession{ID: id, At: at})
}
