package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func newDelivery(kind, target string) schemas.Delivery {
	return schemas.Delivery{ID: schemas.NewID(), Kind: kind, Target: target, Body: []byte("body\x00\xff"),
		NotBefore: noon(), ExpiresAt: noon().Add(time.Hour), CreatedAt: noon()}
}

func queue(t *testing.T, s *store.Store, deliveries ...schemas.Delivery) {
	t.Helper()
	for _, d := range deliveries {
		apply(t, s, schemas.QueueDelivery{Delivery: d})
	}
}

// claims claims a delivery at a time, for a minute.
func claims(t *testing.T, s *store.Store, kind string, at time.Time, busy ...string) *schemas.Delivery {
	t.Helper()
	d := reply(s.ClaimDelivery(t.Context(), kind, busy, at, at.Add(time.Minute))).get(t)
	return d
}

func testDeliveries(t *testing.T, s *store.Store) {
	ctx, minute := t.Context(), time.Minute
	first, second, later, other := newDelivery("a", "x"), newDelivery("a", "y"), newDelivery("a", "z"), newDelivery("b", "x")
	first.NotBefore = time.Time{} // at once
	second.NotBefore, later.NotBefore = noon().Add(time.Microsecond), noon().Add(30*minute)
	queue(t, s, later, second, first, other)

	wantEqual(t, "what is due before anything is", claims(t, s, "a", noon().Add(-time.Microsecond)), (*schemas.Delivery)(nil))
	wantEqual(t, "what is due of no kind", claims(t, s, "c", noon()), (*schemas.Delivery)(nil))
	now := noon().Add(minute)
	got := claims(t, s, "a", now)
	first.Attempts, first.NotBefore = 1, now.Add(minute)
	wantEqual(t, "the first delivery", got, &first)
	wantEqual(t, "the one to who is not busy", claims(t, s, "a", now, "y", "\u00e4"), (*schemas.Delivery)(nil))
	wantEqual(t, "the second delivery", claims(t, s, "a", now, "x").ID, second.ID)
	wantEqual(t, "what is left", claims(t, s, "a", now), (*schemas.Delivery)(nil))

	// The claim of the first has ended: the next caller gets it.
	again := claims(t, s, "a", now.Add(minute))
	wantEqual(t, "the delivery of who died", []any{again.ID, again.Attempts}, []any{first.ID, 2})
	must(t, s.PutOffDelivery(ctx, first, now)) // comes too late
	reply(s.GiveUpDelivery(ctx, first, schemas.Event{Action: "delivery.given_up", At: now})).equals(t, "who comes too late gives up", false)
	must(t, s.PutOffDelivery(ctx, *again, noon().Add(20*minute)))
	must(t, s.EndDelivery(ctx, second.ID))
	wantEqual(t, "what is due while put off", claims(t, s, "a", noon().Add(19*minute)), (*schemas.Delivery)(nil))
	again = claims(t, s, "a", noon().Add(20*minute))
	wantEqual(t, "the delivery that was put off", []any{again.ID, again.Attempts}, []any{first.ID, 3})
	must(t, s.EndDelivery(ctx, first.ID))
	wantEqual(t, "the last delivery", claims(t, s, "a", noon().Add(50*minute)).ID, later.ID)
	wantEqual(t, "what is due of another kind", claims(t, s, "b", noon()).ID, other.ID)

	testDeliveryOfNothing(t, s)
}

// testDeliveryOfNothing fails the commit that causes a delivery.
func testDeliveryOfNothing(t *testing.T, s *store.Store) {
	t.Helper()
	d, broken := newDelivery("none", ""), errors.New("broken")
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		must(t, tx.Apply([]schemas.Change{schemas.QueueDelivery{Delivery: d}}))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("the error is %v, expected the transaction's own", err)
	}
	wantEqual(t, "what is due of what did not happen", claims(t, s, "none", noon()), (*schemas.Delivery)(nil))
}

// testDeliveryRace claims many deliveries on many instances concurrently: one instance claims each
// delivery.
func testDeliveryRace(t *testing.T, s *store.Store) {
	const deliveries, instances = 40, 8
	for i := range deliveries {
		queue(t, s, newDelivery("a", fmt.Sprint(i%3)))
	}
	var claimed sync.Map
	had := sumOf(t, instances, func(int) (n int, err error) {
		for ; ; n++ {
			d, err := s.ClaimDelivery(t.Context(), "a", nil, noon(), noon().Add(time.Minute))
			if err != nil || d == nil {
				return n, err
			}
			if _, twice := claimed.LoadOrStore(d.ID, true); twice {
				return n, fmt.Errorf("the delivery %s was claimed twice", d.ID)
			}
		}
	})
	wantEqual(t, "the number of claims", had, deliveries)
}

func testExpiredDeliveries(t *testing.T, s *store.Store) {
	const instances = 4
	ctx, end := t.Context(), noon().Add(time.Hour)
	old, live := newDelivery("a", "x"), newDelivery("a", "y")
	live.ExpiresAt = end.Add(time.Microsecond)
	queue(t, s, old, live)
	old.Attempts = claims(t, s, "a", end.Add(-2*time.Minute), "y").Attempts
	sending := newDelivery("a", "z")
	queue(t, s, sending)
	claims(t, s, "a", end.Add(-time.Microsecond), "x", "y") // is being sent as it expires

	expired := reply(s.ExpiredDeliveries(ctx, end, 10)).get(t)
	wantEqual(t, "the number of expired deliveries", len(expired), 1)
	wantEqual(t, "the expired delivery", []any{expired[0].ID, expired[0].Attempts}, []any{old.ID, 1})
	given := countOf(t, instances, func(int) (bool, error) {
		return s.GiveUpDelivery(ctx, expired[0], schemas.Event{Action: "delivery.given_up", At: end})
	})
	wantEqual(t, "the number of instances that give it up", given, 1)
	wantEqual(t, "the number of events", len(reply(s.Events(ctx, schemas.EventQuery{Action: "delivery.given_up", Limit: 10})).get(t)), 1)
	wantEqual(t, "what is due at the end", claims(t, s, "a", end).ID, live.ID)
	wantEqual(t, "what is due after that", claims(t, s, "a", end.Add(time.Hour)), (*schemas.Delivery)(nil))
}

func testLinks(t *testing.T, s *store.Store) {
	user := newUser("linked")
	newLink := func(token, subject string, age time.Duration) schemas.Link {
		return schemas.Link{TokenHash: schemas.HashSecret(token), UserID: user.ID, Purpose: schemas.LockLink, Subject: subject,
			CreatedAt: noon().Add(-age), ExpiresAt: noon().Add(time.Hour - age)}
	}
	first, second, old := newLink("1", "a", 0), newLink("2", "b", 0), newLink("3", "a", time.Hour)
	apply(t, s, schemas.CreateUser{User: user}, schemas.CreateLink{Link: first}, schemas.CreateLink{Link: second}, schemas.CreateLink{Link: old})
	reply(s.CountLinks(t.Context(), user.ID, schemas.LockLink, "a", noon().Add(-time.Minute))).equals(t, "the number of new links about one event", 1)

	take := func(token, purpose string) (link *schemas.Link) {
		t.Helper()
		must(t, s.Update(t.Context(), func(tx *store.Tx) (err error) {
			link, err = store.TakeLink(tx, schemas.HashSecret(token), purpose, noon())
			return err
		}))
		return link
	}
	wantEqual(t, "a link for another purpose", take("1", "other"), (*schemas.Link)(nil))
	wantEqual(t, "an expired link", take("3", schemas.LockLink), (*schemas.Link)(nil))
	wantEqual(t, "the link", take("1", schemas.LockLink), &first)
	wantEqual(t, "the link, again", take("1", schemas.LockLink), (*schemas.Link)(nil))
	must(t, s.Update(t.Context(), func(tx *store.Tx) error { return store.DeleteLinks(tx, user.ID, schemas.LockLink) }))
	wantEqual(t, "a link that was removed", take("2", schemas.LockLink), (*schemas.Link)(nil))
}

// testNotices: events about an account queue their notice, but not in the transaction that
// creates the user.
func testNotices(t *testing.T, s *store.Store) {
	user := newUser("noticed")
	event := func(action string, detail map[string]string) schemas.RecordEvent {
		return schemas.RecordEvent{Event: schemas.Event{At: noon(), Action: action, UserID: user.ID, Detail: detail}}
	}
	noticed := func() bool {
		t.Helper()
		d := claims(t, s, schemas.NoticeDelivery, noon())
		if d != nil {
			must(t, s.EndDelivery(t.Context(), d.ID))
		}
		return d != nil
	}
	apply(t, s, schemas.CreateUser{User: user}, event("user.created", nil), event("passkey.registered", nil), event("user.signed_in", map[string]string{schemas.NewBrowser: "true"}))
	wantEqual(t, "a notice to a new user", noticed(), false)
	for _, action := range schemas.NoticeActions() {
		apply(t, s, event(action, map[string]string{schemas.NewBrowser: "true"}))
		wantEqual(t, "a notice of "+action, noticed(), true)
	}
	apply(t, s, event("user.signed_in", nil), event("passkey.used", nil))
	wantEqual(t, "a notice of an ordinary sign-in", noticed(), false)
}

// testInvitations accepts an invitation in two runs, and in another one after the user has a
// credential.
func testInvitations(t *testing.T, s *store.Store) {
	user := newUser("invited")
	link := schemas.Link{TokenHash: schemas.HashSecret("1"), UserID: user.ID, Purpose: schemas.InvitationLink, Subject: "app", CreatedAt: noon(), ExpiresAt: noon().Add(time.Hour)}
	apply(t, s, schemas.CreateUser{User: user}, schemas.CreateLink{Link: link})
	accept := func(token, userID string, at time.Time) (*schemas.Run, error) {
		run := newRun()
		return run, s.Commit(t.Context(), run, []schemas.Change{
			schemas.AcceptInvitation{TokenHash: schemas.HashSecret(token), UserID: userID, RunID: run.ID, At: at},
			schemas.RequireProofs{UserID: userID, Proofs: []schemas.Proof{link.Proof()}, At: at},
		})
	}
	goOn := func(run *schemas.Run, changes ...schemas.Change) error {
		return s.Commit(t.Context(), next(run, "key"), authorized(append(changes, schemas.RequireProofs{UserID: user.ID, Proofs: []schemas.Proof{link.Proof()}, At: noon()})))
	}
	for _, wrong := range []struct {
		token, user string
		at          time.Time
	}{{"2", user.ID, noon()}, {"1", newUser("other").ID, noon()}, {"1", user.ID, link.ExpiresAt}} {
		_, err := accept(wrong.token, wrong.user, wrong.at)
		wantError(t, err, schemas.Conflict, schemas.CodeInvalidLink)
	}
	first, err := accept("1", user.ID, noon())
	must(t, err)
	second, err := accept("1", user.ID, noon())
	must(t, err)
	link.RunID = second.ID
	reply(s.Invitation(t.Context(), link.TokenHash, noon())).equals(t, "the invitation", &link)
	reply(store.InvitationOf(t.Context(), s, user.ID, noon())).equals(t, "the invitation of the user", &link)
	wantError(t, goOn(first), schemas.Conflict, schemas.CodeSuperseded)
	must(t, goOn(second, schemas.SetPassword{UserID: user.ID, Hash: "$argon2id$1", At: noon()}))
	third := next(second, "more")
	must(t, goOn(third)) // the same run adds another credential
	_, err = accept("1", user.ID, noon())
	wantError(t, err, schemas.Conflict, schemas.CodeInvalidLink)
	reply(store.InvitationOf(t.Context(), s, user.ID, noon())).equals(t, "the invitation of a user with a password", (*schemas.Link)(nil))
	must(t, s.Update(t.Context(), func(tx *store.Tx) error { return store.DeleteLinks(tx, user.ID, schemas.InvitationLink) }))
	wantError(t, goOn(next(third, "end")), schemas.Conflict, schemas.CodeSuperseded)
}

// testInvitationRace invites a user several times concurrently: one invitation remains.
func testInvitationRace(t *testing.T, s *store.Store) {
	user := newUser("invited")
	apply(t, s, schemas.CreateUser{User: user})
	sumOf(t, 4, func(i int) (int, error) {
		link := schemas.Link{TokenHash: schemas.HashSecret(string(rune('a' + i))), UserID: user.ID, Purpose: schemas.InvitationLink, Subject: "app", CreatedAt: noon(), ExpiresAt: noon().Add(time.Hour)}
		return 0, s.Update(t.Context(), func(tx *store.Tx) error { return tx.Apply([]schemas.Change{schemas.CreateLink{Link: link}}) })
	})
	reply(s.CountLinks(t.Context(), user.ID, schemas.InvitationLink, "app", noon().Add(-time.Minute))).equals(t, "the number of invitations", 1)
}
