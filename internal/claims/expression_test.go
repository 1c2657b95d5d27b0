package claims

import (
	"reflect"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// An expression is refused, or has no value, if its value could be much larger than its text.
func TestExpressionsStaySmall(t *testing.T) {
	subject := &Subject{User: &schemas.User{ID: "u", Attributes: map[string]any{"team": "blue", "tags": []any{"x", "y"}}}, Facts: &schemas.ClaimFacts{}}
	doubled := func(step string, times int) string { return "[[1]]" + strings.Repeat(step, times) }
	for name, tt := range map[string]struct {
		expression string
		refused    bool
		hasValue   bool
	}{
		"a list":               {"['a', user.attributes.team]", false, true},
		"an object":            {"{'team': user.attributes.team}", false, true},
		"joined lists":         {doubled(".map(a, a + a)", 3), true, false},
		"many macros":          {doubled(".map(a, [a, a])", 5), true, false},
		"wide macros":          {doubled(".map(a, ["+strings.TrimSuffix(strings.Repeat("a,", 40), ",")+"])", 3), false, false},
		"compared lists":       {"[1].map(a, [a, a]) == [1].map(a, [a, a])", true, false},
		"a list in a list":     {"[[1]].map(a, [a]).exists(b, [1] in b)", true, false},
		"a mixed list":         {"[1, 'a']", false, true},
		"joined mixed lists":   {"[[1], 'a'].map(a, a + a)", true, false},
		"a mixed list in one":  {"[[1], 'a'].exists(a, a == a)", true, false},
		"a variable user":      {"[[1], 'a'].map(user, user + user)", true, false},
		"an item of a list":    {"user.attributes.tags.exists(a, a == 'x')", false, true},
		"joined attributes":    {"user.attributes.team + user.attributes.team", false, true},
		"an infinite number":   {"1.0 / 0.0", false, false},
		"no number":            {"0.0 / 0.0", false, false},
		"a group":              {"'staff' in user.groups", false, true},
		"the number of groups": {"size(user.groups)", false, true},
	} {
		_, err := compileExpression(tt.expression)
		if (err != nil) != tt.refused {
			t.Errorf("%s: %v", name, err)
		}
		if _, has := evaluateExpression(&schemas.Claim{Expression: tt.expression}, subject); has != tt.hasValue {
			t.Errorf("%s: has a value: %t", name, has)
		}
	}
}

// A claim is refused if it replaces a member of assertions or of the protocol, or has a pattern that takes long.
func TestUnsafeClaimsAreRefused(t *testing.T) {
	for name, c := range map[string]schemas.Claim{
		"type":     {Name: "userType", Source: "constant", Value: "Fake", Targets: []string{Assertion}},
		"unit":     {Name: "OUID", Source: "constant", Value: "Fake", Targets: []string{Assertion}},
		"protocol": {Name: "sub", Source: "constant", Value: "Fake"},
		"long":     {Name: "g", Source: "groups", Filter: "(?i)[" + strings.Repeat(`\x{0}-\x{ffff}`, 20) + "]"},
		"large":    {Name: "g", Source: "groups", Filter: "(a{30}){30}b{500}"},
		"classes":  {Name: "g", Source: "groups", Filter: strings.Repeat(`\pL`, 21)},
	} {
		if len(Check(&schemas.OAuthProfile{Claims: []schemas.Claim{c}}, false)) == 0 {
			t.Errorf("%s: accepted", name)
		}
	}
}

// What users may be able to set is found in each source, and in each form of an expression.
func TestReadings(t *testing.T) {
	for _, s := range Sources() {
		if s.reads == nil {
			t.Errorf("the source %s does not state what it reads", s.Name)
		}
	}
	of := func(attributes ...string) reading { return reading{attributes: attributes} }
	all := reading{everything: true}
	for expression, want := range map[string]reading{
		`user.attributes.team`: of("team"), `user.attributes["team"] + user.attributes.unit`: of("team", "unit"),
		`has(user.attributes.team)`: of("team"), `"team" in user.attributes`: of("team"),
		`"a" in user.groups && user.id != ""`: {}, `user.permissions.exists(p, p == "x")`: {},
		`user.type`: {userType: true}, `user.unit`: {unit: true}, `user.ouId == "x"`: {unit: true},
		`user.attributes[application.name]`: all, `user.attributes.exists(a, a == "team")`: all, `application.name in user.attributes`: all,
		`[user].map(u, u.attributes.team)`: {everything: true, userType: true, unit: true},
		`"admin"`:                          {constant: true}, `application.name`: {constant: true}, `["team"].map(user, user)`: {constant: true},
	} {
		if got := readsExpression(&schemas.Claim{Expression: expression}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads %+v, expected %+v", expression, got, want)
		}
	}
	for attribute, want := range map[string]reading{
		"team": of("team"), "name": of("name", "given_name", "family_name"), "preferred_username": of("preferred_username", "username"),
		"email_verified": {}, "updated_at": {},
	} {
		if got := readsAttribute(&schemas.Claim{Name: "x", Attribute: attribute}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads %+v, expected %+v", attribute, got, want)
		}
	}
}

// A scope that is no permission releases only its own claims.
func TestScopesReleaseTheirOwnClaims(t *testing.T) {
	app := &schemas.Application{InboundAuthConfig: []schemas.InboundAuth{{Type: "oauth2", Config: schemas.OAuthProfile{
		ScopeClaims: map[string][]string{"hr": {"team"}, "hr:pay": {"salary"}},
	}}}}
	subject := &Subject{User: &schemas.User{ID: "u", Attributes: map[string]any{"team": "blue", "salary": 1}}, Application: app, Scope: []string{"openid", "hr"}}
	got := Of(app, Context{Identity: append(schemas.IdentityScopes(), app.OAuth().OwnScopes()...)}).Values(IDToken, subject)
	if got["team"] != "blue" || got["salary"] != nil {
		t.Errorf("%v", got)
	}
}
