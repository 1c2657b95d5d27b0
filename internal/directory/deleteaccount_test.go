package directory

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// Users delete their own account after a recent sign-in with all their factors. The last
// administrator cannot.
func TestDeleteAccount(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		as := func(id string, age time.Duration, methods ...string) Call {
			return Call{Actor: schemas.Actor{Type: schemas.UserActor, ID: id}, Permissions: []string{schemas.AccountScope}, Methods: methods, AuthTime: h.now().Add(-age)}
		}
		admin := h.user().ID
		h.create(t, h.Roles, object(t, "name", "All", "permissions", []string{"system"}, "assignments", []schemas.Principal{h.user()}))
		id, guarded := h.create(t, h.Users, statusBody(t, "deleted")), h.create(t, h.Users, statusBody(t, "guarded"))
		must(t, h.store.Apply(t.Context(), storetest.Authorized([]schemas.Change{schemas.SetTOTP{TOTP: schemas.TOTP{UserID: guarded, Secret: []byte("sealed"), CreatedAt: h.now()}}})))
		for _, test := range []struct {
			name string
			call Call
			code string
		}{
			{"an old sign-in", as(id, time.Hour, "pwd"), schemas.CodeStaleProof},
			{"a password without the second factor", as(guarded, 0, "pwd"), schemas.CodeFactorRequired},
			{"the last administrator", as(admin, 0, "pop"), schemas.CodeLastAdministrator},
		} {
			if err := h.DeleteAccount(t.Context(), test.call); !schemas.HasCode(err, test.code) {
				t.Errorf("%s: %v, want %s", test.name, err, test.code)
			}
			if _, err := store.Users().Get(t.Context(), h.store, test.call.Actor.ID); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		for _, call := range []Call{as(id, 0, "pwd"), as(guarded, 0, "pwd", "otp")} {
			must(t, h.DeleteAccount(t.Context(), call))
			if _, err := store.Users().Get(t.Context(), h.store, call.Actor.ID); !schemas.HasCode(err, schemas.CodeUserNotFound) {
				t.Errorf("the account is still there: %v", err)
			}
		}
		events, err := h.store.Events(t.Context(), schemas.EventQuery{UserID: id, Action: "user.deleted", Limit: 2})
		if err != nil || len(events) != 1 || events[0].Actor.ID != id {
			t.Errorf("the audit log has %v, %v", events, err)
		}
	})
}
