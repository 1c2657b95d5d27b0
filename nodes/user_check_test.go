package nodes

import (
	"errors"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Violations of the user type are reported at the input they came from.
func TestUserCreateReportsInvalidAttributes(t *testing.T) {
	tests := map[string]struct {
		with     string
		misfit   []schemas.Problem
		typed    string // the username
		code     string
		reported []string
	}{
		"an attribute": {`{}`, []schemas.Problem{{Path: "given_name", Message: "expected at most 5 characters, got 6"}}, "grace",
			schemas.CodeUserDoesNotFit, []string{"given_name: Expected at most 5 characters, got 6."}},
		"of another input": {`{"attributes": {"username": "username", "shoe.size": "age"}}`, []schemas.Problem{{Path: `["shoe.size"]`, Message: "expected at least 30, got 7"}}, "grace",
			schemas.CodeUserDoesNotFit, []string{"age: Expected at least 30, got 7."}},
		"a part of one": {`{"attributes": {"username": "username", "address": "colour"}}`, []schemas.Problem{{Path: "address.city", Message: "is missing"}, {Path: "address[0]", Message: "too"}}, "grace",
			schemas.CodeUserDoesNotFit, []string{"colour: Is missing."}}, // an input holds one value
		"together with a taken name": {`{}`, []schemas.Problem{{Path: "username", Message: "again"}, {Path: "given_name", Message: "expected none."}}, "bob",
			schemas.CodeAttributeTaken, []string{"username: This username is taken.", "given_name: expected none."}},
		"together with an invalid name": {`{}`, []schemas.Problem{{Path: "given_name", Message: "expected none"}}, "a b",
			schemas.CodeInvalidIdentifier, []string{"username: A username may contain", "given_name: Expected none."}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.misfit = test.misfit
			exec := w.make(t, "user-create", test.with, named())
			d := left(t, run(t, exec, visit(inputs("username", test.typed, "given_name", "Grace", "age", "7", "colour", "blue"))), "taken")
			if d.Notice.Code != test.code || d.Subject == nil || *d.Subject != (engine.Subject{}) {
				t.Errorf("notice %v about %+v", d.Notice, d.Subject)
			}
			got := texts(d.Notice.Errors)
			for _, want := range test.reported {
				if !strings.Contains(got, want) {
					t.Errorf("reported %q, expected %q", got, want)
				}
			}
			if len(d.Notice.Errors) != len(test.reported) {
				t.Errorf("reported %q, expected %q", got, test.reported)
			}
		})
	}
}

// A user cannot correct an attribute that no prompt requests: the run ends with the
// reason.
func TestUserCreateEndsTheRunWhereNoPromptCanCorrectIt(t *testing.T) {
	for _, path := range []string{"department", "", "given", "given_names"} {
		w := newFixture(t)
		w.misfit = []schemas.Problem{{Path: path, Message: "is missing"}}
		d, err := w.make(t, "user-create", `{}`, named()).Execute(t.Context(), visit(inputs("username", "grace", "given_name", "Grace")))
		if err != nil || codeOf(d.Fail) != schemas.CodeUserDoesNotFit || !strings.Contains(d.Fail.Description.DefaultValue, "is not like this") {
			t.Errorf("%q: %+v, %v", path, d, err)
		}
	}
	w := newFixture(t)
	w.broken = errors.New("broken")
	if _, err := w.make(t, "user-create", `{}`, named()).Execute(t.Context(), visit(inputs("username", "grace"))); err == nil {
		t.Error("made a user of a type that cannot be read")
	}
}
