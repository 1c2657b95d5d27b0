package claims

import (
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/postern-id/postern/internal/recent"
	"github.com/postern-id/postern/schemas"
)

// Set is the claims of an application.
type Set struct {
	claims      []declared
	asksConsent bool
	exact       []string // scopes that are no permissions: they cover no others
	reserved    []schemas.Claim
}

// declared is a claim with what follows from its declaration.
type declared struct {
	schemas.Claim
	source  *Source
	levels  []string
	targets []string
	// onRequest are the targets that contain the claim only if the client requests it by its name.
	onRequest []string
	// consented states that one of the scopes must be granted, even if there is none: the application asks for
	// consent, and its user has consented to nothing else.
	consented bool
	short     string // the member of the application that declares the claim; "" for claims
	server    string // the handle of the resource server that declares the claim; "" for the application
}

// Context is what the claims of an application depend on besides the application.
type Context struct {
	// Identity are the scopes that need no permission for the client. Another one with the name of a standard scope
	// is a permission of a resource server, and releases no standard claim.
	Identity []string
	// Servers are the resource servers that a token is for.
	Servers []schemas.ResourceServer
}

// Of returns the claims of a stored application, and those of the resource servers of its tokens. The standard claims of
// its scopes, and the members that change or limit them, are read as claims. The sets of an application are kept until
// it changes: use ofDraft for one that is not stored.
func Of(app *schemas.Application, in Context) *Set {
	o := profileOf(app)
	token := o.Token
	if len(o.Claims) == 0 && o.ScopeClaims == nil && token.AccessToken.UserAttributes == nil && token.IDToken.UserAttributes == nil &&
		o.UserInfo.UserAttributes == nil && app.Assertion.UserAttributes == nil && !app.AsksConsent() &&
		len(in.Servers) == 0 && slices.Equal(in.Identity, schemas.IdentityScopes()) {
		return standardSet()
	}
	key := setKey{app.ID, app.UpdatedAt.UnixMicro()}
	cached := len(in.Servers) == 0 && !app.UpdatedAt.IsZero() && len(in.Identity) == len(schemas.IdentityScopes())+len(o.OwnScopes())
	if known, found := sets.Find(key); cached && found {
		return known
	}
	set := newSet(app, o, in)
	if cached {
		sets.Put(key, set)
	}
	return set
}

// ofDraft is Of for an application that may never be stored, or that has changed since.
func ofDraft(app *schemas.Application, in Context) *Set { return newSet(app, profileOf(app), in) }

func profileOf(app *schemas.Application) *schemas.OAuthProfile {
	if o := app.OAuth(); o != nil {
		return o
	}
	return &schemas.OAuthProfile{Claims: app.Claims}
}

// sets are those of applications for tokens without resource servers.
var sets = recent.Map[setKey, *Set]{Limit: 1000}

// setKey identifies a state of an application.
type setKey struct {
	id      string
	updated int64
}

func newSet(app *schemas.Application, o *schemas.OAuthProfile, in Context) *Set {
	set := &Set{asksConsent: app.AsksConsent(), exact: in.Identity}
	set.reserve(in.Servers)
	for _, c := range o.Claims {
		set.add(c, "", app.AsksConsent())
	}
	set.addReleased(o)
	set.addAttributes(app)
	set.addServers(in.Servers)
	return set
}

// standardSet is the set of an application without members about claims.
var standardSet = sync.OnceValue(func() *Set {
	set := &Set{exact: schemas.IdentityScopes()}
	set.addReleased(&schemas.OAuthProfile{})
	return set
})

// Standard returns the claim that a name in a short form, or a scope, stands for.
func Standard(name string) schemas.Claim {
	c := schemas.Claim{Path: []string{name}, Source: "attribute", Attribute: name}
	switch name {
	case schemas.GroupsClaim:
		c = schemas.Claim{Path: c.Path, Source: "groups"}
	case schemas.RolesClaim:
		c = schemas.Claim{Path: c.Path, Source: "roles"}
	case "permissions":
		c = schemas.Claim{Path: c.Path, Source: "permissions"}
	case schemas.UserTypeClaim:
		c = schemas.Claim{Path: c.Path, Source: "userType"}
	case schemas.UnitIDClaim:
		c = schemas.Claim{Path: c.Path, Source: "organizationUnit", Format: "id"}
	case schemas.UnitNameClaim:
		c = schemas.Claim{Path: c.Path, Source: "organizationUnit", Format: "name"}
	case schemas.UnitHandleClaim:
		c = schemas.Claim{Path: c.Path, Source: "organizationUnit", Format: "handle"}
	}
	return c
}

// ReleasedBy returns the names of the claims that a scope releases to a client.
func ReleasedBy(o *schemas.OAuthProfile, scope string) []string {
	if names, own := o.ScopeClaims[scope]; own {
		return names
	}
	return schemas.StandardClaims(scope)
}

// addReleased adds the claims that scopes release, in ID tokens and userinfo.
func (s *Set) addReleased(o *schemas.OAuthProfile) {
	scopes := map[string][]string{} // by the name of the claim
	var names []string
	for _, scope := range s.exact {
		for _, name := range ReleasedBy(o, scope) {
			if scopes[name] == nil {
				names = append(names, name)
			}
			scopes[name] = append(scopes[name], scope)
		}
	}
	for _, name := range names {
		c := Standard(name)
		c.Scopes = scopes[name]
		// The time of the last change is rarely used, and would change the ID tokens of earlier releases.
		var onRequest []string
		switch limit := o.Token.IDToken.UserAttributes; {
		case name == schemas.UpdatedAt && limit == nil:
			onRequest = []string{IDToken}
		case limit == nil || slices.Contains(limit, name):
			c.Targets = append(c.Targets, IDToken)
		}
		if limit := o.UserInfo.UserAttributes; limit == nil || slices.Contains(limit, name) {
			c.Targets = append(c.Targets, UserInfo)
		}
		s.add(c, "scopeClaims", true)
		if last := &s.claims[len(s.claims)-1]; slices.Equal(last.levels, c.Path) {
			last.onRequest = onRequest
		}
	}
}

// addAttributes adds the claims of access tokens and assertions. The user of an application that asks for
// consent has consented to the claims of the granted scopes.
func (s *Set) addAttributes(app *schemas.Application) {
	if o := app.OAuth(); o != nil {
		for _, name := range o.Token.AccessToken.UserAttributes {
			c := Standard(name)
			c.Targets = []string{AccessToken}
			for _, scope := range s.exact {
				if app.AsksConsent() && slices.Contains(ReleasedBy(o, scope), name) {
					c.Scopes = append(c.Scopes, scope)
				}
			}
			s.add(c, "token.accessToken.userAttributes", app.AsksConsent())
		}
	}
	for _, name := range app.Assertion.UserAttributes {
		if slices.Contains(schemas.ComputedClaims(), name) && name != schemas.UnitIDClaim && name != schemas.UserTypeClaim {
			c := Standard(name)
			c.Targets = []string{Assertion}
			s.add(c, "assertion.userAttributes", app.AsksConsent())
		}
	}
}

// add adds a claim unless an earlier one has its name in the target.
func (s *Set) add(c schemas.Claim, short string, consented bool) {
	d := declared{Claim: c, source: FindSource(c.Source), levels: c.Levels(), targets: c.Targets, consented: consented, short: short}
	if c.Targets == nil && short == "" {
		d.targets = defaultTargets()
	}
	byName := short != "" && c.Source == "attribute"
	if d.source == nil || schemas.IsProtocolClaim(d.levels[0]) || byName && schemas.IsAuthorizationClaim(d.levels[0]) {
		return
	}
	for _, earlier := range s.claims {
		if slices.Equal(earlier.levels, d.levels) && (earlier.short == "" && short != "") {
			d.targets = without(d.targets, earlier.targets)
		}
	}
	for _, c := range s.reserved {
		if Overlap(c.Levels(), d.levels) {
			d.targets = without(d.targets, c.Targets)
		}
	}
	s.claims = append(s.claims, d)
}

// releases reports whether a target contains a claim about the user: a granted scope releases it, or the client
// requests it by its name and may request such a scope. A client whose users consent gets only what they consented to.
func (s *Set) releases(d *declared, target string, of *Subject) bool {
	requested := of.Requested.Find(target == IDToken, d.levels) && (target == IDToken || target == UserInfo)
	if !slices.Contains(d.targets, target) && !(requested && slices.Contains(d.onRequest, target)) {
		return false
	}
	if target == Assertion || len(d.Scopes) == 0 && d.server == "" {
		return !d.consented
	}
	return slices.ContainsFunc(of.Scope, func(has string) bool {
		return s.isReleasedBy(d, has) && (of.Consent == nil || of.Consent.Releases(has, d.key()))
	}) || requested && !s.asksConsent && of.MayRequest != nil && slices.ContainsFunc(d.Scopes, of.MayRequest)
}

// isReleasedBy reports whether a granted scope releases a claim. One of a resource server needs a permission of it.
func (s *Set) isReleasedBy(d *declared, granted string) bool {
	if d.server != "" && len(d.Scopes) == 0 {
		return s.covers(d.server, granted) || s.covers(granted, d.server)
	}
	return slices.ContainsFunc(d.Scopes, func(scope string) bool { return s.covers(granted, scope) })
}

// covers reports whether a scope is another one, or a permission above it.
func (s *Set) covers(scope, other string) bool {
	return scope == other || !slices.Contains(s.exact, scope) && !slices.Contains(s.exact, other) && schemas.CoversPermission(scope, other)
}

// NeedsFacts reports whether a claim of the targets about the subject reads Subject.Facts.
func (s *Set) NeedsFacts(of *Subject, targets ...string) bool {
	return slices.ContainsFunc(s.claims, func(d declared) bool {
		return d.source.needsFacts != nil && d.source.needsFacts(&d.Claim) &&
			slices.ContainsFunc(targets, func(t string) bool { return s.releases(&d, t, of) })
	})
}

// NeedsRun reports whether a claim of the targets about the subject reads Subject.Run.
func (s *Set) NeedsRun(of *Subject, targets ...string) bool {
	return slices.ContainsFunc(s.claims, func(d declared) bool {
		return d.source.readsRun && len(readsOfRun(&d.Claim)) > 0 &&
			slices.ContainsFunc(targets, func(t string) bool { return s.releases(&d, t, of) })
	})
}

// Has reports whether the target can have claims.
func (s *Set) Has(target string) bool {
	return slices.ContainsFunc(s.claims, func(d declared) bool { return slices.Contains(d.targets, target) })
}

// Values returns the claims of a target as the members of a JSON object.
func (s *Set) Values(target string, of *Subject) map[string]any {
	object, _ := s.values(target, of)
	return object
}

// MaxItems is the number of items of the longest list in a token.
const MaxItems = 200

// Limited returns the claims of a token, and the names of the members that are left out, because one of their lists
// has more than MaxItems items.
func (s *Set) Limited(target string, of *Subject) (object map[string]any, large []string) {
	object, large = s.values(target, of)
	for _, name := range large {
		delete(object, name)
	}
	return object, large
}

// values returns the claims of a target, and the sorted names of the members with a list of more than MaxItems items.
func (s *Set) values(target string, of *Subject) (object map[string]any, large []string) {
	object = map[string]any{}
	for i := range s.claims {
		d := &s.claims[i]
		if !s.releases(d, target, of) {
			continue
		}
		stated, found := d.source.value(&d.Claim, of)
		if !found {
			continue
		}
		value, found := Convert(&d.Claim, stated)
		if !found || !of.Requested.Accepts(target == IDToken, d.levels, value) {
			continue
		}
		put(object, d.levels, value)
		if lengthOf(stated) > MaxItems {
			large = append(large, d.levels[0])
		}
	}
	slices.Sort(large)
	return object, slices.Compact(large)
}

// lengthOf returns the number of items of a list, 0 for another value.
func lengthOf(value any) int {
	switch items := value.(type) {
	case []any:
		return len(items)
	case []string:
		return len(items)
	}
	return 0
}

// evaluate returns the value of a claim, and whether the user has one.
func (d *declared) evaluate(of *Subject) (any, bool) {
	value, found := d.source.value(&d.Claim, of)
	if !found {
		return nil, false
	}
	return Convert(&d.Claim, value)
}

// put sets a member of nested objects. It leaves a member that is no object.
func put(object map[string]any, levels []string, value any) {
	for _, level := range levels[:len(levels)-1] {
		next, is := object[level].(map[string]any)
		if !is && object[level] != nil {
			return
		}
		next = maps.Clone(next) // it can be the value of an attribute
		if next == nil {
			next = map[string]any{}
		}
		object[level] = next
		object = next
	}
	object[levels[len(levels)-1]] = value
}

// patterns are compiled patterns of claims.
var patterns = recent.Map[string, *regexp.Regexp]{Limit: 1000}

// compiledPattern returns a compiled pattern; nil for one that does not compile, which the check of the application
// rejects.
func compiledPattern(text string) *regexp.Regexp {
	compiled, known := patterns.Find(text)
	if !known {
		compiled, _ = regexp.Compile(text)
		patterns.Put(text, compiled)
	}
	return compiled
}

// matcher returns the function that reports whether a filter matches a whole name. A filter that does not
// compile matches none.
func matcher(filter string) func(name string) bool {
	if filter == "" {
		return func(string) bool { return true }
	}
	compiled := compiledPattern(`^(?:` + filter + `)$`)
	return func(name string) bool { return compiled != nil && compiled.MatchString(name) }
}
