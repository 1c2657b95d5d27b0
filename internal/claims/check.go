package claims

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/postern-id/postern/internal/expr"
	"github.com/postern-id/postern/schemas"
)

// The limits of claims.
const (
	maxLevels    = 5
	maxNameBytes = 200
)

// Check returns the problems of the members about claims of an application. Their paths begin at its OAuth
// configuration.
func Check(o *schemas.OAuthProfile, asksConsent bool) (found []schemas.Problem) {
	note := func(path, message string, args ...any) {
		found = append(found, schemas.Problem{Path: path, Message: fmt.Sprintf(message, args...)})
	}
	checkList(o.Claims, asksConsent, note)
	if n := countRunReads(o.Claims); n > maxRunValues {
		note("claims", "the claims read %d values of the run, expected at most %d", n, maxRunValues)
	}
	for scope, names := range o.ScopeClaims {
		checkNames(schemas.MemberPath("scopeClaims", scope), names, note)
	}
	checkNames("token.idToken.userAttributes", o.Token.IDToken.UserAttributes, note)
	checkNames("token.accessToken.userAttributes", o.Token.AccessToken.UserAttributes, note)
	checkNames("userInfo.userAttributes", o.UserInfo.UserAttributes, note)
	slices.SortFunc(found, func(a, b schemas.Problem) int { return strings.Compare(a.Path, b.Path) })
	return found
}

// checkList checks the claims of an application or a resource server.
func checkList(list []schemas.Claim, asksConsent bool, note func(path, message string, args ...any)) {
	for i := range list {
		at := fmt.Sprintf("claims[%d]", i)
		checkClaim(&list[i], asksConsent, func(member, message string, args ...any) {
			note(schemas.JoinPath(at, member), message, args...)
		})
		for j := range i {
			if Overlap(list[i].Levels(), list[j].Levels()) && shareTarget(&list[i], &list[j]) {
				note(at, "claims[%d] has the same name, or one is inside of the other; rename one, or give them different targets", j)
			}
		}
	}
}

// checkNames checks the names of a short form.
func checkNames(path string, names []string, note func(path, message string, args ...any)) {
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case schemas.IsProtocolClaim(name):
			note(at, "%.64q belongs to the protocol, and only the server sets it; remove it", name)
		case schemas.IsAuthorizationClaim(name) && Standard(name).Source == "attribute":
			note(at, "%.64q is no attribute for applications, because they decide by it what a user may do; declare it in claims, with its source", name)
		case strings.ContainsFunc(name, isUnfit):
			note(at, "expected a name without spaces and control characters, got %.64q", name)
		}
	}
}

func isUnfit(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) }

// checkClaim checks one claim.
func checkClaim(c *schemas.Claim, asksConsent bool, note func(member, message string, args ...any)) {
	if (c.Name == "") == (len(c.Path) == 0) {
		note("name", "expected name, or path with the names of all levels, and not both")
		return
	}
	checkLevels(c, note)
	if asksConsent && len(c.Scopes) == 0 {
		note("scopes", "expected the scopes that release the claim: users of this application must consent to them")
	}
	for member, pattern := range map[string]string{"filter": c.Filter, "exclude": c.Exclude, "remove": c.Remove} {
		if err := expr.CheckPattern(pattern); err != nil {
			note(member, "expected a regular expression: %v", err)
		}
	}
	if c.Expression != "" {
		if _, err := compileExpression(c.Expression); err != nil {
			note("expression", "expected an expression in CEL: %v", err)
		}
	}
	checkVariable(c, note)
	source := FindSource(c.Source)
	if source == nil {
		return // the schema lists the sources
	}
	present := optionsOf(c)
	for _, option := range source.Required {
		if !slices.Contains(present, option) {
			note(option, "the source %s requires it", c.Source)
		}
	}
	for _, option := range present {
		if !slices.Contains(source.Options, option) {
			note(option, "the source %s does not have it; remove it, or use one of the sources %s", c.Source, strings.Join(sourcesWith(option), ", "))
		}
	}
}

// checkVariable checks the value of the run that a claim reads. A user types inputs; the reply of a service is that
// of the service.
func checkVariable(c *schemas.Claim, note func(member, message string, args ...any)) {
	if c.Variable == "" {
		return
	}
	input, _, _, ok := schemas.ParseVariable(c.Variable)
	switch {
	case !ok:
		note("variable", "expected inputs.NAME or replies.NAME.VALUE, got %.64q", c.Variable)
	case input != "" && c.Authoritative:
		note("authoritative", "users type the inputs of flows; use the reply of a service, or a source such as groups, roles or an attribute")
	}
}

func countRunReads(list []schemas.Claim) int {
	var names []string
	for _, of := range RunReads(list) {
		names = append(names, of...)
	}
	slices.Sort(names)
	return len(slices.Compact(names))
}

// checkLevels checks the names of a claim.
func checkLevels(c *schemas.Claim, note func(member, message string, args ...any)) {
	member, levels := "name", c.Levels()
	if len(c.Path) > 0 {
		member = "path"
	}
	if len(levels) > maxLevels {
		note(member, "expected at most %d levels, got %d", maxLevels, len(levels))
	}
	for _, level := range levels {
		if level == "" || len(level) > maxNameBytes || strings.ContainsFunc(level, isUnfit) {
			note(member, "expected names of 1 to %d bytes without spaces between the dots, got %.64q; use path for a name with a dot", maxNameBytes, level)
			return
		}
	}
	switch first := strings.ToLower(levels[0]); {
	case schemas.IsProtocolClaim(first):
		note(member, "%.64q belongs to the protocol, and only the server sets it; choose another name", levels[0])
	case len(levels) == 1 && (first == "active" || first == "token_type" || first == "username") && slices.Contains(c.Targets, Introspection):
		note(member, "%.64q is a member of every reply of introspection; choose another name", levels[0])
	case schemas.IsAssertedClaim(first) && slices.Contains(c.Targets, Assertion):
		note(member, "%.64q is a member of every assertion; choose another name", levels[0])
	}
}

// optionsOf returns the members of a claim that configure its source.
func optionsOf(c *schemas.Claim) (present []string) {
	raw, err := json.Marshal(c)
	var members map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &members) != nil {
		return nil
	}
	for _, option := range Options() {
		if members[option.Name] != nil {
			present = append(present, option.Name)
		}
	}
	return present
}

// sourcesWith returns the names of the sources that have an option.
func sourcesWith(option string) (names []string) {
	for _, s := range Sources() {
		if slices.Contains(s.Options, option) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Overlap reports whether two claims are the same member, or one is inside of the other.
func Overlap(a, b []string) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

func shareTarget(a, b *schemas.Claim) bool {
	return slices.ContainsFunc(targetsOf(a), func(t string) bool { return slices.Contains(targetsOf(b), t) })
}

func targetsOf(c *schemas.Claim) []string {
	if c.Targets == nil {
		return defaultTargets()
	}
	return c.Targets
}
