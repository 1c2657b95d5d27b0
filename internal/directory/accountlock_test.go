package directory

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// lockLink stores a link of a user and returns its token.
func (w *fixture) lockLink(t testing.TB, userID, purpose string, expires time.Time) string {
	t.Helper()
	token := schemas.NewSecret()
	must(t, w.store.Apply(t.Context(), []schemas.Change{schemas.CreateLink{Link: schemas.Link{
		TokenHash: schemas.HashSecret(token), UserID: userID, Purpose: purpose, Subject: "passkey.registered", CreatedAt: w.now(), ExpiresAt: expires,
	}}}))
	return token
}

// A lock link works once, before it expires, and ends all access of its user.
func TestLockAccount(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		id := w.create(t, w.Users, statusBody(t, "ada"))
		w.session(t, id)
		later := w.now().Add(time.Hour)
		token, other := w.lockLink(t, id, schemas.LockLink, later), w.lockLink(t, id, schemas.LockLink, later)
		for name, wrong := range map[string]string{
			"none": "", "unknown": schemas.NewSecret(), "expired": w.lockLink(t, id, schemas.LockLink, w.now().Add(-time.Second)), "for another purpose": w.lockLink(t, id, "other", later),
		} {
			if err := w.LockAccount(t.Context(), wrong, ""); !schemas.HasCode(err, schemas.CodeInvalidLink) {
				t.Errorf("a token that is %s: %v", name, err)
			}
		}
		if u := w.user(t, id); u.Status != schemas.UserActive {
			t.Fatalf("the status is %s before the link is used", u.Status)
		}
		must(t, w.LockAccount(t.Context(), token, "trace"))
		if u := w.user(t, id); u.Status != schemas.UserDisabled {
			t.Errorf("the status is %s", u.Status)
		}
		left, err := w.Sessions(t.Context(), SystemCall(), id)
		must(t, err)
		if len(left) > 0 {
			t.Errorf("%d sessions are left", len(left))
		}
		if got := actionsOf(t, w, id); !slices.Contains(got, "account.locked") || !slices.Contains(got, "user.disabled") || !slices.Contains(got, "session.ended") {
			t.Errorf("the audit log has %q", got)
		}
		// Neither this link nor another one locks the account again after an administrator has unlocked it.
		_, err = w.Users.Replace(t.Context(), SystemCall(), id, "", doc(t, statusBody(t, "ada")))
		must(t, err)
		for _, used := range []string{token, other} {
			if err := w.LockAccount(t.Context(), used, ""); !schemas.HasCode(err, schemas.CodeInvalidLink) {
				t.Errorf("a used link: %v", err)
			}
		}
		if u := w.user(t, id); u.Status != schemas.UserActive {
			t.Errorf("a used link made the status %s", u.Status)
		}
	})
}

// A reader of the last administrator's mail cannot lock everybody out.
func TestLockAccountKeepsTheLastAdministrator(t *testing.T) {
	h := furnished(t, newFixture(t))
	admin := h.user().ID
	h.create(t, h.Roles, object(t, "name", "All", "permissions", []string{"system"}, "assignments", []schemas.Principal{h.user()}))
	token := h.lockLink(t, admin, schemas.LockLink, h.now().Add(time.Hour))
	if err := h.LockAccount(t.Context(), token, ""); !schemas.HasCode(err, schemas.CodeLastAdministrator) {
		t.Errorf("the last administrator: %v", err)
	}
	if u, err := store.Users().Get(t.Context(), h.store, admin); err != nil || u.Status != schemas.UserActive {
		t.Errorf("the last administrator is %v, %v", u, err)
	}
}

// A changed verified address is notified at the former address; one that was never verified is not.
func TestAddressChangeIsNoticedAtTheFormerAddress(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		body := func(email string, verified bool) string {
			return object(t, "type", "Person", "attributes", map[string]any{"username": "ada", "email": email, "email_verified": verified})
		}
		id := w.create(t, w.Users, body("old@example.org", true))
		steps := []struct {
			email    string
			verified bool
			noticed  string
		}{{"old@example.org", true, ""}, {"new@example.org", false, "old@example.org"}, {"newer@example.org", true, ""}, {"newest@example.org", true, "newer@example.org"}}
		for i, step := range steps {
			_, err := w.Users.Replace(t.Context(), SystemCall(), id, "", doc(t, body(step.email, step.verified)))
			must(t, err)
			d, err := w.store.ClaimDelivery(t.Context(), schemas.NoticeDelivery, nil, time.Now().Add(time.Minute), time.Now().Add(time.Hour))
			must(t, err)
			if (d != nil) != (step.noticed != "") || d != nil && !strings.Contains(string(d.Body), `"to":"`+step.noticed+`"`) {
				t.Errorf("step %d: the notice is %v, want one to %q", i, d, step.noticed)
			}
			if d != nil {
				must(t, w.store.EndDelivery(t.Context(), d.ID))
			}
		}
		if got := actionsOf(t, w, id); !slices.Contains(got, schemas.EmailChanged) {
			t.Errorf("the audit log has %q", got)
		}
	})
}
