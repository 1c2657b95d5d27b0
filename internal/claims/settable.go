package claims

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Claims that users can set
//
// An application may decide by a claim what a user may do. If users can choose its value, they decide themselves. Users
// set attributes: on the account page, at a node of a flow that asks for them, and when they register. They choose their
// user type and their organization unit by registering, if registrations differ in these. They enter values of runs, and services
// reply to these. They state claims about themselves at identity providers. They get a claim that is the
// same for everybody by a scope that needs no permission: the scope is in an address that their browser opens. And they
// enter mail addresses, which are released without verification by a server that sends no mail.
//
// Groups, roles and permissions are set by administrators alone. A claim under the name of OpenID Connect Core §5.1 that
// describes a person is no finding: it is what users state about themselves. An authoritative claim is one that
// applications rely on: see isAuthoritative.

// System is what decides which claims users can set.
type System struct {
	Applications map[string]*schemas.Application // by id
	Types        map[string]*schemas.UserType
	Flows        map[string]*schemas.Flow // by id
	Providers    map[string]*schemas.IdentityProvider
	// Uses lists the nodes of a flow that set attributes.
	Uses      func(*schemas.Flow) schemas.AttributeUses
	SendsMail bool
}

// Settings are the places where users can set attributes, user types and units.
type Settings struct {
	system *System
	types  []*schemas.UserType // sorted by name
	places map[string][]setting
	made   []creation
	// entered are the places of values of runs, by their names.
	entered map[string][]schemas.Place
}

// setting is a place where users of a type can set an attribute.
type setting struct {
	userType *schemas.UserType
	place    schemas.Place
}

// creation is a place where users become users of a type, in a unit.
type creation struct {
	setting
	unit string
}

// Settings finds the places. Those of flows are of the flows that applications start.
func (s *System) Settings() *Settings {
	found := &Settings{system: s, places: map[string][]setting{}, entered: map[string][]schemas.Place{}}
	found.types = slices.SortedFunc(maps.Values(s.Types), func(a, b *schemas.UserType) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range found.types {
		for _, field := range t.ProfileFields() {
			found.add(field.Name, t, schemas.Place{Kind: schemas.OnAccountPage, UserType: t.Name})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Providers)) {
		found.addProvider(s.Providers[id])
	}
	starts := map[string][]*schemas.Application{}
	for _, id := range slices.Sorted(maps.Keys(s.Applications)) {
		for _, flowID := range s.Applications[id].StartedFlows() {
			starts[flowID] = append(starts[flowID], s.Applications[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(starts)) {
		if f := s.Flows[id]; f != nil {
			found.addFlow(f, s.Uses(f), starts[id])
		}
	}
	return found
}

func (s *Settings) add(attribute string, t *schemas.UserType, place schemas.Place) {
	s.places[attribute] = append(s.places[attribute], setting{t, place})
}

// addProvider adds the attributes that a provider takes from what its users state about themselves. An address that the
// provider has verified is no such statement.
func (s *Settings) addProvider(p *schemas.IdentityProvider) {
	if p.Mapping == nil {
		return
	}
	for _, m := range p.Mapping.Attributes {
		claim, _, _ := strings.Cut(m.From, ".")
		if !schemas.StatedByUsers(claim) || m.VerifiedBy != "" {
			continue
		}
		for _, t := range s.types {
			if known, open := t.AttributeNames(); open || slices.Contains(known, m.To) {
				s.add(m.To, t, schemas.Place{Kind: schemas.AtProvider, Provider: p.Handle})
			}
		}
	}
}

// addFlow adds the nodes of a flow that the applications start.
func (s *Settings) addFlow(f *schemas.Flow, uses schemas.AttributeUses, starts []*schemas.Application) {
	at := func(node, path string) schemas.Place {
		return schemas.Place{Kind: schemas.InFlow, FlowID: f.ID, Flow: f.Handle, Node: node, Path: path}
	}
	for _, q := range uses.Questions {
		for _, t := range s.types {
			signsIn := func(a *schemas.Application) bool { return a.Admits(t.Name, t.IdentifierScope) }
			if !slices.ContainsFunc(starts, signsIn) {
				continue
			}
			for _, attribute := range t.FormAttributes() {
				if q.AsksFor(t, attribute) {
					s.add(attribute, t, at(q.Node, q.Path))
				}
			}
		}
	}
	for _, v := range uses.Entered {
		s.entered[v.Name] = append(s.entered[v.Name], at(v.Node, v.Path))
	}
	for _, c := range uses.Creations {
		for _, a := range starts {
			s.addCreation(&c, a, at(c.Node, c.Path))
		}
	}
}

// addCreation adds a node at which users register for an application.
func (s *Settings) addCreation(c *schemas.UserCreation, a *schemas.Application, place schemas.Place) {
	name, unit := c.Type, c.Unit
	if name == "" {
		name = a.NewUserType()
	}
	if unit == "" {
		unit = a.OUID
	}
	i := slices.IndexFunc(s.types, func(t *schemas.UserType) bool { return t.Name == name })
	if i < 0 || !a.Admits(name, s.types[i].IdentifierScope) {
		return
	}
	t := s.types[i]
	s.made = append(s.made, creation{setting{t, place}, unit})
	known, open := t.AttributeNames()
	for attribute, input := range c.Inputs {
		if !slices.Contains(c.Stated, input) && (open || slices.Contains(known, attribute)) {
			s.add(attribute, t, place)
		}
	}
}

// All returns the claims of all applications that users can set, as Of does for each.
func (s *Settings) All() (list []schemas.SettableClaim) {
	for _, id := range slices.Sorted(maps.Keys(s.system.Applications)) {
		list = append(list, s.Of(s.system.Applications[id])...)
	}
	return list
}

// Of returns the claims of an application that users can set, with each place. It omits claims that only state what
// users say about themselves.
func (s *Settings) Of(a *schemas.Application) (list []schemas.SettableClaim) {
	for _, d := range declaredBy(a) {
		isNowhere := len(d.targets) == 0 && len(d.onRequest) == 0
		// Of the standard claims, only an address without verification is a finding.
		if isNowhere || d.isStandard(a) && !d.Authoritative && d.levels[0] != "email" {
			continue
		}
		list = append(list, d.named(s.settable(a, &d.declared))...)
	}
	return list
}

// PlacesOf describes where users can set each claim of Set.Explain, by its index.
func (s *Settings) PlacesOf(a *schemas.Application) map[int][]schemas.SettableClaim {
	found := map[int][]schemas.SettableClaim{}
	for i, d := range declaredBy(a) {
		if i == d.index {
			found[i] = d.named(s.settable(a, &d.declared))
		}
	}
	return found
}

// indexed is a claim with its index in the set of the application, -1 for an attribute of assertions.
type indexed struct {
	declared
	index int
}

// declaredBy lists the claims of an application, and the attributes in its assertions, which are not part of a set.
func declaredBy(a *schemas.Application) (list []indexed) {
	for i, d := range ofDraft(a, Context{Identity: append(schemas.IdentityScopes(), a.OAuth().OwnScopes()...)}).claims {
		list = append(list, indexed{d, i})
	}
	for _, name := range a.Assertion.UserAttributes {
		if c := Standard(name); c.Source == "attribute" {
			c.Targets = []string{Assertion}
			list = append(list, indexed{declared{Claim: c, source: FindSource(c.Source), levels: c.Levels(), targets: c.Targets, short: "assertion.userAttributes"}, -1})
		}
	}
	return list
}

// named completes findings about a claim.
func (d *indexed) named(list []schemas.SettableClaim) []schemas.SettableClaim {
	for i := range list {
		list[i].Claim, list[i].Declared = strings.Join(d.levels, "."), d.declaration(d.index)
	}
	return list
}

// isStandard reports whether a claim states, under the name of OpenID Connect Core §5.1, what users say about
// themselves, or whether it is one of those that a standard scope releases by default.
func (d *declared) isStandard(a *schemas.Application) bool {
	if len(d.levels) != 1 {
		return false
	}
	name := d.levels[0]
	if slices.Contains(schemas.ComputedClaims(), name) {
		o := a.OAuth()
		isOwn := func(scope string) bool { return o != nil && o.ScopeClaims[scope] != nil }
		return d.short == "scopeClaims" && !slices.ContainsFunc(d.Scopes, isOwn)
	}
	return d.Source == "attribute" && attributeOf(&d.Claim) == name && (slices.Contains(schemas.ProfileAttributes(), name) || name == schemas.UpdatedAt)
}

// identityClaim returns email or email_verified if a claim has that name, in any letter case, because some readers ignore
// it. Readers may identify users by the address, and trust it by the other.
func (d *declared) identityClaim() string {
	if len(d.levels) != 1 {
		return ""
	}
	switch name := strings.ToLower(strings.ToUpper(d.levels[0])); name {
	case "email", schemas.EmailVerified:
		return name
	}
	return ""
}

// isAuthoritative reports whether users must not be able to set a claim: one that is declared so, and the address,
// which may identify users in the application.
func (d *declared) isAuthoritative(a *schemas.Application) bool {
	return d.Authoritative || d.identityClaim() != "" && a.IdentifiesBy != schemas.IdentifiesBySub
}

// isComputed reports whether the server itself computes a claim from a verified address.
func (d *declared) isComputed() bool {
	attribute := attributeOf(&d.Claim)
	if d.identityClaim() == schemas.EmailVerified {
		return d.Source == "attribute" && attribute == schemas.EmailVerified
	}
	return d.Source == "attribute" && (attribute == "email" || schemas.VerificationAttributes()[attribute] != "")
}

// Guarded returns a text of each authoritative claim of an application whose value may be one that users can set. They
// change with everything of the application that decides it, except its flows, its unit and its user types.
func Guarded(a *schemas.Application) (list []string) {
	for _, d := range declaredBy(a) {
		if d.isAuthoritative(a) && !d.isComputed() {
			list = append(list, fmt.Sprintf("%s %+v", d.declaration(d.index), d.Claim))
		}
	}
	if o := a.OAuth(); len(list) > 0 && o != nil {
		list = append(list, fmt.Sprintf("%q %q", o.Scopes, o.OwnScopes()))
	}
	return list
}

// settable returns the places where users can set a claim.
func (s *Settings) settable(a *schemas.Application, d *declared) (list []schemas.SettableClaim) {
	type found struct {
		reads string
		place schemas.Place
	}
	known := map[found]bool{}
	add := func(reads string, place schemas.Place) {
		if known[found{reads, place}] {
			return
		}
		known[found{reads, place}] = true
		c := schemas.SettableClaim{ApplicationID: a.ID, Application: a.Name, Reads: reads, Authoritative: d.isAuthoritative(a) && place.Kind != schemas.WithoutMail, Place: place}
		c.Where, c.Fix = describePlace(&c)
		list = append(list, c)
	}
	reads := reading{attributes: []string{}, everything: true, userType: true, unit: true}
	if d.source.reads != nil {
		reads = d.source.reads(&d.Claim)
	}
	if d.identityClaim() == schemas.EmailVerified && !d.isComputed() {
		add("", schemas.Place{Kind: schemas.ByDeclaration})
	}
	for _, attribute := range s.attributes(reads) {
		s.addAttribute(a, d, attribute, add)
	}
	for _, name := range reads.run {
		for _, place := range s.entered[name] {
			if slices.Contains(a.StartedFlows(), place.FlowID) {
				add(name, place)
			}
		}
	}
	if reads.userType {
		s.addChoices(a, "the user type", func(c creation) string { return c.userType.Name }, add)
	}
	if reads.unit {
		s.addChoices(a, "the organization unit", func(c creation) string { return c.unit }, add)
	}
	if scope := d.freeScope(a); reads.constant && scope != "" {
		add("the scope", schemas.Place{Kind: schemas.ByScope, Scope: scope})
	}
	return list
}

// attributes returns the attributes of a reading, without those that users cannot set.
func (s *Settings) attributes(r reading) []string {
	if !r.everything {
		return r.attributes
	}
	return slices.Sorted(maps.Keys(s.places))
}

// addAttribute adds the places where users of an application can set an attribute. An address is released only once it is
// verified, except by a server that sends no mail.
func (s *Settings) addAttribute(a *schemas.Application, d *declared, attribute string, add func(reads string, place schemas.Place)) {
	of := &Subject{Application: a, Unverified: !s.system.SendsMail}
	if attribute == "email" && !of.releasesUnverified(&d.Claim) {
		return
	}
	for _, at := range s.places[attribute] {
		if !a.Admits(at.userType.Name, at.userType.IdentifierScope) {
			continue
		}
		place := at.place
		if attribute != "email" {
			add(attribute, place)
			continue
		}
		place.Kind = schemas.WithoutMail
		add(attribute, place)
		return // one place is enough: the others are closed in the same way
	}
}

// addChoices adds the registrations between which users of an application choose, if they differ in a value.
func (s *Settings) addChoices(a *schemas.Application, reads string, value func(creation) string, add func(reads string, place schemas.Place)) {
	var open []creation
	values := map[string]bool{}
	for _, c := range s.made {
		if a.Admits(c.userType.Name, c.userType.IdentifierScope) {
			open = append(open, c)
			values[value(c)] = true
		}
	}
	for _, c := range open {
		if len(values) > 1 {
			add(reads, c.place)
		}
	}
}

// freeScope returns a scope that releases the claim and that users can grant without a permission; "" if there is none,
// or if the claim needs no scope. Every sign-in with an ID token has openid.
func (d *declared) freeScope(a *schemas.Application) (free string) {
	o := a.OAuth()
	if o == nil || slices.Contains(d.Scopes, "openid") {
		return ""
	}
	for _, scope := range d.Scopes {
		own := slices.Contains(o.OwnScopes(), scope)
		if own || slices.Contains(schemas.IdentityScopes(), scope) && (len(o.Scopes) == 0 || slices.Contains(o.Scopes, scope)) {
			return scope
		}
	}
	return ""
}

// Problem returns a finding about a flow that lets users set a claim, or about an application.
func Problem(c *schemas.SettableClaim) schemas.Problem {
	p := schemas.Problem{Rule: schemas.RuleClaim, Warning: !c.Authoritative, Path: c.Place.Path, Node: c.Place.Node, Message: Message(c)}
	if c.Place.FlowID == "" {
		p.Path = c.Declared
	}
	return p
}

// Message states which claim users can set, where, and how to close that place.
func Message(c *schemas.SettableClaim) string {
	text := fmt.Sprintf("%s; %s", c.Where, c.Fix)
	if c.Authoritative {
		text = fmt.Sprintf("it is authoritative, but %s, or %s", text, ReleaseFrom(c))
	}
	return fmt.Sprintf("users can set the claim %q (%s) of the application %q: %s", c.Claim, c.Declared, c.Application, text)
}

// ReleaseFrom returns how an authoritative claim becomes one that users may set.
func ReleaseFrom(c *schemas.SettableClaim) string {
	if name := strings.ToLower(strings.ToUpper(c.Claim)); name == "email" || name == schemas.EmailVerified {
		return "set identifiesBy: sub if the application does not identify users by their addresses"
	}
	return "remove authoritative"
}

// describePlace returns where users can set a claim, and how to close that place.
func describePlace(c *schemas.SettableClaim) (where, fix string) {
	at := fmt.Sprintf("in the flow %q at the node %q", c.Place.Flow, c.Place.Node)
	if c.Place.Provider != "" {
		at = fmt.Sprintf("at the identity provider %q, which passes it on", c.Place.Provider)
	}
	_, _, _, isValue := schemas.ParseVariable(c.Reads)
	switch {
	case c.Place.Kind == schemas.OnAccountPage:
		return fmt.Sprintf("users of the type %q can set the attribute %q on the account page", c.Place.UserType, c.Reads),
			"mark the attribute readOnly in the user type, or take the value from groups or roles"
	case c.Place.Kind == schemas.ByScope:
		return fmt.Sprintf("users grant the scope %q themselves, and get the value by it", c.Place.Scope),
			"release the claim by a permission of a resource server, which roles grant, or take the value from groups or roles"
	case c.Place.Kind == schemas.WithoutMail:
		return "the server sends no mail, so an address that users set " + at + " is released without verification",
			"configure mail.host, or set identifiesBy of the application: with email it gets verified addresses only, and with sub it does not identify users by them"
	case c.Place.Kind == schemas.ByDeclaration:
		return "it states that an address is verified whether or not the server has verified it",
			"take the value from the attribute email_verified"
	case c.Place.Kind == schemas.AtProvider:
		return fmt.Sprintf("users can set the attribute %q %s", c.Reads, at), "map a claim that the users of the provider do not set themselves, or take the value from groups or roles"
	case isValue:
		return fmt.Sprintf("users decide the value %q by what they enter %s", c.Reads, at), "take the value from an attribute that only administrators set, or from groups or roles"
	case c.Reads == "the user type" || c.Reads == "the organization unit":
		return "users choose " + c.Reads + " by registering " + at + ", because other registrations give another one",
			"let all registrations give the same, or take the value from groups or roles"
	}
	return fmt.Sprintf("users can set the attribute %q %s", c.Reads, at),
		"do not ask for the attribute there, or take the value from groups or roles"
}
