package directory

import (
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// statusBody returns the body of a person with these status members.
func statusBody(t testing.TB, name string, pairs ...any) string {
	return object(t, append([]any{"type", "Person", "attributes", map[string]any{"username": name}}, pairs...)...)
}

// A replacement records each change of the status, and an inactive user has no sessions.
func TestAudit15StatusChangesAreRecorded(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		soon, later, past := w.now().Add(time.Hour), w.now().Add(2*time.Hour), w.now().Add(-time.Hour)
		disabled, locked := []any{"status", "disabled"}, []any{"lockedUntil", soon}
		for name, test := range map[string]struct {
			before, after []any
			events        []string
			live          bool
		}{
			"nothing":                    {nil, nil, nil, true},
			"the default, said":          {nil, []any{"status", "active"}, nil, true},
			"disabled":                   {nil, disabled, []string{"user.disabled"}, false},
			"enabled":                    {disabled, nil, []string{"user.enabled"}, true},
			"still disabled":             {disabled, disabled, nil, false},
			"locked":                     {nil, locked, []string{"user.locked"}, false},
			"locked for longer":          {locked, []any{"lockedUntil", later}, []string{"user.locked"}, false},
			"unlocked":                   {locked, nil, []string{"user.unlocked"}, true},
			"locked until it was":        {locked, []any{"lockedUntil", past}, []string{"user.unlocked"}, true},
			"a lock that had no effect":  {nil, []any{"lockedUntil", past}, nil, true},
			"a lock that ended, removed": {[]any{"lockedUntil", past}, nil, nil, true},
			"disabled and locked":        {nil, append(slices.Clone(disabled), locked...), []string{"user.disabled", "user.locked"}, false},
			"disabled instead of locked": {locked, disabled, []string{"user.disabled", "user.unlocked"}, false},
			"locked instead of disabled": {disabled, locked, []string{"user.enabled", "user.locked"}, false},
		} {
			id := w.create(t, w.Users, statusBody(t, "ada", test.before...))
			before := actionsOf(t, w, id)
			if u := w.user(t, id); u.CheckActive(w.now()) == nil {
				w.session(t, id)
			}
			body := statusBody(t, "ada", test.after...)
			_, err := w.Users.Replace(t.Context(), SystemCall(), id, "", doc(t, body))
			must(t, err)
			got := actionsOf(t, w, id)[len(before):]
			got = slices.DeleteFunc(got, func(a string) bool { return a == "user.replaced" || a == "session.ended" })
			slices.Sort(got)
			if !slices.Equal(got, test.events) {
				t.Errorf("%s: recorded %q, expected %q", name, got, test.events)
			}
			if live := w.user(t, id).CheckActive(w.now()) == nil; live != test.live {
				t.Errorf("%s: active: %v", name, live)
			}
			left, err := w.Sessions(t.Context(), SystemCall(), id)
			must(t, err)
			if !test.live && len(left) > 0 {
				t.Errorf("%s: %d sessions are left", name, len(left))
			}
			again, err := w.Users.Replace(t.Context(), SystemCall(), id, "", doc(t, body))
			must(t, err)
			if u := w.user(t, id); !u.UpdatedAt.Equal(again.Value.(*schemas.User).UpdatedAt) {
				t.Errorf("%s: the same again is a change", name)
			}
			must(t, w.Users.Delete(t.Context(), SystemCall(), id, ""))
		}
	})
}

// actionsOf returns the actions recorded about a user, oldest first.
func actionsOf(t testing.TB, w *fixture, userID string) (actions []string) {
	t.Helper()
	found, err := w.store.Events(t.Context(), schemas.EventQuery{UserID: userID, Limit: 100})
	must(t, err)
	for _, e := range slices.Backward(found) {
		actions = append(actions, e.Action)
	}
	return actions
}

// What a status cannot be is reported.
func TestAudit15BadStatus(t *testing.T) {
	w := newFixture(t)
	for problem, pairs := range map[string][]any{
		`status: expected "active" or "disabled"`: {"status", "locked"},
		"lockedUntil: expected":                   {"lockedUntil", "tomorrow"},
		"status: expected a string":               {"status", true},
	} {
		_, err := w.Users.Create(t.Context(), SystemCall(), doc(t, statusBody(t, "ada", pairs...)))
		refused(t, err, schemas.CodeInvalidRequest, problem)
	}
}

// An active administrator remains, also when two disable each other concurrently and when
// the others are locked.
func TestAudit15OneActiveAdministratorRemains(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		ids := []string{w.create(t, w.Users, person("one")), w.create(t, w.Users, person("two"))}
		for _, id := range ids {
			w.role(t, id, "system")
		}
		set := func(c Call, i int, pairs ...any) error {
			_, err := w.Users.Replace(t.Context(), c, ids[i], "", doc(t, statusBody(t, []string{"one", "two"}[i], pairs...)))
			return err
		}
		failed := 0
		for _, err := range together(2, func(i int) error { return set(as(ids[1-i], "system"), i, "status", "disabled") }) {
			if err == nil {
				continue
			}
			failed++
			if !schemas.HasCode(err, schemas.CodeLastAdministrator) {
				t.Error(err)
			}
		}
		if failed != 1 {
			t.Errorf("%d of two administrators could not disable the other, expected 1", failed)
		}
		must(t, set(SystemCall(), 0))
		must(t, set(SystemCall(), 1, "lockedUntil", w.now().Add(time.Hour)))
		for name, err := range map[string]error{
			"disabling": set(SystemCall(), 0, "status", "disabled"),
			"locking":   set(SystemCall(), 0, "lockedUntil", w.now().Add(time.Minute)),
			"deleting":  w.Users.Delete(t.Context(), SystemCall(), ids[0], ""),
		} {
			if !schemas.HasCode(err, schemas.CodeLastAdministrator) {
				t.Errorf("%s the only one who can sign in: %v", name, err)
			}
		}
		must(t, set(SystemCall(), 1, "lockedUntil", w.now().Add(-time.Second)))
		must(t, set(SystemCall(), 0, "status", "disabled"))
	})
}
