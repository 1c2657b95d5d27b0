package directory

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// session starts a session of the user and returns its id.
func (w *fixture) session(t testing.TB, user string) string {
	t.Helper()
	s := schemas.Session{ID: schemas.NewID(), UserID: user, AMR: []string{"pwd"}, CreatedAt: w.now(), ExpiresAt: w.now().Add(time.Hour)}
	must(t, w.store.Apply(t.Context(), []schemas.Change{schemas.StartSession{Session: s}}))
	return s.ID
}

func (w *fixture) sessions(t testing.TB, user string) int {
	t.Helper()
	all, err := w.Sessions(t.Context(), SystemCall(), user)
	must(t, err)
	return len(all)
}

func TestReplaceUserWhole(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		id := w.create(t, w.Users, person("ada", `"name": "Ada", "email": "ada@example.org"`))
		w.session(t, id)
		_, err := w.Users.Replace(t.Context(), SystemCall(), id, "", doc(t, `{"type": "Person", "attributes": {"username": "ada", "nickname": "A"}}`))
		must(t, err)
		u := w.user(t, id)
		if len(u.Attributes) != 2 || u.Text("nickname") != "A" {
			t.Errorf("kept %v: what is left out is gone", u.Attributes)
		}
		password, err := w.store.Password(t.Context(), id)
		must(t, err)
		if password.Hash != "plain:quiet harbour lantern" || w.sessions(t, id) != 1 {
			t.Errorf("the password is %q, and there are %d sessions; no password was set", password.Hash, w.sessions(t, id))
		}
		w.create(t, w.Users, person("lovelace", `"email": "ada@example.org"`)) // the address is free again
		_, err = w.Users.Replace(t.Context(), SystemCall(), id, "", doc(t, `{"type": "Person", "attributes": {"username": "Lovelace"}}`))
		refused(t, err, schemas.CodeAttributeTaken, "attributes.username: another user has this value")
		wantEvents(t, w, id, "user.created", "password.set", "user.replaced")
	})
}

func TestReplaceUserWithItself(t *testing.T) {
	w := newFixture(t)
	id := w.create(t, w.Users, person("ada"))
	before, err := w.Users.Get(t.Context(), SystemCall(), id)
	must(t, err)
	after, err := w.Users.Replace(t.Context(), SystemCall(), id, before.ETag, doc(t, object(t, "id", id, "type", "Person", "ouId", w.unit,
		"attributes", map[string]any{"username": "ada"}, "createdAt", "2020-01-01T00:00:00Z")))
	must(t, err)
	if before.ETag != after.ETag {
		t.Error("something was written")
	}
	wantEvents(t, w, id, "user.created", "password.set")
}

// A new password ends all sessions of the user, because a thief of the old one may have
// some. The session that sets it continues.
func TestSetPassword(t *testing.T) {
	w := newFixture(t)
	id := w.create(t, w.Users, person("ada"))
	session := w.session(t, id)
	w.session(t, id)
	etag := func() string {
		item, err := w.Users.Get(t.Context(), SystemCall(), id)
		must(t, err)
		return item.ETag
	}
	before := etag()
	body := `{"type": "Person", "attributes": {"username": "ada", "password": "grey lantern harbour"}}`
	self := as(id, "system:users:write")
	self.Session = session
	_, err := w.Users.Replace(t.Context(), self, id, "", doc(t, body))
	must(t, err)
	if n := w.sessions(t, id); n != 1 {
		t.Errorf("%d sessions go on, expected the one that set the password", n)
	}
	if etag() == before {
		t.Error("a new password did not change the entity tag")
	}
	w.session(t, id)
	_, err = w.Users.Replace(t.Context(), as(schemas.NewID(), "system:users:write"), id, "", doc(t, body))
	must(t, err)
	if n := w.sessions(t, id); n != 0 {
		t.Errorf("%d sessions go on", n)
	}
	password, err := w.store.Password(t.Context(), id)
	must(t, err)
	if password.Hash != "plain:grey lantern harbour" {
		t.Errorf("the hash is %q", password.Hash)
	}
	wantEvents(t, w, id, "user.created", "password.set", "password.set", "user.replaced", "password.set", "user.replaced", "session.ended", "session.ended", "session.ended")
}

// A required password may be omitted from a replacement: it stays.
func TestReplaceKeepsARequiredPassword(t *testing.T) {
	w := newFixture(t)
	w.create(t, w.UserTypes, userType("Staff", `{"type": "object", "required": ["password"], "properties": {"name": {"type": "string"}, "password": {"type": "string", "x-credential": true}}}`))
	id := w.create(t, w.Users, `{"type": "Staff", "attributes": {"password": "quiet harbour lantern"}}`)
	_, err := w.Users.Replace(t.Context(), SystemCall(), id, "", doc(t, `{"type": "Staff", "attributes": {"name": "Ada"}}`))
	must(t, err)
	password, err := w.store.Password(t.Context(), id)
	must(t, err)
	if password.Hash != "plain:quiet harbour lantern" {
		t.Errorf("the hash is %q", password.Hash)
	}
	other := w.create(t, w.Users, `{"type": "Person", "attributes": {"username": "eve"}}`)
	_, err = w.Users.Replace(t.Context(), SystemCall(), other, "", doc(t, `{"type": "Staff"}`))
	refused(t, err, schemas.CodeInvalidRequest, `attributes.password: required member "password" is missing`)
	other = w.create(t, w.Users, person("ada"))
	_, err = w.Users.Replace(t.Context(), SystemCall(), other, "", doc(t, `{"type": "Staff"}`))
	must(t, err)
}

// A type without a password removes the user's password.
func TestTypeWithoutPassword(t *testing.T) {
	w := newFixture(t)
	w.create(t, w.UserTypes, userType("Badge", properties(`"username": {"type": "string"}`)))
	id := w.create(t, w.Users, person("ada"))
	_, err := w.Users.Replace(t.Context(), SystemCall(), id, "", doc(t, `{"type": "Badge", "attributes": {"username": "ada"}}`))
	must(t, err)
	password, err := w.store.Password(t.Context(), id)
	must(t, err)
	if password.Hash != "" {
		t.Error("the password is still there")
	}
	wantEvents(t, w, id, "user.created", "password.set", "user.replaced", "password.removed")
}

func TestDeleteUser(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		id := w.create(t, w.Users, person("ada"))
		w.session(t, id)
		w.role(t, id, "system:users:read")
		group := w.create(t, w.Groups, object(t, "name", "G", "members", []schemas.Principal{{Type: schemas.UserPrincipal, ID: id}}))
		must(t, w.Users.Delete(t.Context(), SystemCall(), id, ""))
		item, err := w.Groups.Get(t.Context(), SystemCall(), group)
		must(t, err)
		if g := item.Value.(*schemas.Group); len(g.Members) != 0 {
			t.Errorf("members are %v", g.Members)
		}
		_, err = w.Users.Get(t.Context(), SystemCall(), id)
		refused(t, err, schemas.CodeUserNotFound)
		w.create(t, w.Users, person("ada"))
		permissions, err := store.PermissionsOf(t.Context(), w.store, schemas.Principal{Type: schemas.UserPrincipal, ID: id})
		must(t, err)
		if len(permissions) != 0 {
			t.Errorf("no user has %q", permissions)
		}
	})
}

func TestListUsers(t *testing.T) {
	w := newFixture(t)
	ada := w.create(t, w.Users, person("ada", `"email": "ada@example.org"`))
	w.create(t, w.Users, person("bob"))
	for filter, want := range map[[2]string]int{
		{"username", "ADA"}: 1, {"email", "ada@example.org"}: 1, {"username", "ada@example.org"}: 0, {"type", "Person"}: 2, {"id", ada}: 1, {"", ""}: 2,
	} {
		page, err := w.Users.List(t.Context(), SystemCall(), Query{Limit: 10, Filter: filter[0], Value: filter[1]})
		must(t, err)
		if page.Total != want || len(page.Items) != want {
			t.Errorf("%q: %d of %d, expected %d", filter, len(page.Items), page.Total, want)
		}
	}
}
