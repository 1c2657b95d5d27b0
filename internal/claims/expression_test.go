package claims

import (
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

// A claim is refused if it replaces a member of assertions, or may be set by users although it is authoritative.
func TestUnsafeClaimsAreRefused(t *testing.T) {
	for name, c := range map[string]schemas.Claim{
		"type":       {Name: "userType", Source: "constant", Value: "Fake", Targets: []string{Assertion}},
		"unit":       {Name: "OUID", Source: "constant", Value: "Fake", Targets: []string{Assertion}},
		"protocol":   {Name: "sub", Source: "constant", Value: "Fake"},
		"expression": {Name: "level", Source: "expression", Expression: "user.attributes.level", Authoritative: true},
	} {
		if len(Check(&schemas.OAuthProfile{Claims: []schemas.Claim{c}}, false)) == 0 {
			t.Errorf("%s: accepted", name)
		}
	}
	if got := AttributeClaims(&schemas.OAuthProfile{Claims: []schemas.Claim{{Name: "r", Source: "attribute", Attribute: "preferred_username"}}}); len(got[0]) != 2 {
		t.Errorf("preferred_username is read from %v", got[0])
	}
}

// A scope that is no permission releases only its own claims.
func TestScopesReleaseTheirOwnClaims(t *testing.T) {
	app := &schemas.Application{InboundAuthConfig: []schemas.InboundAuth{{Type: "oauth2", Config: schemas.OAuthProfile{
		ScopeClaims: map[string][]string{"hr": {"team"}, "hr:pay": {"salary"}},
	}}}}
	subject := &Subject{User: &schemas.User{ID: "u", Attributes: map[string]any{"team": "blue", "salary": 1}}, Application: app, Scope: []string{"openid", "hr"}}
	got := Of(app).Values(IDToken, subject)
	if got["team"] != "blue" || got["salary"] != nil {
		t.Errorf("%v", got)
	}
}
