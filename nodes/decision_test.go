package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/expr"
	"github.com/postern-id/postern/schemas"
)

// condition returns a decision with one case.
func condition(when string) string {
	return `{"cases": [{"when": ` + quoted(when) + `, "outcome": "yes"}]}`
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func TestDecision(t *testing.T) {
	ada, bob := known("ada"), known("bob")
	tests := []struct {
		when   string
		visit  *engine.Visit
		always bool
	}{
		{"true", visit(), true},
		{"false", visit(), false},
		{"user.hasPasskey", visit(bob), true},
		{"user.hasPasskey", visit(ada), false},
		{"user.hasPassword", visit(ada), true},
		{"user.hasPassword", visit(bob), false},
		{"user.isAuthenticated", visit(ada), false},
		{"user.isAuthenticated", visit(ada, authenticated("phr", "swk")), true},
		{"size(user.methods) == 0", visit(ada), true},
		{"'swk' in user.methods && !('pwd' in user.methods)", visit(ada, authenticated("phr", "pop", "swk")), true},
		{"user.isNew", visit(ada), false},
		{"user.isNew", visit(drafted(grace())), true},
		{"user.hasPasskey || user.hasPassword", visit(drafted(grace())), false},
		{"user.attributes.name == 'Grace Hopper'", visit(drafted(grace())), true},
		{"user.id == 'ada' && user.type == 'Person' && user.ouId == 'ou-1'", visit(ada), true},
		{"user.attributes.department == 'Engines'", visit(ada), true},
		{"has(user.attributes.department) && user.attributes.department == 'Engines'", visit(bob), false},
		{"user.attributes.email.endsWith('@example.org')", visit(ada), true},
		{"application.id == 'app-1' && application.name == 'Shop' && application.ouId == 'ou-1' && application.clientId == ''", visit(), true},
		{"inputs.username == 'ada'", visit(inputs("username", "ada")), true},
		{`inputs["username"].matches("^a[a-z]+$")`, visit(inputs("username", "ada")), true},
		{`inputs["username"].matches("^[a-z]{3}$")`, visit(inputs("username", "ada")), true},
		{`inputs["username"].matches("(a{100}){9}|b{20,40}")`, visit(inputs("username", "ada")), false},
		{`matches(inputs.username, '(a{2}){3,}')`, visit(inputs("username", "aaaaaa")), true},
		{`inputs["username"].matches(inputs["mail"])`, visit(inputs("username", "ada", "mail", "^[ad]{4}$")), false},
		{"has(inputs.mail)", visit(), false},
		{"has(inputs.mail) && inputs.mail == 'x'", visit(), false},
		{"'mail' in inputs ? inputs.mail == 'x' : true", visit(), true},
		{"has(inputs.mail) && inputs.mail == 'x'", visit(inputs("mail", "x")), true},
		{"request.language.startsWith('de') && request.origin == 'https://a.example'", visit(func(v *engine.Visit) {
			v.Request = engine.Request{Origin: "https://a.example", Language: "de-AT"}
		}), true},
		{"[1, 2, 3].exists(n, n == 2)", visit(), true},
		{"user.isAuthenticated || user.isNew", visit(), false},
		{"user.isAuthenticated && user.hasPasskey", visit(), false},
		{"user.attributes.department == 'Engines' && user.isAuthenticated", visit(), false},
		{"user.isAuthenticated && user.hasPasskey", visit(bob, authenticated("phr", "swk")), true},
		{"'system' in user.permissions", visit(ada), true},
		{"'system:users' in user.permissions", visit(ada), true}, // system covers it
		{"'shop' in user.permissions", visit(ada), false},
		{"'system' in user.permissions", visit(bob), false},
		{"user.permissions.exists(p, p == 'system') && user.permissions.size() == 1", visit(ada), true},
		{"'staff' in user.groups && 'clerk' in user.roles", visit(ada), true},
		{"'staff' in user.groups || 'clerk' in user.roles", visit(bob), false},
		{"user.hasTotp || user.hasRecoveryCodes || user.hasIdentity || user.knowsBrowser", visit(ada), false},
		{"user.hasTotp && user.hasRecoveryCodes && user.hasIdentity && user.knowsBrowser", visit(bob), true},
		{"user.hasRecoveryCodes", visit(bob, pending(schemas.UseRecoveryCode{UserID: "bob"}, schemas.UseRecoveryCode{UserID: "bob"})), false},
		{"user.hasRecoveryCodes", visit(ada, pending(schemas.SetRecoveryCodes{UserID: "ada", Hashes: [][]byte{{1}}})), true},
		{"user.hasTotp", visit(ada, pending(schemas.SetTOTP{TOTP: schemas.TOTP{UserID: "ada"}})), true},
		{"user.hasIdentity", visit(ada, pending(schemas.LinkIdentity{Identity: schemas.Identity{UserID: "ada"}})), true},
		{"user.hasIdentity", visit(ada, pending(schemas.LinkIdentity{Identity: schemas.Identity{UserID: "bob"}})), false},
		{"size(user.groups) + size(user.roles) + size(user.permissions) == 0", visit(drafted(grace())), true},
		{"'phr' in request.acrValues && 'profile' in request.scopes", visit(asks("phr")), true},
		{"'phr' in request.acrValues || 'profile' in request.scopes", visit(), false},
	}
	for _, test := range tests {
		t.Run(test.when, func(t *testing.T) {
			want := otherwise
			if test.always {
				want = "yes"
			}
			left(t, run(t, withMemberships(t).make(t, "decision", condition(test.when), named()), test.visit), want)
		})
	}
}

// The next step shows the message of the case that applies.
func TestDecisionMessages(t *testing.T) {
	const with = `{"cases": [{"when": "inputs.name == 'a'", "outcome": "yes", "message": "Not a.", "input": "name"}, {"when": "inputs.name == 'b'", "outcome": "no"}], "message": "Neither."}`
	for name, want := range map[string][]string{"a": {"Not a.", "name"}, "b": {"", ""}, "c": {"Neither.", ""}} {
		d := run(t, newFixture(t).make(t, "decision", with, map[string]schemas.InputType{"name": schemas.TextInput}), visit(inputs("name", name)))
		message, input := "", ""
		if d.Notice != nil {
			message = d.Notice.Message.DefaultValue
			if len(d.Notice.Errors) > 0 {
				input = d.Notice.Errors[0].Path
			}
		}
		if got := []string{message, input}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for with, want := range map[string]string{
		`{"cases": [{"when": "user.isNew", "outcome": "yes", "message": "x", "input": "nmae"}]}`: `did you mean "name"?`,
		`{"cases": [{"when": "user.isNew", "outcome": "yes"}], "input": "name"}`:                 "an input without a message",
	} {
		_, problems := newFixture(t).try("decision", with, map[string]schemas.InputType{"name": schemas.TextInput}, schemas.Next{To: "next"})
		if len(problems) != 1 || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: %v, want %q", with, problems, want)
		}
	}
}

// withMemberships returns a fixture in which ada is in a group and has a role, and bob has one
// credential of each kind and a known browser.
func withMemberships(t *testing.T) *fixture {
	w := newFixture(t)
	w.groups, w.roles = map[string][]string{"ada": {"staff"}}, map[string][]string{"ada": {"clerk"}}
	w.identities = map[string][]schemas.Identity{"bob": {{UserID: "bob"}}}
	w.factors = &factors{apps: map[string]*schemas.TOTP{"bob": {UserID: "bob"}}, codes: map[string]map[string]bool{"bob": {"a": true, "b": true}}}
	w.request = &schemas.AuthRequest{ID: "request", Scopes: []string{"openid", "profile"}}
	w.deps.RecognizesBrowser = knownFor(map[string]string{"bob": schemas.ACRMultiFactor})
	w.kinds = Kinds(w.deps)
	return w
}

// knownFor returns the function for a browser that is known for a class to each of some users.
func knownFor(class map[string]string) func(ctx context.Context, userID, strength string, now time.Time) bool {
	return func(_ context.Context, userID, strength string, _ time.Time) bool {
		return class[userID] != "" && schemas.Satisfies(class[userID], strength)
	}
}

// A browser is known for a strength. Without one, a user with a second factor or a passkey must have
// proved two factors or a passkey in it: an attacker with the password can make any browser known for
// the password.
func TestDecisionKnowsBrowserForAStrength(t *testing.T) {
	app := &factors{apps: map[string]*schemas.TOTP{"ada": {UserID: "ada"}}}
	codes := &factors{codes: map[string]map[string]bool{"ada": {"a": true}}}
	for _, test := range []struct {
		when, class string
		factors     *factors
		want        bool
	}{
		{`user.knowsBrowser("mfa")`, schemas.ACRPassword, app, false},
		{`user.knowsBrowser("mfa")`, schemas.ACRMultiFactor, app, true},
		{`user.knowsBrowser("urn:postern:acr:mfa")`, schemas.ACRMultiFactor, app, true},
		{`user.knowsBrowser("mfa")`, schemas.ACRPhishingResistant, app, false},
		{`user.knowsBrowser("phr")`, schemas.ACRMultiFactorPR, app, true},
		{`user.knowsBrowser("password")`, schemas.ACRPassword, app, true},
		{`user.knowsBrowser("password")`, schemas.ACRVouched, app, false},
		{`user.knowsBrowser("password")`, "", app, false},
		{`user.knowsBrowser("email")`, schemas.ACRMultiFactorPRProtected, app, false},
		{`user.knowsBrowser("password") && !user.knowsBrowser("mfa")`, schemas.ACRPassword, app, true},
		{`[user].exists(u, u.knowsBrowser("mfa"))`, schemas.ACRMultiFactor, app, true},
		{"user.knowsBrowser", schemas.ACRPassword, app, false},
		{"user.knowsBrowser", schemas.ACRPassword, codes, false},
		{"user.knowsBrowser", schemas.ACRPassword, &factors{}, true},
		{"user.knowsBrowser", schemas.ACRVouched, &factors{}, true},
		{"user.knowsBrowser", schemas.ACRMultiFactor, app, true},
		{"user.knowsBrowser", schemas.ACRPhishingResistant, app, true},
		{"user.knowsBrowser", "", &factors{}, false},
	} {
		w := newFixture(t)
		w.factors, w.deps.RecognizesBrowser = test.factors, knownFor(map[string]string{"ada": test.class})
		w.kinds = Kinds(w.deps)
		want := otherwise
		if test.want {
			want = "yes"
		}
		if d := run(t, w.make(t, "decision", condition(test.when), nil), visit(known("ada"))); d.Outcome != want {
			t.Errorf("%s after %q: %s, want %s", test.when, test.class, d.Outcome, want)
		}
	}
}

// What a browser must be known for is checked before the flow runs.
func TestKnownForIsChecked(t *testing.T) {
	for when, want := range map[string]string{
		"user.knowsBrowser":                "it does not state what the browser must be known for",
		`user.knowsBrowser("totp")`:        "a browser is not known for \"totp\"; write one of email, password, mfa, phr,",
		`user.knowsBrowser("otp")`:         "a browser is not known for \"otp\"",
		`user.knowsBrowser("")`:            "a browser is not known for",
		`user.knowsBrowser(user.id)`:       "known only at run time",
		`user.knowsBrowser()`:              "knowsBrowser cannot be called with",
		`user.knowsBrowser(3)`:             "knowsBrowser cannot be called with",
		`application.knowsBrowser("mfa")`:  "knowsBrowser cannot be called with",
		`user.knowsBrowser("mfa") == "no"`: "== needs two values of one type",
	} {
		_, problems := newFixture(t).try("decision", condition(when), nil, schemas.Next{To: "next"})
		if len(problems) != 1 || !strings.Contains(problems[0].Message, want) || problems[0].Warning != (problems[0].Rule == engine.RuleBrowser) {
			t.Errorf("%s: %+v, want %s", when, problems, want)
		}
	}
}

// pending adds changes that the step has decided.
func pending(changes ...schemas.Change) func(*engine.Visit) {
	return func(v *engine.Visit) { v.Pending = changes }
}

// asks binds the run to the authorization request that asks for a class.
func asks(class string) func(*engine.Visit) {
	return func(v *engine.Visit) {
		v.AuthRequestID, v.Login = "request", schemas.LoginRules{ACRValues: []string{class}}
	}
}

func TestDecisionTakesTheFirstCase(t *testing.T) {
	exec := newFixture(t).make(t, "decision", `{"cases": [
		{"when": "inputs.username == 'a'", "outcome": "first"},
		{"when": "inputs.username in ['a', 'b']", "outcome": "second"},
		{"when": "inputs.username == 'c'", "outcome": "first"}]}`, named())
	for name, want := range map[string]string{"a": "first", "b": "second", "c": "first", "d": otherwise} {
		left(t, run(t, exec, visit(inputs("username", name))), want)
	}
}

// TestDecisionSeesNoSecrets has a password among the values of the step.
func TestDecisionSeesNoSecrets(t *testing.T) {
	exec := newFixture(t).make(t, "decision", condition("size(inputs) == 1 && inputs.exists(k, k == 'username')"), named())
	left(t, run(t, exec, visit(inputs("username", "ada", "password", "secret"))), "yes")
}

func TestDecisionFetchesOnlyWhatItUses(t *testing.T) {
	w := newFixture(t)
	w.broken = errors.New("disk on fire")
	left(t, run(t, w.make(t, "decision", condition("request.origin == ''"), nil), visit(known("ada"))), "yes")
	for _, when := range []string{"user.hasPasskey", "'a' in user.groups", "user.knowsBrowser", "'a' in request.scopes"} {
		w.request = &schemas.AuthRequest{ID: "request"}
		if _, err := w.make(t, "decision", condition(when), nil).Execute(t.Context(), visit(known("ada"), asks("phr"))); !errors.Is(err, w.broken) {
			t.Errorf("%s: got %v", when, err)
		}
	}
	left(t, run(t, w.make(t, "decision", condition("'phr' in request.acrValues && !user.isNew"), nil), visit(known("ada"), asks("phr"))), "yes")
}

// Each member is read by its own query: a store in which the others fail answers.
func TestDecisionReadsOneMember(t *testing.T) {
	for member, load := range userLoads() {
		w := withMemberships(t)
		w.deps.RecognizesBrowser = knownFor(map[string]string{"ada": schemas.ACRPassword})
		text := "user." + strings.Replace(member, "()", `("mfa")`, 1)
		x := w.make(t, "decision", condition(text+" == "+text), nil).(*decision)
		for other := range userLoads() {
			if x.read(other) != (other == member) {
				t.Errorf("user.%s reads %s: %v", member, other, x.read(other))
			}
		}
		w.broken, w.factors.broken = errors.New("disk on fire"), errors.New("disk on fire")
		view := newUserView()
		view.ID = "ada"
		if err := load(t.Context(), w.deps, visit(known("ada")), view); err == nil && member != knowsBrowserFor {
			t.Errorf("user.%s: a broken store is no error", member)
		}
	}
}

func TestFailingDecision(t *testing.T) {
	tests := []struct{ name, when, want string }{
		{"an attribute that is not there", "user.attributes.salary == 1", "does not have; put has(…)"},
		{"an attribute of another type", "user.attributes.department < 3", "wrong type"},
		{"a division by zero", "1 / size(inputs) == 1", "could not be evaluated"},
		{"a text that is no number", "int(user.attributes.email) == 1", "could not be evaluated"},
		{"too much work", nested(), "cost limit"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			exec := newFixture(t).make(t, "decision", condition(test.when), nil)
			d, err := exec.Execute(t.Context(), visit(known("ada")))
			if err != nil {
				t.Fatal(err)
			}
			checkExpressionFailed(t, d, "case 1: ", test.want)
		})
	}
}

// checkExpressionFailed checks that the run ends, with the reason only for the log.
func checkExpressionFailed(t *testing.T, d *engine.Decision, reasons ...string) {
	t.Helper()
	if d == nil || !schemas.HasCode(d.Fail, schemas.CodeExpressionFailed) || d.Outcome != "" || d.Fail.Err == nil {
		t.Fatalf("got %+v", d)
	}
	for _, want := range reasons {
		if !strings.Contains(d.Fail.Err.Error(), want) || strings.Contains(d.Fail.Error(), want) {
			t.Errorf("got %v for the client and %v for the log, want %q only in the log", d.Fail, d.Fail.Err, want)
		}
	}
	if strings.Contains(d.Fail.Err.Error(), "ada") {
		t.Errorf("personal data in %v", d.Fail.Err)
	}
}

// nested returns an expression with a million iterations.
func nested() string {
	list := "[0,1,2,3,4,5,6,7,8,9]"
	e := "false"
	for _, v := range []string{"a", "b", "c", "d", "e", "f"} {
		e = list + ".exists(" + v + ", " + e + ")"
	}
	return e
}

func TestExpressionProblems(t *testing.T) {
	tests := []struct{ name, when, want string }{
		{"syntax", "user.id ==", "cases[0].when: at 1:"},
		{"unknown variable", "usr.id == 'x'", `at 1:1 of the expression: there is no variable "usr"; expected application, inputs, replies, request or user; did you mean "user"?`},
		{"unknown member", "user.hasPaskey", `did you mean "hasPasskey"?`},
		{"unknown list", "'a' in user.permission", `did you mean "permissions"?`},
		{"unknown member of the request", "'a' in request.acr_values", `request has no member "acr_values"; it has acrValues, language, origin, scopes; did you mean "acrValues"?`},
		{"a list for a condition", "user.groups", "a condition must be a boolean, but this is a list(string)"},
		{"unknown function", "now() > timestamp('2026-01-01T00:00:00Z')", `there is no function "now"`},
		{"position on another line", "true &&\n  usr.isNew", "at 2:3 of the expression"},
		{"not a condition", "user.id", "a condition must be a boolean, but this is a string"},
		{"maybe not a condition", "user.attributes.admin", "a condition must be a boolean, but this is a dyn"},
		{"types that do not compare", "user.hasPasskey == 'yes'", "== needs two values of one type, but gets (bool, string)"},
		{"an input that no prompt collects", "inputs.usernmae == 'x'", `at 1:7 of the expression: no prompt of this flow collects an input "usernmae"; it collects age`},
		{"not even to test for", "has(inputs.usernmae)", "no prompt of this flow collects"},
		{"a secret", "inputs.password == 'x'", `the input "password" is a secret (PASSWORD_INPUT)`},
		{"an input chosen as it runs", "inputs[request.language] == 'x'", "name the input"},
		{"a broken pattern", "inputs.username.matches('(')", "invalid matches argument"},
		{"a large pattern", "inputs.username.matches('(a{100}){9}|(b{100}){9}')", "expected at most 1000"},
		{"too deep", strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), "recursion limit"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, problems := newFixture(t).try("decision", condition(test.when), named(), schemas.Next{})
			if got := texts(problems); !strings.Contains(got, test.want) || !strings.HasPrefix(got, "cases[0].when: ") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// readTest is an expression with the facts that are certain.
type readTest struct {
	when    string
	certain []engine.Fact
	want    string // in the only need that they do not meet; "" for fine
}

func TestExpressionsReadOnlyWhatIsCertain(t *testing.T) {
	user, name := engine.User, engine.InputFact("username")
	tests := []readTest{
		{"user.hasPasskey", nil, "it reads user"},
		{"user.hasPasskey", []engine.Fact{user}, ""},
		{"has(user.attributes.x)", nil, "it reads user"},
		{"has(user.attributes.x)", []engine.Fact{user}, ""},
		{"user == user", nil, "it reads user"},
		{"user.isAuthenticated || user.isNew", nil, ""},
		{"has(user.isAuthenticated)", nil, "it reads user"},
		{"user.isAuthenticated && user.hasPasskey", nil, ""},
		{"user.id == 'x' && user.isNew", nil, ""},
		{"user.isAuthenticated || user.hasPasskey", nil, "it reads user"},
		{"!user.isAuthenticated && user.hasPasskey", nil, "it reads user"},
		{"inputs.username == 'x'", nil, `it reads the input "username"`},
		{"inputs.username == 'x'", []engine.Fact{name}, ""},
		{"inputs['username'] == 'x'", nil, "at 1:7"},
		{"has(inputs.username)", nil, ""},
		{"'username' in inputs", nil, ""},
		{"size(inputs) == 0", nil, ""},
		{"has(inputs.username) && inputs.username == 'x'", nil, ""},
		{"inputs.username == 'x' && has(inputs.username)", nil, ""},
		{"has(inputs.username) || inputs.username == 'x'", nil, "it reads the input"},
		{"!has(inputs.username) || inputs.username == 'x'", nil, ""},
		{"!has(inputs.username) && inputs.username == 'x'", nil, "it reads the input"},
		{"has(inputs.username) ? inputs.username == 'x' : false", nil, ""},
		{"has(inputs.username) ? true : inputs.username == 'x'", nil, "it reads the input"},
		{"!has(inputs.username) ? true : inputs.username == 'x'", nil, ""},
		{"(has(inputs.username) && true) ? inputs.username == 'x' : true", nil, ""},
		{"(has(inputs.username) || true) ? inputs.username == 'x' : true", nil, "it reads the input"},
		{"!(!has(inputs.username) || false) && inputs.username == 'x'", nil, ""},
		{"has(inputs.mail) && inputs.username == 'x'", nil, `"username"`},
		{"has(inputs.mail) && has(inputs.username) && inputs.username == inputs.mail", nil, ""},
		{"[inputs.username].exists(n, n == 'x')", nil, "it reads the input"},
		{"['x'].exists(n, n == inputs.username)", nil, "it reads the input"},
		{"{'k': inputs.username}.size() == 1", nil, "it reads the input"},
		{"inputs.username.startsWith('x')", nil, "it reads the input"},
	}
	attribute := func(names ...string) []engine.Fact { return []engine.Fact{user, engine.AttributeFact(names...)} }
	for _, when := range []string{"user.attributes.a == 'x'", "user.attributes['a'] == 'x'", "user.attributes.a.startsWith('x')",
		"user.attributes.b == 1 || user.attributes.a == 'x'", "has(user.attributes.b) && user.attributes.a == 'x'",
		"has(user.attributes.a) || user.attributes.a == 'x'", "!has(user.attributes.a) && user.attributes.a == 'x'",
		"has(user.attributes.a) ? true : user.attributes.a == 'x'", "['x'].exists(n, n == user.attributes.a)",
		"size(user.attributes.a) > 0", "has(user.attributes.a.c)", "user.attributes.a in ['x']",
		"user.attributes.a.exists(m, m == 'x')", "[user.attributes.a].size() == 1"} {
		tests = append(tests, readTest{when, attribute("b"), "it reads user.attributes.a;"})
		tests = append(tests, readTest{when, append(attribute("a"), attribute("b")...), ""})
	}
	for _, when := range []string{"has(user.attributes.a) && user.attributes.a == 'x'", "user.attributes.a == 'x' && has(user.attributes.a)",
		"'a' in user.attributes && user.attributes.a == 'x'", "!has(user.attributes.a) || user.attributes.a == 'x'",
		"has(user.attributes.a) ? user.attributes.a == 'x' : false", "!('a' in user.attributes) ? true : user.attributes['a'] == 'x'",
		"has(user.attributes.a) == true && user.attributes.a == 'x'", "user.attributes.size() == 0", "has(user.attributes.a)",
		"user.attributes.exists(name, name == 'a')", "has(user.attributes.a) && has(user.attributes.a.c) && user.attributes.a.c == 1",
		"has(user.attributes.a) && user.attributes.a.exists(m, has(m.c) && m.c == 1)", "{'a': 1}.a == 1", "['a'][0] == 'a'",
		"user.attributes == user.attributes", "has(user.attributes.a) && has(user.attributes.b) && user.attributes.a == user.attributes.b"} {
		tests = append(tests, readTest{when, []engine.Fact{user}, ""})
	}
	tests = append(tests,
		readTest{"has(user.attributes.a) && user.attributes.a.c == 1", attribute("a"), "it reads user.attributes.a.c;"},
		readTest{"user.attributes.a.c == 1", attribute("a", "c"), "it reads user.attributes.a;"},
		readTest{"user.attributes['a-b'] == 1", attribute("a"), `it reads user.attributes["a-b"];`},
		readTest{"has(user.attributes.a) && user.attributes.a.exists(m, m.c == 1)", attribute("a"), "it reads m.c;"},
		readTest{"has(user.attributes.a) && user.attributes.a[0] == 1", attribute("a"), "known only at run time"},
		readTest{"user.attributes[request.language] == 1", attribute("a"), "known only at run time"},
		readTest{"[user.attributes][0].a == 1", attribute("a"), "known only at run time"},
		readTest{"(user.isNew ? user.attributes : user.attributes).a == 1", attribute("a"), "known only at run time"},
		readTest{"user.groups[0] == 'a'", attribute("a"), "known only at run time"},
		readTest{"request.scopes[0] == 'a'", attribute("a"), "known only at run time"},
		readTest{"'a' in user.groups && 'b' in request.scopes", attribute("a"), ""},
		readTest{"'a' in user.permissions", nil, "it reads user;"},
		readTest{"user.isAuthenticated && 'a' in user.permissions", nil, ""},
		readTest{"'a' in request.acrValues", nil, ""},
		readTest{"[user].exists(u, u.hasPasskey)", attribute("a"), ""},
		readTest{"[user].exists(u, u.attributes.a == 1)", attribute("a"), "it reads u.attributes.a;"},
		readTest{"[user.attributes].exists(m, m.a == 1)", attribute("a"), "it reads m.a;"},
		readTest{"user.attributes.a == 1", nil, "it reads user;"}, // only that finding
		readTest{"user.isAuthenticated && user.attributes.a == 1", nil, "it reads user.attributes.a;"},
	)
	for _, test := range tests {
		t.Run(test.when, func(t *testing.T) {
			exec := newFixture(t).make(t, "decision", condition(test.when), named())
			got := ""
			for _, need := range unmet(exec, test.certain...) {
				got += need.Why + ";"
				if need.Path != "with.cases[0].when" || need.Fix == "" || (need.Rule == "") != (strings.HasSuffix(need.Why, "reads user") || strings.Contains(need.Why, "reads the input")) {
					t.Errorf("%+v", need)
				}
			}
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) || strings.Count(got, ";") > 1 {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// unmet returns the requirements of the node that the certain facts do not meet.
func unmet(exec engine.Executor, certain ...engine.Fact) []engine.Need {
	held := engine.NewFacts(certain...)
	return slices.DeleteFunc(exec.(engine.Needer).Needs(), func(n engine.Need) bool {
		return held.HasAny(n.AnyOf) || n.Given != "" && !held.Has(n.Given)
	})
}

// A later case is evaluated only if the earlier ones are false.
func TestCasesRelyOnEarlierCases(t *testing.T) {
	exec := newFixture(t).make(t, "decision", `{"cases": [
		{"when": "!has(inputs.username)", "outcome": "none"},
		{"when": "inputs.username == 'a'", "outcome": "some"}]}`, named())
	if needs := unmet(exec); len(needs) > 0 {
		t.Error(needs)
	}
	left(t, run(t, exec, visit()), "none")
}

// The outcomes of a decision establish what its expressions prove, and no more.
func TestFactsOfExpressions(t *testing.T) {
	tests := []struct{ when, always, otherwise string }{
		{"user.isAuthenticated", "authenticated own user", ""},
		{"!user.isAuthenticated", "", "authenticated own user"},
		{"!!user.isAuthenticated", "authenticated own user", ""},
		{"user.isAuthenticated == true", "authenticated own user", ""},
		{"false != user.isAuthenticated", "authenticated own user", ""},
		{"user.isAuthenticated == false", "", "authenticated own user"},
		{"user.isAuthenticated != true", "", "authenticated own user"},
		{"user.isAuthenticated == user.isNew", "", "own user"},
		{"user.isNew", "new own user", ""},
		{"user.isAuthenticated && user.isNew", "authenticated new own user", ""},
		{"user.isAuthenticated && request.language == 'de'", "authenticated own user", ""},
		{"request.language == 'de' && user.isAuthenticated", "authenticated own user", ""},
		{"user.isAuthenticated || request.language == 'de'", "", ""},
		{"user.isAuthenticated || user.isNew", "own user", ""},
		{"!user.isAuthenticated || request.language == 'de'", "", "authenticated own user"},
		{"!(user.isAuthenticated && request.language == 'de')", "", "authenticated own user"},
		{"!(!user.isAuthenticated || !has(inputs.username))", "authenticated input.username own user", ""},
		{"user.isAuthenticated ? request.language == 'de' : false", "authenticated own user", ""},
		{"request.language == 'de' ? user.isAuthenticated : false", "authenticated own user", ""},
		{"request.language == 'de' ? user.isAuthenticated : true", "", ""},
		{"user.isAuthenticated ? false : true", "", "authenticated own user"},
		{"request.language == 'de' ? user.isAuthenticated : user.isAuthenticated", "authenticated own user", ""},
		{"user.isAuthenticated || false", "authenticated own user", ""},
		{"true", "", ""},
		{"has(user.isAuthenticated)", "", ""},
		{"[true].all(x, user.isAuthenticated)", "authenticated own user", ""},
		{"[1].exists(user, user == 1)", "", ""},
		{"[user.isAuthenticated].exists(x, x)", "authenticated own user", ""},
		{"user.hasPasskey", "", ""},
		{"has(inputs.username)", "input.username", ""},
		{"!('username' in inputs)", "", "input.username"},
		{"'username' in {'username': 1}", "", ""},
		{"has(user.attributes.a)", "attribute.a", ""},
		{"'a' in user.attributes", "attribute.a", ""},
		{"!has(user.attributes['a'].c)", "", "attribute.a attribute.a.c"},
		{"has(user.attributes.a) && user.attributes.a == 'x'", "attribute.a", ""},
		{"has(user.attributes.a) || user.isNew", "", ""},
		{"[user.attributes].exists(m, has(m.a))", "", ""},
		{"'a' in [user.attributes][0]", "", ""},
	}
	for _, test := range tests {
		exec := newFixture(t).make(t, "decision", condition(test.when), named())
		outcomes := exec.(engine.OutcomeConfigurer).Outcomes()
		for i, want := range []string{test.always, test.otherwise} {
			if got := strings.Trim(fmt.Sprint(outcomes[i].Establishes), "[]"); got != want {
				t.Errorf("%s: %s establishes %q, want %q", test.when, outcomes[i].Name(), got, want)
			}
		}
	}
}

func TestFactsOfSeveralCases(t *testing.T) {
	const cases = `{"cases": [
		{"when": "!user.isAuthenticated", "outcome": "a"},
		{"when": "request.language == 'de'", "outcome": "b"},
		{"when": "user.isNew", "outcome": "c"},
		{"when": "request.origin == ''", "outcome": "c"},
		{"when": "request.origin == 'https://a.example'", "outcome": "a"}]}`
	want := map[string]string{"a": "[]", "b": "[authenticated own user]", "c": "[authenticated own user]", otherwise: "[authenticated own user]"}
	for _, o := range newFixture(t).make(t, "decision", cases, named()).(engine.OutcomeConfigurer).Outcomes() {
		if got := fmt.Sprint(o.Establishes); got != want[o.Name()] {
			t.Errorf("%s establishes %s, want %s", o.Name(), got, want[o.Name()])
		}
	}
}

// TestCertainAttributesAreReadable evaluates expressions that the check accepts without certain
// facts: a missing input must not make them fail.
func TestCertainAttributesAreReadable(t *testing.T) {
	for _, when := range []string{
		"has(inputs.username) && inputs.username == 'x'",
		"inputs.username == 'x' && has(inputs.username)",
		"!has(inputs.username) || inputs.username == 'x'",
		"inputs.username == 'x' || !has(inputs.username)",
		"!(!has(inputs.username) || false) && inputs.username == 'x'",
		"has(inputs.mail) && has(inputs.username) && inputs.username == inputs.mail",
		"has(inputs.username) ? inputs.username == 'x' : false",
	} {
		exec := newFixture(t).make(t, "decision", condition(when), named())
		if needs := unmet(exec); len(needs) > 0 {
			t.Errorf("%s: %v", when, needs)
		}
		run(t, exec, visit())
	}
}

// situations returns the values of expressions in runs that differ in provable facts, each
// with the facts that hold.
func situations() []situation {
	var list []situation
	for i := range 32 {
		attributes := map[string]any{}
		user := *newUserView()
		user.Attributes, user.IsAuthenticated, user.IsNew = expr.ViewAttributes(attributes), i&1 != 0, i&2 != 0
		holds, collected := engine.NewFacts(), map[string]string{}
		for bit, input := range map[int]string{4: "a", 8: "username"} {
			if i&bit != 0 {
				collected[input] = "x"
				holds = holds.Union(engine.NewFacts(engine.InputFact(input)))
			}
		}
		if i&16 != 0 {
			attributes["a"] = "x"
			holds = holds.Union(engine.NewFacts(engine.AttributeFact("a")))
		}
		if user.IsAuthenticated {
			holds = holds.Union(engine.NewFacts(engine.Authenticated))
		}
		if user.IsNew {
			holds = holds.Union(engine.NewFacts(engine.New))
		}
		list = append(list, situation{holds, map[string]any{
			"inputs": collected, "request": requestView{}, "application": applicationView{}, "user": user,
			"replies.r.yes": i&1 != 0, "replies.r.number": float64(i) / 2, "replies.r.whole": int64(i), "replies.r.text": "x",
		}})
	}
	return list
}

type situation struct {
	holds  engine.Facts
	values map[string]any
}

// FuzzExpression checks that no text makes the compiler panic, that an expression accepted
// without certain facts never fails for a missing user or input, and that the facts that a
// value proves hold whenever the expression has that value.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"true", "user.hasPasskey", "has(inputs.a) && inputs.a == 'x'", "inputs.exists(k, k == 'a')",
		"'a' in inputs ? inputs['a'].matches('^x*$') : request.origin != ''", "((((", "user == user",
		"user.isAuthenticated", "!(user.isNew || !user.isAuthenticated)", "user.isNew ? user.isAuthenticated : has(inputs.a)",
		"replies.r.yes && user.isNew", "replies.r.number > 3 ? replies.r.whole == 4 : replies.r.text == 'x'", "replies.r.yes == true || user.isAuthenticated",
		"has(user.attributes.a) && user.attributes.a == 'x'", "user.isNew && !has(user.attributes.a) ? true : user.attributes.a.size() == 1",
		"user.attributes.exists(k, k == 'a' && user.attributes[k] == 'x')", "[user.attributes].all(m, has(m.a) || m == user.attributes)",
		"'system:users' in user.permissions && user.groups.exists(g, g == 'x')", "user.isNew && user.roles[0] == 'x' || request.scopes.size() > 0",
		"has(inputs.a) ? false : user.isNew == (true != false)", "user.isNew && 1/0 == 1 || user.isAuthenticated",
	} {
		f.Add(seed)
	}
	config := &engine.Config{Collected: func() engine.Collected {
		return engine.Collected{Replies: map[string]map[string]engine.ReplyType{"r": {
			"yes": engine.BooleanReply, "number": engine.NumberReply, "whole": engine.IntegerReply, "text": engine.StringReply,
		}}}
	}}
	env := new(environment).with(config)
	f.Fuzz(func(t *testing.T, text string) {
		e, faults := compileExpression(env, config, text, nil)
		if len(faults) == 0 && e.program == nil {
			t.Fatal("nothing is wrong, and there is no program")
		}
		for _, fault := range faults {
			if fault.problem("when", text).Message == "" {
				t.Error("a fault that says nothing")
			}
		}
		if len(faults) > 0 {
			return
		}
		for _, m := range situations() {
			truth, err := e.eval(m.values)
			if err != nil {
				checkReadable(t, text, e, err)
				continue
			}
			p := map[bool]provenCases{true: e.isTrue, false: e.isFalse}[truth]
			if p.never {
				t.Errorf("%q is %v, which it was proven never to be", text, truth)
			}
			for _, f := range p.facts {
				if !m.holds.Has(f) {
					t.Errorf("%q is %v, and does not prove %s", text, truth, f)
				}
			}
		}
	})
}

// checkReadable checks that an expression without requirements did not fail for a missing
// user or input.
func checkReadable(t *testing.T, text string, e *expression, err error) {
	if len(e.needs()) > 0 {
		return
	}
	unknownUser := strings.Contains(err.Error(), "no such attribute")
	// A map literal can lack a key itself.
	missing := strings.HasPrefix(err.Error(), "no such key") && !strings.Contains(text, "{") && (len(e.inputs) > 0 || e.ofUser())
	if unknownUser || missing {
		t.Errorf("%q passed the check and failed: %v", text, err)
	}
}
