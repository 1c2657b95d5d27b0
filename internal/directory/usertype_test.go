package directory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// userType returns the body of a type with the schema.
func userType(name, schema string) string {
	return fmt.Sprintf(`{"name": %q, "schema": %s}`, name, schema)
}

// properties returns the schema of an object with the properties.
func properties(members string) string {
	return `{"type": "object", "properties": {` + members + `}}`
}

func TestBadUserTypes(t *testing.T) {
	w := newFixture(t)
	before := w.types(t)
	invalid := schemas.CodeInvalidRequest
	a := func(property string) string { return userType("T", properties(`"a": `+property)) }
	tests := map[string]struct {
		body, code string
		problems   []string
	}{
		"nothing":                 {`{}`, invalid, []string{`name: required member "name" is missing`, `schema: required member "schema" is missing`}},
		"no object":               {`"Person"`, invalid, []string{": expected an object, got a string"}},
		"an unknown member":       {`{"name": "T", "schema": {"type": "object"}, "attributes": {}}`, invalid, []string{`attributes: unknown member "attributes"`}},
		"a misspelt member":       {`{"name": "T", "shema": {"type": "object"}}`, invalid, []string{`shema: unknown member "shema"; did you mean "schema"?`}},
		"an empty name":           {userType("", `{"type": "object"}`), invalid, []string{"name: expected at least 1 character"}},
		"a blank name":            {userType("  ", `{"type": "object"}`), invalid, []string{"name: expected a name that is not blank"}},
		"a number for a name":     {`{"name": 1, "schema": {"type": "object"}}`, invalid, []string{"name: expected a string, got a number"}},
		"a long name":             {userType(strings.Repeat("T", 201), `{"type": "object"}`), invalid, []string{"name: expected at most 200 characters"}},
		"NUL in a name":           {`{"name": "T\u0000", "schema": {"type": "object"}}`, invalid, []string{"name: the character NUL"}},
		"a long description":      {`{"name": "T", "description": "` + strings.Repeat("d", 2001) + `", "schema": {"type": "object"}}`, invalid, []string{"description: expected at most 2000 characters"}},
		"an unknown unit":         {`{"name": "T", "ouId": "none", "schema": {"type": "object"}}`, invalid, []string{"ouId: no organization unit"}},
		"no UUID":                 {`{"name": "T", "id": "t", "schema": {"type": "object"}}`, invalid, []string{"id: expected a UUID"}},
		"a list for a schema":     {`{"name": "T", "schema": []}`, invalid, []string{"schema: expected an object, got a list"}},
		"a text for a schema":     {`{"name": "T", "schema": "{}"}`, invalid, []string{"schema: expected an object, got a string"}},
		"an empty schema":         {userType("T", `{}`), invalid, []string{"schema: expected at least 1 member"}},
		"not of an object":        {userType("T", `{"type": "array"}`), invalid, []string{`schema: expected "type": "object" at the top`}},
		"of an unknown type":      {userType("T", `{"type": "objekt"}`), invalid, []string{"schema.type: value must be one of", `schema: expected "type": "object"`}},
		"another draft":           {userType("T", `{"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object"}`), invalid, []string{"schema: expected https://json-schema.org/draft/2020-12/schema"}},
		"a misspelt keyword":      {userType("T", `{"type": "object", "requird": []}`), invalid, []string{`schema.requird: did you mean "required"?`}},
		"a number for a property": {a(`1`), invalid, []string{"schema.properties.a: expected object or boolean"}},
		"a broken pattern":        {a(`{"pattern": "["}`), invalid, []string{"schema.properties.a.pattern: is not valid 'regex'"}},
		"an unknown format":       {a(`{"format": "uid"}`), invalid, []string{`schema.properties.a.format: did you mean "uuid"?`}},
		"a misspelt mark":         {a(`{"type": "string", "x-uniq": true}`), invalid, []string{`schema.properties.a.x-uniq: did you mean "x-unique"?`}},
		"a mark of words":         {a(`{"type": "string", "x-unique": "true"}`), invalid, []string{"schema.properties.a.x-unique: expected true or false"}},
		"unique booleans":         {a(`{"type": "boolean", "x-unique": true}`), invalid, []string{"schema.properties.a.x-unique: only an attribute of one type"}},
		"unique items":            {a(`{"type": "array", "items": {"type": "string", "x-unique": true}}`), invalid, []string{"schema.properties.a.items.x-unique: only attributes themselves"}},
		"a secret":                {a(`{"type": "string", "x-credential": true}`), invalid, []string{`schema.properties.a.x-credential: only the attribute "password"`}},
		"a password in the clear": {userType("T", properties(`"password": {"type": "string"}`)), invalid, []string{"schema.properties.password: in the clear"}},
		"a username of numbers":   {userType("T", properties(`"username": {"type": "number"}`)), invalid, []string{"schema.properties.username: users sign in with it"}},
		"a reference away":        {a(`{"$ref": "https://example.com/a.json"}`), invalid, []string{"schema.properties.a.$ref: refer to a definition at the top"}},
		"going round":             {userType("T", `{"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}`), invalid, []string{"schema.$defs.a.$ref: refers to itself"}},
		"too large":               {a(`{"description": "` + strings.Repeat("d", 70000) + `"}`), invalid, []string{"schema: expected at most 65536 bytes"}},
		"too much to check":       {a(`{"items": {"items": {"enum": [` + strings.Repeat("0,", 2000) + `1]}}}`), invalid, []string{"schema: it would be too expensive"}},
		"required and impossible": {userType("T", `{"type": "object", "additionalProperties": false, "required": ["a"]}`), invalid, []string{`schema.required[0]: unknown attribute "a"`}},
		"everything at once": {`{"name": "", "ouId": "none", "id": "t", "schema": {"type": "object", "properties": {"a": {"format": "x"}, "password": {}}}}`, invalid,
			[]string{"name: at least 1", "ouId: no organization unit", "id: a UUID", "schema.properties.a.format: unknown format", "schema.properties.password: in the clear"}},
		"a taken name": {userType("Person", `{"type": "object"}`), "user_type_exists", []string{`name: "Person" already belongs to another one`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := w.UserTypes.Create(t.Context(), SystemCall(), doc(t, test.body))
			refused(t, err, test.code, test.problems...)
		})
	}
	if after := w.types(t); after != before {
		t.Errorf("%d types, expected %d", after, before)
	}
}

func (w *fixture) types(t testing.TB) int {
	t.Helper()
	n, err := store.UserTypes().Count(t.Context(), w.store, store.Page{})
	must(t, err)
	return n
}

// replaceType replaces the definition of a user type.
func (w *fixture) replaceType(t testing.TB, id, name, schema string) error {
	t.Helper()
	_, err := w.UserTypes.Replace(t.Context(), SystemCall(), id, "", doc(t, userType(name, schema)))
	return err
}

func TestTypeKeepsItsUsers(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		id := w.create(t, w.UserTypes, userType("Staff", properties(`"username": {"type": "string"}, "badge": {}, "colour": {"type": "string"}`)))
		var made []string
		for i := range 25 {
			made = append(made, w.create(t, w.Users, fmt.Sprintf(`{"type": "Staff", "attributes": {"username": "u%d", "badge": "secret%d", "colour": "plum%d"}}`, i, i%24, i)))
		}
		err := w.replaceType(t, id, "Staff", properties(`"username": {"type": "string"}, "badge": {"type": "integer"}, "colour": {"enum": ["red"]}`))
		refused(t, err, schemas.CodeUsersDoNotFit)
		e := schemas.AsError(err)
		if e.Class != schemas.Conflict || len(e.Errors) != 20 || !strings.Contains(e.Description.DefaultValue, "25 user(s) would no longer match") {
			t.Errorf("got %v", err)
		}
		if p := e.Errors[0]; p.Path != "users."+made[0]+".attributes.badge" || p.Message != "expected a whole number (and 1 more problems)" {
			t.Errorf("reported %+v", p)
		}
		if reported := e.Error(); strings.Contains(reported, "secret") || strings.Contains(reported, "plum") {
			t.Errorf("%s contains attributes of users", reported)
		}
		marked := properties(`"username": {"type": "string"}, "badge": {"type": "string", "x-unique": true}, "colour": {"type": "string"}`)
		refused(t, w.replaceType(t, id, "Staff", marked), schemas.CodeUsersDoNotFit, "users."+made[24]+".attributes.badge: expected a value of its own")
		must(t, w.Users.Delete(t.Context(), SystemCall(), made[24], ""))
		must(t, w.replaceType(t, id, "Staff", marked))
		_, err = w.Users.Create(t.Context(), SystemCall(), doc(t, `{"type": "Staff", "attributes": {"badge": "SECRET3"}}`))
		refused(t, err, schemas.CodeAttributeTaken, "attributes.badge: another user has this value")
		must(t, w.replaceType(t, id, "Staff", properties(`"username": {"type": "string"}, "badge": {"type": "string"}, "colour": {"type": "string"}`)))
		w.create(t, w.Users, `{"type": "Staff", "attributes": {"badge": "SECRET3"}}`)
		wantTypeEvents(t, w, id, 3)
	})
}

// wantTypeEvents checks the number of events about a type: a refused change records none.
func wantTypeEvents(t testing.TB, w *fixture, id string, want int) {
	t.Helper()
	found, err := w.store.Events(t.Context(), schemas.EventQuery{ResourceID: id, Limit: 100})
	must(t, err)
	if len(found) != want {
		t.Errorf("%d events, expected %d: %v", len(found), want, found)
	}
}

// Existing users need no password if their type starts to require one.
func TestTypeMayRequireAPasswordOfNewUsers(t *testing.T) {
	w := newFixture(t)
	id := w.create(t, w.UserTypes, userType("Staff", properties(`"username": {"type": "string"}`)))
	w.create(t, w.Users, `{"type": "Staff", "attributes": {"username": "ada"}}`)
	must(t, w.replaceType(t, id, "Staff", `{"type": "object", "required": ["password"], "properties": {"username": {"type": "string"}, "password": {"type": "string", "x-credential": true}}}`))
}

func TestTypeInUseKeepsItsName(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		id := h.create(t, h.UserTypes, userType("Staff", `{"type": "object"}`))
		must(t, h.replaceType(t, id, "Crew", `{"type": "object"}`))
		user := h.create(t, h.Users, `{"type": "Crew"}`)
		app := h.create(t, h.Applications, `{"name": "Office", "allowedUserTypes": ["Crew"]}`)
		flow := h.create(t, h.Flows, strings.NewReplacer("passkey-sign-up", "crew", `"use": "user-create"`, `"use": "user-create", "with": {"type": "Crew"}`).Replace(signUpFlow))
		uses := []string{"user: is of it", "application: allows it", "flow: creates users of it"}
		refused(t, h.replaceType(t, id, "Staff", `{"type": "object"}`), schemas.CodeInUse, uses...)
		refused(t, h.UserTypes.Delete(t.Context(), SystemCall(), id, ""), schemas.CodeInUse, uses...)
		must(t, h.replaceType(t, id, "Crew", `{"type": "object", "title": "Crew"}`))
		must(t, errors.Join(h.Users.Delete(t.Context(), SystemCall(), user, ""), h.Applications.Delete(t.Context(), SystemCall(), app, ""),
			h.Flows.Delete(t.Context(), SystemCall(), flow, "")))
		must(t, h.UserTypes.Delete(t.Context(), SystemCall(), id, ""))
		refused(t, h.UserTypes.Delete(t.Context(), SystemCall(), schemas.PersonID, ""), schemas.CodeInUse)
	})
}

// An application of several types prevents that one of them gets its own scope, also if it registered itself, and
// with all of the changes of a transaction.
func TestScopesOfTypesInUse(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		id := h.create(t, h.UserTypes, userType("Staff", `{"type": "object"}`))
		scoped := doc(t, object(t, "name", "Staff", "schema", map[string]any{"type": "object"}, "identifierScope", "userType"))
		a := h.register(t, selfRegistered("Client", "", schemas.RegisteredDynamically))
		both := func(types ...string) *schemas.Document {
			a.AllowedUserTypes = types
			return doc(t, mustJSON(t, a))
		}
		_, err := h.Applications.Replace(t.Context(), SystemCall(), a.ID, "", both("Staff", "Person"))
		must(t, err)
		_, err = h.UserTypes.Replace(t.Context(), SystemCall(), id, "", scoped)
		refused(t, err, schemas.CodeInUse, "application: allows other user types as well")
		must(t, h.Transact(t.Context(), SystemCall(), func(c Call) error {
			if _, err := h.UserTypes.Replace(t.Context(), c, id, "", scoped); err != nil {
				return err
			}
			_, err := h.Applications.Replace(t.Context(), c, a.ID, "", both("Staff"))
			return err
		}))
	})
}

func TestReplaceTypeWithItself(t *testing.T) {
	w := newFixture(t)
	id := w.create(t, w.UserTypes, userType("Staff", properties(`"a": {  "type": "string"}`)))
	before, err := w.UserTypes.Get(t.Context(), SystemCall(), id)
	must(t, err)
	must(t, w.replaceType(t, id, "Staff", strings.ReplaceAll(properties(`"a": {"type": "string"}`), " ", "\n\t")))
	after, err := w.UserTypes.Get(t.Context(), SystemCall(), id)
	must(t, err)
	if strings.ContainsAny(string(after.Value.(*schemas.UserType).Schema), "\n\t ") {
		t.Errorf("kept %s: how it was laid out is no part of it", after.Value.(*schemas.UserType).Schema)
	}
	if before.ETag != after.ETag {
		t.Errorf("white space made %+v of %+v", after.Value, before.Value)
	}
}

func TestFlowsCreateUsers(t *testing.T) {
	for _, test := range []struct {
		use, addPrincipal, userType string
		want                        bool
	}{
		{"user-create", "", "Person", true},
		{"user-create", `{}`, "Person", true},
		{"user-create", `{"identifiedBy": "email"}`, "Person", true},
		{"user-create", `{"type": "Staff"}`, "Staff", true},
		{"user-create", `{"type": "Staff"}`, "Person", false},
		{"user-create", `{}`, "Staff", false},
		{"user-resolve", `{"type": "Staff"}`, "Staff", false},
		{"user-create", `[]`, "Person", false},
	} {
		f := &schemas.Flow{Nodes: []schemas.Node{{ID: "a", Use: "prompt"}, {ID: "b", Use: test.use, With: []byte(test.addPrincipal)}}}
		if got := createsUsers(f, test.userType); got != test.want {
			t.Errorf("%s with %s creates %s: %v", test.use, test.addPrincipal, test.userType, got)
		}
	}
}

// A schema change must not reveal the attributes of users.
func TestUserTypesDoNotRevealUsers(t *testing.T) {
	w := newFixture(t)
	id := w.create(t, w.UserTypes, userType("Staff", properties(`"pin": {"type": "string"}`)))
	asks := func(description, pattern string, permissions ...string) error {
		body := object(t, "name", "Staff", "description", description, "schema", json.RawMessage(properties(`"pin": {"type": "string", "pattern": "`+pattern+`"}`)))
		_, err := w.UserTypes.Replace(t.Context(), as(schemas.NewID(), permissions...), id, "", doc(t, body))
		return err
	}
	must(t, asks("", "^[0-9]", "system:user-types")) // there are no users
	w.create(t, w.Users, `{"type": "Staff", "attributes": {"pin": "31"}}`)
	for _, pattern := range []string{"^3", "^4"} {
		if err := asks("", pattern, "system:user-types"); !schemas.HasClass(err, schemas.Forbidden) {
			t.Errorf("%s: got %v, expected it to be forbidden", pattern, err)
		}
	}
	must(t, asks("Who works here.", "^[0-9]", "system:user-types")) // the schema is unchanged
	refused(t, asks("", "^4", "system:user-types", "system:users:read"), schemas.CodeUsersDoNotFit)
	must(t, asks("", "^3", "system:user-types", "system:users:read"))
}
