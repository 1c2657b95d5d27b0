package directory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// person returns the body of a person with a username, a password and more attributes as
// JSON members.
func person(username string, more ...string) string {
	all := append([]string{fmt.Sprintf(`"username": %q, "password": "quiet harbour lantern"`, username)}, more...)
	return `{"type": "Person", "attributes": {` + strings.Join(all, ", ") + `}}`
}

func (w *fixture) user(t testing.TB, id string) *schemas.User {
	t.Helper()
	item, err := w.Users.Get(t.Context(), SystemCall(), id)
	must(t, err)
	return item.Value.(*schemas.User)
}

func TestCreateUser(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		id := w.create(t, w.Users, person("ada", `"email": "ada@example.org", "email_verified": true, "address": {"country": "UK"}`))
		u := w.user(t, id)
		if u.Type != "Person" || u.OUID != w.unit || u.Text("email") != "ada@example.org" || u.Attributes["email_verified"] != true {
			t.Errorf("made %+v", u)
		}
		if _, shown := u.Attributes["password"]; shown {
			t.Error("the password is shown")
		}
		password, err := w.store.Password(t.Context(), id)
		must(t, err)
		if password.Hash != "plain:quiet harbour lantern" {
			t.Errorf("the hash is %q", password.Hash)
		}
		wantEvents(t, w, id, "user.created", "password.set")
	})
}

// wantEvents checks the events about a user, oldest first. The order within one write is
// ignored.
func wantEvents(t testing.TB, w *fixture, userID string, want ...string) {
	t.Helper()
	found, err := w.store.Events(t.Context(), schemas.EventQuery{UserID: userID, Limit: 100})
	must(t, err)
	got := map[string]int{}
	for _, e := range found {
		got[e.Action]++
	}
	for _, action := range want {
		got[action]--
	}
	for action, n := range got {
		if n != 0 {
			t.Errorf("%d events too many of %s: %v", n, action, found)
		}
	}
}

func TestBadUsers(t *testing.T) {
	w := newFixture(t)
	w.create(t, w.UserTypes, `{"name": "Device", "schema": {"type": "object", "required": ["serial"], "properties": {
		"serial": {"type": "integer", "x-unique": true}, "badge": {"type": "string", "x-unique": true}, "colour": {"enum": ["red", "blue"]}}}}`)
	w.create(t, w.UserTypes, `{"name": "Secret", "schema": {"type": "object", "required": ["password"], "properties": {
		"username": {"type": "string"}, "password": {"type": "string", "x-credential": true}}}}`)
	w.create(t, w.Users, person("bob", `"email": "bob@example.org", "email_verified": true`))
	w.create(t, w.Users, `{"type": "Device", "attributes": {"serial": 7, "badge": "A1"}}`)
	invalid, taken := schemas.CodeInvalidRequest, schemas.CodeAttributeTaken
	tests := map[string]struct {
		body, code string
		problems   []string
	}{
		"nothing":                {`{}`, invalid, []string{`type: required member "type" is missing`}},
		"no object":              {`[]`, invalid, []string{": expected an object"}},
		"an unknown member":      {`{"type": "Person", "atributes": {}}`, invalid, []string{`atributes: unknown member "atributes"; did you mean "attributes"?`}},
		"a number for a type":    {`{"type": 1}`, invalid, []string{"type: expected a string, got a number"}},
		"an empty type":          {`{"type": ""}`, invalid, []string{"type: expected at least 1 character"}},
		"an unknown type":        {`{"type": "Persn"}`, invalid, []string{`type: there is no user type "Persn"`}},
		"an unknown unit":        {`{"type": "Person", "ouId": "0190"}`, invalid, []string{`ouId: no organization unit with the id "0190"`}},
		"no UUID":                {`{"type": "Person", "id": "ada"}`, invalid, []string{"id: expected a UUID"}},
		"a list of attributes":   {`{"type": "Person", "attributes": []}`, invalid, []string{"attributes: expected an object, got a list"}},
		"an unknown attribute":   {`{"type": "Person", "attributes": {"firstname": "a"}}`, invalid, []string{`attributes.firstname: unknown member "firstname"`}},
		"a misspelt attribute":   {`{"type": "Person", "attributes": {"givenName": "a"}}`, invalid, []string{`attributes.givenName: did you mean "given_name"?`}},
		"a number for a name":    {`{"type": "Person", "attributes": {"name": 1}}`, invalid, []string{"attributes.name: expected a string, got a number"}},
		"a word for a boolean":   {`{"type": "Person", "attributes": {"email_verified": "yes"}}`, invalid, []string{"attributes.email_verified: expected true or false"}},
		"an empty username":      {person(""), invalid, []string{"attributes.username: expected at least 1 character"}},
		"a blank username":       {person("  "), invalid, []string{"attributes.username: This is empty"}},
		"a username of spaces":   {person("ada lovelace"), invalid, []string{"attributes.username: no spaces"}},
		"two scripts":            {person("аda"), invalid, []string{"attributes.username: mixes"}},
		"what cannot be seen":    {person("a\u200bda"), invalid, []string{"attributes.username: This contains an invisible"}},
		"a long username":        {person(strings.Repeat("a", 257)), invalid, []string{"attributes.username: expected at most 256 characters, got 257"}},
		"no address":             {person("ada", `"email": "ada"`), invalid, []string{"attributes.email: not an e-mail address"}},
		"a named address":        {person("ada", `"email": "Ada <ada@example.org>"`), invalid, []string{"attributes.email: not an e-mail address"}},
		"a short password":       {`{"type": "Person", "attributes": {"password": "short"}}`, invalid, []string{"attributes.password: Use at least 15 characters"}},
		"a long password":        {`{"type": "Person", "attributes": {"password": "` + strings.Repeat("p", 200) + `"}}`, invalid, []string{"attributes.password: expected at most 128 characters, got 200"}},
		"a password of numbers":  {`{"type": "Person", "attributes": {"password": 12345678}}`, invalid, []string{"attributes.password: expected a string, got a number"}},
		"an empty password":      {`{"type": "Secret", "attributes": {"password": ""}}`, invalid, []string{"attributes.password: the password is empty; leave it out"}},
		"too long to hash":       {`{"type": "Secret", "attributes": {"password": "` + strings.Repeat("p", 1025) + `"}}`, invalid, []string{"attributes.password: Use at most 128 characters"}},
		"a missing password":     {`{"type": "Secret", "attributes": {"username": "ada"}}`, invalid, []string{`attributes.password: required member "password" is missing`}},
		"a password of a device": {`{"type": "Device", "attributes": {"serial": 1, "password": "quiet harbour lantern"}}`, invalid, []string{`attributes.password: users of the type "Device" have no password`}},
		"a missing attribute":    {`{"type": "Device"}`, invalid, []string{`attributes.serial: required member "serial" is missing`}},
		"no choice":              {`{"type": "Device", "attributes": {"serial": 1, "colour": "green"}}`, invalid, []string{`attributes.colour: expected "red" or "blue"`}},
		"a rounded number":       {`{"type": "Device", "attributes": {"serial": 9007199254740993}}`, invalid, []string{"attributes.serial: more digits than can be stored"}},
		"a nameless device":      {`{"type": "Device", "attributes": {"serial": 1, "username": {"a": 1}}}`, invalid, []string{"attributes.username: expected a string, got an object"}},
		"a character NUL":        {`{"type": "Person", "attributes": {"name": "a\u0000b"}}`, invalid, []string{"attributes.name: the character NUL"}},
		"a script for a page":    {`{"type": "Person", "attributes": {"website": "javascript:alert(1)"}}`, invalid, []string{"attributes.website: expected an absolute URL"}},
		"a day that is none":     {`{"type": "Person", "attributes": {"birthdate": "10.12.1815"}}`, invalid, []string{"attributes.birthdate: expected a date such as"}},
		"part of an address":     {`{"type": "Person", "attributes": {"address": {"city": "London"}}}`, invalid, []string{`attributes.address.city: unknown member "city"`}},
		"very much":              {`{"type": "Person", "attributes": {"name": "` + strings.Repeat("n", 40000) + `"}}`, invalid, []string{"attributes: expected at most 32768 bytes"}},
		"everything at once": {`{"type": "Person", "ouId": "x", "id": "y", "attributes": {"username": "bob", "email": "no", "password": "x"}}`, invalid,
			[]string{"id: expected a UUID", "ouId: no organization unit", "attributes.username: another user has this value", "attributes.email: not an e-mail", "attributes.password: at least 15"}},
		"a taken username":          {person("BOB"), taken, []string{"attributes.username: another user has this value"}},
		"a taken address":           {person("rob", `"email": "Bob@Example.org"`), taken, []string{"attributes.email: another user has this value"}},
		"an address as a username":  {person("bob@example.org"), taken, []string{"attributes.username: another user has this value"}},
		"both":                      {person("bob", `"email": "bob@example.org"`), taken, []string{"attributes.username: another user has this value", "attributes.email: another user has this value"}},
		"a taken number":            {`{"type": "Device", "attributes": {"serial": 7}}`, taken, []string{"attributes.serial: another user has this value"}},
		"a taken badge, otherwise":  {`{"type": "Device", "attributes": {"serial": 8, "badge": " a1 "}}`, taken, []string{"attributes.badge: another user has this value"}},
		"an id that is not free":    {`{"type": "Person", "id": "` + w.idOf(t, "bob") + `"}`, "user_exists", nil},
		"an attribute that is none": {`{"type": "Device", "attributes": {"serial": 1.5}}`, invalid, []string{"attributes.serial: expected a whole number"}},
	}
	before := w.count(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := w.Users.Create(t.Context(), SystemCall(), doc(t, test.body))
			if test.code == "user_exists" {
				if !schemas.HasClass(err, schemas.Conflict) {
					t.Errorf("got %v", err)
				}
				return
			}
			refused(t, err, test.code, test.problems...)
			if e := schemas.AsError(err); strings.Contains(e.Error(), "quiet harbour lantern") {
				t.Errorf("the password is in %v", e)
			}
		})
	}
	if after := w.count(t); after != before {
		t.Errorf("%d users more", after-before)
	}
	_, err := w.Users.Create(t.Context(), SystemCall(), doc(t, `{"type": "Device", "attributes": {"serial": "7", "badge": "A1"}}`))
	refused(t, err, invalid, "attributes.serial: expected a whole number", "attributes.badge: another user has this value")
	if e := schemas.AsError(err); len(e.Errors) != 2 {
		t.Errorf("a problem is reported twice: %v", e.Errors)
	}
}

// idOf returns the id of the user with the username.
func (w *fixture) idOf(t testing.TB, username string) string {
	t.Helper()
	u, err := w.store.UserByAttribute(t.Context(), "", "username", username)
	must(t, err)
	return u.ID
}

func (w *fixture) count(t testing.TB) int {
	t.Helper()
	n, err := store.Users().Count(t.Context(), w.store, store.Page{})
	must(t, err)
	return n
}
