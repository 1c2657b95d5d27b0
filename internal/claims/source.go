package claims

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/postern-id/postern/schemas"
)

// Subject is the user whose claims are computed, and what the computation reads.
type Subject struct {
	User *schemas.User
	// Facts are those of the user; nil if no claim needs them: see Set.NeedsFacts.
	Facts *schemas.ClaimFacts
	// Run are the values of the run of the sign-in that claims read: see Set.NeedsRun.
	Run schemas.RunValues
	// Scope are the granted scopes.
	Scope []string
	// Application is that of the claims, for expressions.
	Application *schemas.Application
	// Consent is that of the user; nil if the application asks for none.
	Consent *schemas.Consent
	// Requested are the claims that the client requests by name, and MayRequest reports whether it may request a
	// scope; nil if it requests none.
	Requested  *schemas.ClaimsRequest
	MayRequest func(scope string) bool
	// Unverified releases mail addresses that are not verified: see releasesUnverified.
	Unverified bool
}

// releasesUnverified reports whether a claim may have an address that is not verified: none that is authoritative.
func (s *Subject) releasesUnverified(c *schemas.Claim) bool {
	return s.Unverified && !c.Authoritative && s.Application.TakesUnverified()
}

// Source is where the values of claims come from.
type Source struct {
	Name, Doc string
	// Options are the members of a claim that configure the source. Those of Required must be present.
	Options, Required []string
	// reads returns what the value depends on that users may be able to set: see Settings. Without it, that is everything.
	reads func(*schemas.Claim) reading
	// needsFacts states that Subject.Facts is read.
	needsFacts func(*schemas.Claim) bool
	// readsRun states that Subject.Run is read.
	readsRun bool
	// value returns the value of a claim, and whether the user has one.
	value func(*schemas.Claim, *Subject) (any, bool)
}

// Sources are all sources.
func Sources() []Source { return slices.Clone(sources()) }

var sources = sync.OnceValue(func() []Source {
	return []Source{
		{Name: "attribute", Doc: "an attribute of the user, or a standard claim such as name; default: the one with the name of the claim",
			Options: []string{"attribute"}, reads: readsAttribute,
			value: func(c *schemas.Claim, s *Subject) (any, bool) {
				return s.User.AttributeClaim(attributeOf(c), s.releasesUnverified(c))
			}},
		{Name: "groups", Doc: "the names of the user's groups, also of groups that contain them", reads: readsNothing,
			Options: append([]string{"ancestor", "direct"}, listOptions()...), needsFacts: always, value: groups},
		{Name: "roles", Doc: "the names of the user's roles, also of those of groups; with `resourceServer` the ones with a permission of it", reads: readsNothing,
			Options: append([]string{"resourceServer"}, listOptions()...), needsFacts: always, value: roles},
		{Name: "permissions", Doc: "the user's permissions; with `resourceServer` those of it", reads: readsNothing,
			Options: append([]string{"resourceServer"}, listOptions()...), needsFacts: always, value: permissions},
		{Name: "organizationUnit", Doc: "the user's organization unit, in the `format` `id` (default), `handle`, `name` or `path` (the handles from the root, as `acme/sales`)", reads: readsUnit,
			Options: []string{"format"}, needsFacts: func(c *schemas.Claim) bool { return c.Format != "" && c.Format != "id" }, value: unit},
		{Name: "userType", Doc: "the name of the user's type", reads: readsType,
			value: func(_ *schemas.Claim, s *Subject) (any, bool) { return s.User.Type, true }},
		{Name: "constant", Doc: "the `value`", reads: readsConstant, Options: []string{"value"}, Required: []string{"value"},
			value: func(c *schemas.Claim, _ *Subject) (any, bool) { return c.Value, true }},
		{Name: "run", Doc: "a value of the run of the sign-in, fixed then: the `variable` `inputs.NAME` is an input of the flow, and `replies.NAME.VALUE` a value in the reply of a service",
			Options: []string{"variable"}, Required: []string{"variable"}, reads: readsVariable, readsRun: true, value: runValue},
		{Name: "expression", Doc: "the value of a CEL `expression` over `user` (`id`, `type`, `ouId`, `attributes`, `groups`, `roles`, `permissions`, `unit`), `application` (`id`, `name`, `ouId`, `clientId`) and `run` (`inputs`, `replies`); there is no value if it fails",
			Options: []string{"expression"}, Required: []string{"expression"}, reads: readsExpression, needsFacts: readsFacts, readsRun: true, value: evaluateExpression},
	}
})

func always(*schemas.Claim) bool { return true }

// listOptions are the members that choose and change the items of a list of names.
func listOptions() []string {
	return []string{"filter", "exclude", "prefix", "removePrefix", "remove", "addPrefix"}
}

// FindSource returns the source with the name, nil if there is none.
func FindSource(name string) *Source {
	all := sources()
	i := slices.IndexFunc(all, func(s Source) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// Target is a document that contains claims.
type Target struct{ Name, Doc string }

// The targets.
const (
	IDToken       = "idToken"
	UserInfo      = "userinfo"
	AccessToken   = "accessToken"
	Introspection = "introspection"
	Assertion     = "assertion"
)

// Targets are all targets.
func Targets() []Target {
	return []Target{
		{IDToken, "the ID token"},
		{UserInfo, "the reply of `/oauth2/userinfo`"},
		{AccessToken, "access tokens"},
		{Introspection, "the reply of `/oauth2/introspect` about an access token"},
		{Assertion, "the assertion at the end of a run; it needs no scope"},
	}
}

// Documents are the targets that scopes release claims in.
func Documents() []string { return []string{IDToken, UserInfo, AccessToken, Introspection} }

// defaultTargets are the targets of a claim that names none.
func defaultTargets() []string { return []string{IDToken, UserInfo} }

// attributeOf returns the attribute of a claim.
func attributeOf(c *schemas.Claim) string {
	if c.Attribute != "" {
		return c.Attribute
	}
	levels := c.Levels()
	return levels[len(levels)-1]
}

func groups(c *schemas.Claim, s *Subject) (any, bool) {
	if s.Facts.TooManyGroups {
		return nil, false
	}
	below := func(schemas.ClaimGroup) bool { return true }
	if c.Ancestor != "" {
		below = descendants(s.Facts.Groups, c.Ancestor)
	}
	var names []string
	for _, g := range s.Facts.Groups {
		if below(g) && (g.Direct || !c.Direct) {
			names = append(names, g.Name)
		}
	}
	return selected(c, names), true
}

// descendants returns the function that reports whether a group is nested in the group with the name or id. Groups
// can be nested in a circle.
func descendants(all []schemas.ClaimGroup, ancestor string) func(schemas.ClaimGroup) bool {
	is, below := map[string]bool{ancestor: true}, map[string]bool{}
	for _, g := range all {
		is[g.ID] = g.Name == ancestor || g.ID == ancestor
	}
	for found := true; found; {
		found = false
		for _, g := range all {
			if !below[g.ID] && slices.ContainsFunc(g.Above, func(id string) bool { return is[id] || below[id] }) {
				below[g.ID], found = true, true
			}
		}
	}
	return func(g schemas.ClaimGroup) bool { return below[g.ID] }
}

func roles(c *schemas.Claim, s *Subject) (any, bool) {
	var names []string
	for _, r := range s.Facts.Roles {
		if c.ResourceServer == "" || slices.ContainsFunc(r.Permissions, ofServer(c)) {
			names = append(names, r.Name)
		}
	}
	return selected(c, names), true
}

func permissions(c *schemas.Claim, s *Subject) (any, bool) {
	var names []string
	for _, r := range s.Facts.Roles {
		names = append(names, r.Permissions...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if c.ResourceServer != "" {
		of := ofServer(c)
		names = slices.DeleteFunc(names, func(p string) bool { return !of(p) })
	}
	return selected(c, names), true
}

// ofServer reports whether a permission belongs to the resource server of a claim.
func ofServer(c *schemas.Claim) func(permission string) bool {
	return func(permission string) bool { return schemas.CoversPermission(c.ResourceServer, permission) }
}

// selected returns the names that a claim chooses, as it changes them.
func selected(c *schemas.Claim, names []string) []string {
	chosen := []string{}
	matches, excludes := matcher(c.Filter), matcher(c.Exclude)
	for _, name := range names {
		if !strings.HasPrefix(name, c.Prefix) || !matches(name) || c.Exclude != "" && excludes(name) {
			continue
		}
		if c.RemovePrefix {
			name = strings.TrimPrefix(name, c.Prefix)
		}
		if unwanted := compiledPattern(c.Remove); unwanted != nil && c.Remove != "" {
			name = unwanted.ReplaceAllString(name, "")
		}
		chosen = append(chosen, c.AddPrefix+name)
	}
	return chosen
}

func unit(c *schemas.Claim, s *Subject) (any, bool) {
	if c.Format == "" || c.Format == "id" {
		return s.User.OUID, s.User.OUID != ""
	}
	if len(s.Facts.Units) == 0 {
		return nil, false
	}
	switch own := s.Facts.Units[0]; c.Format {
	case "handle":
		return own.Handle, true
	case "name":
		return own.Name, true
	}
	var handles []string
	for _, u := range slices.Backward(s.Facts.Units) {
		handles = append(handles, u.Handle)
	}
	return strings.Join(handles, "/"), true
}

// The types of claims.
const (
	stringType  = "string"
	numberType  = "number"
	booleanType = "boolean"
	listType    = "list"
	objectType  = "object"
)

func typeNames() []string { return []string{stringType, numberType, booleanType, listType, objectType} }

// defaultSeparator joins the items of a list that becomes a string.
const defaultSeparator = ","

// Convert returns a value in the type of a claim, and whether it has one.
func Convert(c *schemas.Claim, value any) (any, bool) {
	if items, isList := listOf(value); isList && len(items) == 0 && (c.OmitEmpty || c.First) {
		return nil, false
	} else if isList && c.First {
		value = items[0]
	}
	switch c.Type {
	case stringType:
		return toString(c, value)
	case numberType:
		return toNumber(value)
	case booleanType:
		return toBoolean(value)
	case listType:
		return toList(c, value)
	case objectType:
		return toObject(value)
	}
	return value, true
}

func toString(c *schemas.Claim, value any) (any, bool) {
	items, isList := listOf(value)
	if !isList {
		items = []any{value}
	}
	separator := c.Separator
	if separator == "" {
		separator = defaultSeparator
	}
	texts := make([]string, len(items))
	for i, item := range items {
		text, is := item.(string)
		if !is {
			raw, err := json.Marshal(item)
			if err != nil || len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') || item == nil {
				return nil, false
			}
			text = string(raw)
		}
		texts[i] = text
	}
	return strings.Join(texts, separator), true
}

func listOf(value any) ([]any, bool) {
	switch v := value.(type) {
	case []any:
		return v, true
	case []string:
		items := make([]any, len(v))
		for i, text := range v {
			items[i] = text
		}
		return items, true
	}
	return nil, false
}

func toList(c *schemas.Claim, value any) (any, bool) {
	if items, is := listOf(value); is {
		return items, true
	}
	if text, is := value.(string); is && c.Separator != "" {
		return strings.Split(text, c.Separator), true
	}
	return []any{value}, value != nil
}

func toObject(value any) (object any, is bool) {
	if text, written := value.(string); written && json.Unmarshal([]byte(text), &value) != nil {
		return nil, false
	}
	object, is = value.(map[string]any)
	return object, is
}

func toNumber(value any) (any, bool) {
	switch v := value.(type) {
	case float64, int64:
		return v, true
	case string:
		var number json.Number
		err := json.Unmarshal([]byte(v), &number)
		return number, err == nil && number != ""
	}
	return nil, false
}

func toBoolean(value any) (any, bool) {
	switch v := value.(type) {
	case bool:
		return v, true
	case string:
		return v == "true", v == "true" || v == "false"
	}
	return nil, false
}
