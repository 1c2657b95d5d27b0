package nodes

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

const staffSchema = `{
  "type": "object",
  "required": ["username", "badge", "team", "remote", "address", "password", "start"],
  "properties": {
    "username": {"type": "string"},
    "password": {"type": "string", "x-credential": true},
    "badge": {"title": "Badge", "type": "integer"},
    "height": {"type": "number"},
    "team": {"type": "string", "enum": ["red", "blue"]},
    "level": {"type": "integer", "enum": [1, 2]},
    "remote": {"type": "boolean"},
    "start": {"type": "string", "format": "date"},
    "contact": {"type": "string", "format": "idn-email", "maxLength": 20},
    "address": {"type": "object"},
    "either": {"type": ["string", "null"]},
    "anything": {}
  }
}`

func ownVisit(userID string, change ...func(*engine.Visit)) *engine.Visit {
	return visit(append([]func(*engine.Visit){known(userID), func(v *engine.Visit) { v.Facts = engine.NewFacts(engine.Authenticated) }}, change...)...)
}

// By default a form requests the attributes that the type requires, if inputs can
// represent them.
func TestAttributesByType(t *testing.T) {
	w := newFixture(t)
	w.userType = &schemas.UserType{Name: "Staff", Schema: json.RawMessage(staffSchema)}
	d := run(t, w.make(t, "attributes", `{}`, nil), ownVisit("ada"))
	got := map[string]schemas.InputType{}
	for _, in := range d.Ask.Inputs {
		got[in.Identifier] = in.Type
		if !in.Required {
			t.Errorf("%s is not required", in.Identifier)
		}
	}
	want := map[string]schemas.InputType{"badge": schemas.NumberInput, "team": schemas.SelectInput, "remote": schemas.SelectInput, "start": schemas.DateInput}
	if !maps.Equal(got, want) {
		t.Errorf("asks for %v, want %v", got, want)
	}
	exec := w.make(t, "attributes", `{"attributes": ["level", "height", "contact", "either", "anything", "nothing", "address", "badge", "remote", "password"]}`, nil)
	d = run(t, exec, ownVisit("ada", answer("submit", "level", "2", "height", "1.5", "contact", "a@example.org", "badge", "7", "remote", "No", "username", "eve")))
	left(t, d, "done")
	wantAttributes := map[string]any{"level": 2.0, "height": 1.5, "contact": "a@example.org", "badge": 7.0, "remote": false}
	if c, ok := d.Changes[0].(schemas.UpdateUser); !ok || c.UserID != "ada" || !reflect.DeepEqual(c.Attributes, wantAttributes) || actions(d) != "user.updated" {
		t.Errorf("changes %+v", d.Changes)
	}
	for name, bad := range map[string]string{"level": "3", "height": "x", "contact": "nobody", "badge": "1.5", "remote": "true"} {
		answers := map[string]string{"level": "1", "height": "1", "contact": "a@example.org", "badge": "7", "remote": "Yes"}
		answers[name] = bad
		d := run(t, exec, ownVisit("ada", func(v *engine.Visit) { v.Answer = &engine.Answer{Action: "submit", Inputs: answers} }))
		if d.Ask == nil || len(d.Ask.FieldErrors) != 1 || d.Ask.FieldErrors[0].Identifier != name {
			t.Errorf("%s: %q: %+v", name, bad, d)
		}
	}
}

// Violations of the type are reported at the input that requested the attribute. Users
// cannot correct other problems.
func TestInvalidAttributes(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "attributes", `{"attributes": ["family_name"]}`, nil)
	entered := ownVisit("ada", answer("submit", "family_name", "Lovelace"))
	w.misfit = []schemas.Problem{{Path: "family_name", Message: "expected another"}, {Path: "department", Message: "is wrong"}}
	d := run(t, exec, entered)
	if want := []schemas.FieldError{{Identifier: "family_name", Message: "Expected another."}}; d.Ask == nil || !slices.Equal(d.Ask.FieldErrors, want) {
		t.Errorf("got %+v", d)
	}
	w.misfit = w.misfit[1:]
	left(t, run(t, exec, entered), "done")
	if w.users["ada"].Attributes["family_name"] != nil {
		t.Error("the stored user was changed on the way")
	}
}

func TestAttributesThatIdentify(t *testing.T) {
	w := newFixture(t)
	for with, want := range map[string]string{
		`{"attributes": ["email"]}`:                                  "attributes[0]: email identifies users",
		`{"attributes": ["given_name", "email_verified"]}`:           "attributes[1]: users cannot verify",
		`{"attributes": ["email", "username"], "identifying": true}`: "",
	} {
		if _, problems := w.try("attributes", with, nil, schemas.Next{To: "next"}); !strings.HasPrefix(texts(problems), want) || want == "" && len(problems) > 0 {
			t.Errorf("%s: %v", with, problems)
		}
	}
	exec := w.make(t, "attributes", `{"attributes": ["email"], "identifying": true}`, nil)
	for value, wrong := range map[string]bool{"ADA@example.org": true, "bob@example.org": false} {
		d := run(t, exec, ownVisit("bob", answer("submit", "email", value)))
		if (d.Ask != nil) != wrong {
			t.Errorf("%s: %+v", value, d)
		}
	}
	w.users["bob"].Attributes = map[string]any{"username": "bob@example.org"} // the user's own value is no conflict
	left(t, run(t, exec, ownVisit("bob", answer("submit", "email", "bob@example.org"))), "done")
}

// A draft is created with the attributes; a user that the run has just stored is updated.
func TestAttributesOfNewUsers(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "attributes", `{"attributes": ["nickname"]}`, nil)
	draft := &schemas.User{ID: "new", Type: "Person", Attributes: map[string]any{"username": "new"}}
	d := left(t, run(t, exec, visit(drafted(draft), answer("submit", "nickname", "Newt"))), "done")
	if d.Subject == nil || d.Subject.Draft.Text("nickname") != "Newt" || d.Subject.UserID != "new" || len(d.Changes) > 0 || draft.Text("nickname") != "" {
		t.Errorf("got %+v", d)
	}
	pending := func(v *engine.Visit) { v.Pending = []schemas.Change{schemas.CreateUser{User: *draft}} }
	d = left(t, run(t, exec, visit(drafted(draft), pending, answer("submit", "nickname", "Newt"))), "done")
	if d.Subject != nil || len(d.Changes) != 2 {
		t.Errorf("got %+v", d)
	}
}
