package nodes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func named() map[string]schemas.InputType {
	return map[string]schemas.InputType{
		"username": schemas.TextInput, "mail": schemas.EmailInput, "age": schemas.NumberInput,
		"password": schemas.PasswordInput, "email": schemas.EmailInput, "given_name": schemas.TextInput,
		"email_verified": schemas.TextInput, "colour": schemas.TextInput,
	}
}

func TestUserResolve(t *testing.T) {
	tests := map[string]struct {
		with, typed string
		flow        schemas.FlowType
		outcome     string
		subject     engine.Subject
		notice      string
		lookups     int
	}{
		"by username": {
			with: `{"by": ["username", "email"], "from": "username"}`, typed: "ADA",
			outcome: "found", subject: engine.Subject{UserID: "ada", Input: "username"}, lookups: 1,
		},
		"by address": {
			with: `{"by": ["username", "email"], "from": "username"}`, typed: "ada@example.org",
			outcome: "found", subject: engine.Subject{UserID: "ada", Input: "username"}, lookups: 2,
		},
		"not by an attribute that is not listed": {
			with: `{"by": ["username"], "from": "username"}`, typed: "ada@example.org",
			outcome: "missing", notice: schemas.CodeUserNotFound, lookups: 1,
		},
		"missing at registration is no mistake": {
			with: `{"by": ["username"], "from": "username"}`, typed: "eve", flow: schemas.Registration,
			outcome: "missing", lookups: 1,
		},
		"missing and concealed": {
			with: `{"by": ["username", "email"], "from": "username", "conceal": true}`, typed: "eve",
			outcome: "missing", subject: engine.Subject{Name: "eve", Input: "username"}, lookups: 2,
		},
		"found takes as many look-ups as missing where that is concealed": {
			with: `{"by": ["username", "email"], "from": "username", "conceal": true}`, typed: "ada",
			outcome: "found", subject: engine.Subject{UserID: "ada", Name: "ada", Input: "username"}, lookups: 2,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			exec := w.make(t, "user-resolve", test.with, named())
			v := visit(inputs("username", test.typed), known("bob"))
			if test.flow != "" {
				v.FlowType = test.flow
			}
			d := left(t, run(t, exec, v), test.outcome)
			if d.Subject == nil || *d.Subject != test.subject {
				t.Errorf("subject %+v, want %+v", d.Subject, test.subject)
			}
			if code := codeOf(d.Notice); code != test.notice {
				t.Errorf("notice %q, want %q", code, test.notice)
			}
			if w.lookups != test.lookups {
				t.Errorf("%d look-ups, want %d", w.lookups, test.lookups)
			}
		})
	}
}

func codeOf(e *schemas.Error) string {
	if e == nil {
		return ""
	}
	return e.Code
}

func TestUserResolveFacts(t *testing.T) {
	exec := newFixture(t).make(t, "user-resolve", `{"by": ["email"], "from": "mail"}`, named())
	if needs := exec.(engine.Needer).Needs(); len(needs) != 1 || needs[0].AnyOf[0] != engine.InputFact("mail") {
		t.Errorf("needs %+v", needs)
	}
	found := exec.(engine.OutcomeConfigurer).Outcomes()[0]
	if !found.NewSubject || !slices.Equal(found.Establishes, []engine.Fact{engine.User, engine.ClaimFact("mail"), engine.AttributeFact("email")}) {
		t.Errorf("found is %+v: the user is no more than named, by the input", found)
	}
}

func TestUserResolveConfiguration(t *testing.T) {
	concealing := `{"by": ["username"], "from": "username", "conceal": true}`
	tests := map[string]struct {
		with string
		next schemas.Next
		want string
	}{
		"conceal led to one node":       {concealing, schemas.Next{By: map[string]string{"found": "a", "missing": "a"}}, ""},
		"conceal led by default":        {concealing, schemas.Next{To: "a"}, ""},
		"conceal led to two":            {concealing, schemas.Next{By: map[string]string{"found": "a", "missing": "b"}}, "conceal: conceal hides"},
		"two without conceal":           {`{"by": ["username"], "from": "username"}`, schemas.Next{By: map[string]string{"found": "a", "missing": "b"}}, ""},
		"input that no prompt collects": {`{"by": ["username"], "from": "usernmae"}`, schemas.Next{To: "a"}, `from: no prompt of this flow collects an input "usernmae"`},
		"a secret":                      {`{"by": ["username"], "from": "password"}`, schemas.Next{To: "a"}, `from: the input "password" is a secret (PASSWORD_INPUT)`},
		"an attribute that many share":  {`{"by": ["given_name"], "from": "username"}`, schemas.Next{To: "a"}, "by[0]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, problems := newFixture(t).try("user-resolve", test.with, named(), test.next)
			got := texts(problems)
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestUserResolveFailsWithTheStore(t *testing.T) {
	w := newFixture(t)
	w.broken = errors.New("disk on fire")
	exec := w.make(t, "user-resolve", `{"by": ["username"], "from": "username"}`, named())
	if _, err := exec.Execute(t.Context(), visit(inputs("username", "ada"))); !errors.Is(err, w.broken) {
		t.Errorf("got %v: a broken store is not a missing user", err)
	}
}

func TestUserCreate(t *testing.T) {
	exec := newFixture(t).make(t, "user-create", `{}`, named())
	v := visit(inputs("username", "grace", "email", "grace@example.org", "given_name", "Grace",
		"email_verified", "true", "colour", "blue", "password", "secret password"))
	d := left(t, run(t, exec, v), "created")
	u := d.Subject.Draft
	if u == nil || d.Subject.UserID != u.ID || u.ID == "" {
		t.Fatalf("subject %+v", d.Subject)
	}
	if u.Type != "Person" || u.OUID != "ou-1" || !u.CreatedAt.Equal(noon) {
		t.Errorf("drafted %+v", u)
	}
	want := map[string]any{"username": "grace", "email": "grace@example.org", "given_name": "Grace"}
	if len(u.Attributes) != len(want) {
		t.Errorf("attributes %v, want %v: neither secrets, nor what is no profile attribute, nor a claim to be verified", u.Attributes, want)
	}
	for k, value := range want {
		if u.Attributes[k] != value {
			t.Errorf("%s is %v", k, u.Attributes[k])
		}
	}
	if len(d.Changes) != 0 {
		t.Errorf("changes %v: the engine stores the draft, when something concerns it", d.Changes)
	}
}

func TestUserCreateConfigured(t *testing.T) {
	with := `{"type": "Customer", "ouId": "ou-2", "attributes": {"email": "mail", "years": "age"}}`
	exec := newFixture(t).make(t, "user-create", with, named())
	d := left(t, run(t, exec, visit(inputs("mail", "g@example.org", "age", "37.5", "username", "grace"))), "created")
	u := d.Subject.Draft
	if u.Type != "Customer" || u.OUID != "ou-2" || len(u.Attributes) != 2 ||
		u.Attributes["email"] != "g@example.org" || u.Attributes["years"] != 37.5 {
		t.Errorf("drafted %+v", u)
	}
	var needs []string
	for _, need := range exec.(engine.Needer).Needs() {
		needs = append(needs, string(need.AnyOf[0]))
	}
	if got := strings.Join(needs, " "); got != "input.mail input.age" {
		t.Errorf("needs %s", got)
	}
}

func TestUserCreateTaken(t *testing.T) {
	exec := newFixture(t).make(t, "user-create", `{}`, named())
	d := left(t, run(t, exec, visit(known("bob"), inputs("username", "BOB", "email", "Ada@example.org"))), "taken")
	if d.Subject == nil || *d.Subject != (engine.Subject{}) {
		t.Errorf("subject %+v: the run has no user now", d.Subject)
	}
	if d.Notice.Code != schemas.CodeAttributeTaken || len(d.Notice.Errors) != 2 ||
		d.Notice.Errors[0].Path != "username" || d.Notice.Errors[1].Path != "email" {
		t.Errorf("notice %v", d.Notice)
	}
	if strings.Contains(d.Notice.Error(), "example.org") {
		t.Errorf("personal data in %v", d.Notice)
	}
}

// Taken or invalid values are reported at the input they came from.
func TestUserCreateRefuses(t *testing.T) {
	tests := map[string]struct {
		with, username, code, path string
	}{
		"another user's address as a username": {`{}`, "ADA@example.org", "invalid_identifier", "username"},
		"an address as a username":             {`{}`, "grace@example.org", "invalid_identifier", "username"},
		"an input of another name":             {`{"attributes": {"username": "nick"}}`, "bob", schemas.CodeAttributeTaken, "nick"},
		"too long for the store":               {`{}`, strings.Repeat("𐍈", 300), "invalid_identifier", "username"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			types := named()
			types["nick"] = schemas.TextInput
			exec := newFixture(t).make(t, "user-create", test.with, types)
			d := left(t, run(t, exec, visit(inputs("username", test.username, "nick", test.username))), "taken")
			if d.Notice.Code != test.code || len(d.Notice.Errors) != 1 || d.Notice.Errors[0].Path != test.path {
				t.Errorf("notice %v", d.Notice)
			}
		})
	}
}

func TestUserCreateNeedsOneThatIdentifies(t *testing.T) {
	w := newFixture(t)
	either := w.make(t, "user-create", `{}`, named()).(engine.Needer).Needs()
	if len(either) != 1 || !slices.Equal(either[0].AnyOf, []engine.Fact{"input.username", "input.email"}) {
		t.Errorf("needs %+v", either)
	}
	chosen := w.make(t, "user-create", `{"identifiedBy": "email"}`, named()).(engine.Needer).Needs()
	if len(chosen) != 1 || !slices.Equal(chosen[0].AnyOf, []engine.Fact{"input.email"}) {
		t.Errorf("needs %+v", chosen)
	}
	if _, err := w.make(t, "user-create", `{}`, named()).Execute(t.Context(), visit(inputs("given_name", "Grace"))); err == nil {
		t.Error("created a user that cannot be found")
	}
}

func TestUserCreateConfiguration(t *testing.T) {
	tests := map[string]struct{ with, want string }{
		"no prompt collects it":  {`{"attributes": {"username": "login"}}`, `attributes.username: no prompt of this flow collects an input "login"`},
		"a secret as attribute":  {`{"attributes": {"username": "username", "pin": "password"}}`, `attributes.pin: the input "password" is a secret (PASSWORD_INPUT)`},
		"vouching for oneself":   {`{"attributes": {"username": "username", "email_verified": "colour"}}`, "attributes.email_verified: users cannot verify"},
		"nothing identifies":     {`{"attributes": {"given_name": "given_name"}}`, "a user without a username or an email address could never be found"},
		"not by what was chosen": {`{"attributes": {"username": "username"}, "identifiedBy": "email"}`, "a user without the attribute email"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, problems := newFixture(t).try("user-create", test.with, named(), schemas.Next{})
			if got := texts(problems); strings.Count(got, "\n") != 1 || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want one finding with %q", got, test.want)
			}
		})
	}
}

func TestUserCreateKeepsToTheTypesOfTheApplication(t *testing.T) {
	tests := []struct {
		with, want string
		allowed    []string
	}{
		{`{}`, "Person", nil},
		{`{}`, "Person", []string{"Customer", "Person"}},
		{`{}`, "Customer", []string{"Customer", "Partner"}},
		{`{"type": "Partner"}`, "Partner", []string{"Customer", "Partner"}},
		{`{"type": "Person"}`, "", []string{"Customer"}},
	}
	for _, test := range tests {
		exec := newFixture(t).make(t, "user-create", test.with, named())
		v := visit(inputs("username", "grace"))
		v.Application = &schemas.Application{ID: "a", Name: "Shop", AllowedUserTypes: test.allowed}
		d, err := exec.Execute(t.Context(), v)
		switch {
		case test.want == "":
			if err != nil || codeOf(d.Fail) != schemas.CodeUserTypeNotAllowed {
				t.Errorf("%s of %v: %+v, %v", test.with, test.allowed, d, err)
			}
		case err != nil || d.Subject.Draft.Type != test.want:
			t.Errorf("%s of %v: %+v, %v, want %s", test.with, test.allowed, d, err, test.want)
		}
	}
}
