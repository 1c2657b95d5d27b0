package storetest

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func testLinks(t *testing.T, s *store.Store) {
	ctx := t.Context()
	user := newUser("linked")
	newLink := func(token, subject string, age time.Duration) schemas.Link {
		return schemas.Link{TokenHash: schemas.HashSecret(token), UserID: user.ID, Purpose: schemas.LockLink, Subject: subject,
			CreatedAt: noon().Add(-age), ExpiresAt: noon().Add(time.Hour - age)}
	}
	first, second, old := newLink("1", "a", 0), newLink("2", "b", 0), newLink("3", "a", time.Hour)
	must(t, s.Apply(ctx, []schemas.Change{schemas.CreateUser{User: user}, schemas.CreateLink{Link: first}, schemas.CreateLink{Link: second}, schemas.CreateLink{Link: old}}))
	reply(s.CountLinks(ctx, user.ID, schemas.LockLink, "a", noon().Add(-time.Minute))).equals(t, "the number of new links about one event", 1)

	take := func(token, purpose string) (link *schemas.Link) {
		t.Helper()
		must(t, s.Update(ctx, func(tx *store.Tx) (err error) {
			link, err = store.TakeLink(tx, schemas.HashSecret(token), purpose, noon())
			return err
		}))
		return link
	}
	wantEqual(t, "a link for another purpose", take("1", "other"), (*schemas.Link)(nil))
	wantEqual(t, "an expired link", take("3", schemas.LockLink), (*schemas.Link)(nil))
	wantEqual(t, "the link", take("1", schemas.LockLink), &first)
	wantEqual(t, "the link, again", take("1", schemas.LockLink), (*schemas.Link)(nil))
	must(t, s.Update(ctx, func(tx *store.Tx) error { return store.DeleteLinks(tx, user.ID, schemas.LockLink) }))
	wantEqual(t, "a link that was removed", take("2", schemas.LockLink), (*schemas.Link)(nil))
}

// testNotices: events about an account queue their notice, but not in the transaction that
// creates the user.
func testNotices(t *testing.T, s *store.Store) {
	ctx := t.Context()
	user := newUser("noticed")
	event := func(action string, detail map[string]string) schemas.RecordEvent {
		return schemas.RecordEvent{Event: schemas.Event{At: noon(), Action: action, UserID: user.ID, Detail: detail}}
	}
	noticed := func() bool {
		t.Helper()
		d := claims(t, s, schemas.NoticeDelivery, noon())
		if d != nil {
			must(t, s.EndDelivery(ctx, d.ID))
		}
		return d != nil
	}
	must(t, s.Apply(ctx, []schemas.Change{schemas.CreateUser{User: user}, event("user.created", nil), event("passkey.registered", nil), event("user.signed_in", map[string]string{schemas.NewBrowser: "true"})}))
	wantEqual(t, "a notice to a new user", noticed(), false)
	for _, action := range schemas.NoticeActions() {
		must(t, s.Apply(ctx, []schemas.Change{event(action, map[string]string{schemas.NewBrowser: "true"})}))
		wantEqual(t, "a notice of "+action, noticed(), true)
	}
	must(t, s.Apply(ctx, []schemas.Change{event("user.signed_in", nil), event("passkey.used", nil)}))
	wantEqual(t, "a notice of an ordinary sign-in", noticed(), false)
}
