package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// keycloakScope is a client scope: a name for mappers. Those of the default scopes of a client apply to all of its
// tokens, those of the optional ones if the client requests the scope.
type keycloakScope struct {
	Name       string                  `json:"name"`
	Protocol   string                  `json:"protocol"`
	Attributes keycloakScopeAttributes `json:"attributes"`
	Mappers    []keycloakMapper        `json:"protocolMappers"`
}

type keycloakScopeAttributes struct {
	InToken looseText `json:"include.in.token.scope"`
}

// isRequested reports whether clients request the scope by its name: tokens have it in their member scope.
func (s *keycloakScope) isRequested() bool { return s.Attributes.InToken != "false" }

func (s *keycloakScope) isSAML() bool { return s.Protocol != "" && s.Protocol != "openid-connect" }

// standardKeycloakScopes are the client scopes that Keycloak gives a realm whose file has none
// (https://www.keycloak.org/docs/latest/server_admin/#_client_scopes).
func standardKeycloakScopes() []keycloakScope {
	hidden := keycloakScopeAttributes{InToken: "false"}
	const role, clientRole = "oidc-usermodel-realm-role-mapper", "oidc-usermodel-client-role-mapper"
	return []keycloakScope{
		{Name: "profile", Mappers: []keycloakMapper{
			standardMapper("oidc-full-name-mapper", "", ""),
			attributeMapper("family_name", "lastName"), attributeMapper("given_name", "firstName"), attributeMapper("middle_name", "middleName"),
			attributeMapper("nickname", "nickname"), attributeMapper("preferred_username", "username"), attributeMapper("profile", "profile"),
			attributeMapper("picture", "picture"), attributeMapper("website", "website"), attributeMapper("gender", "gender"),
			attributeMapper("birthdate", "birthdate"), attributeMapper("zoneinfo", "zoneinfo"), attributeMapper("locale", "locale"),
			attributeMapper("updated_at", "updatedAt").with("jsonType.label", "long"),
		}},
		{Name: "email", Mappers: []keycloakMapper{attributeMapper("email", "email"), attributeMapper("email_verified", "emailVerified").with("jsonType.label", "boolean")}},
		{Name: "address", Mappers: []keycloakMapper{standardMapper("oidc-address-mapper", "", "")}},
		{Name: "phone", Mappers: []keycloakMapper{attributeMapper("phone_number", "phoneNumber"), attributeMapper("phone_number_verified", "phoneNumberVerified").with("jsonType.label", "boolean")}},
		{Name: "roles", Attributes: hidden, Mappers: []keycloakMapper{
			standardMapper(role, "realm_access.roles", "").with("multivalued", "true").with("id.token.claim", "false").with("userinfo.token.claim", "false"),
			standardMapper(clientRole, "resource_access.${client_id}.roles", "").with("multivalued", "true").with("id.token.claim", "false").with("userinfo.token.claim", "false"),
			standardMapper("oidc-audience-resolve-mapper", "", ""),
		}},
		{Name: "web-origins", Attributes: hidden, Mappers: []keycloakMapper{standardMapper("oidc-allowed-origins-mapper", "", "").with("id.token.claim", "false").with("userinfo.token.claim", "false")}},
		{Name: "acr", Attributes: hidden}, {Name: "basic", Attributes: hidden}, {Name: "role_list", Attributes: hidden, Protocol: "saml"}, {Name: "offline_access"},
		{Name: "microprofile-jwt", Mappers: []keycloakMapper{attributeMapper("upn", "username"), standardMapper(role, "groups", "").with("multivalued", "true")}},
	}
}

// standardMapper returns a mapper for all documents.
func standardMapper(kind, claim, attribute string) keycloakMapper {
	m := keycloakMapper{Name: firstText(strings.ReplaceAll(claim, "_", " "), kind), Kind: kind, Config: map[string]looseText{
		"id.token.claim": "true", "access.token.claim": "true", "userinfo.token.claim": "true", "introspection.token.claim": "true"}}
	return m.with("claim.name", claim).with("user.attribute", attribute)
}

func attributeMapper(claim, attribute string) keycloakMapper {
	return standardMapper("oidc-usermodel-attribute-mapper", claim, attribute)
}

func (m keycloakMapper) with(name, value string) keycloakMapper {
	if value != "" {
		m.Config[name] = looseText(value)
	}
	return m
}

// isStandardKeycloakScope reports whether every realm has a client scope with the name, in one release or another.
func isStandardKeycloakScope(name string) bool {
	return slices.Contains([]string{"openid", "organization", "saml_organization", "service_account"}, name) ||
		slices.ContainsFunc(standardKeycloakScopes(), func(s keycloakScope) bool { return s.Name == name })
}

// scope returns the client scope with the name: that of the realm, or the one of every realm; nil if there is none.
func (k *keycloak) scope(name string) *keycloakScope {
	for _, list := range [][]keycloakScope{k.realm.Scopes.List, standardKeycloakScopes()} {
		for _, s := range list {
			if s.Name == name {
				return &s
			}
		}
	}
	return nil
}

// scopesOf returns the names of the client scopes of a client. One without lists gets those of the realm, and a
// realm without client scopes those of every realm.
func (k *keycloak) scopesOf(in *keycloakClient) (defaults, optional []string) {
	switch {
	case in.DefaultScopes != nil || in.OptionalScopes != nil:
		return in.DefaultScopes, in.OptionalScopes
	case k.realm.DefaultScopes != nil || k.realm.OptionalScopes != nil || len(k.realm.Scopes.List) > 0:
		return k.realm.DefaultScopes, k.realm.OptionalScopes
	}
	return []string{"profile", "email", "roles", "web-origins", "acr", "basic"}, []string{"address", "phone", "offline_access", "microprofile-jwt"}
}

// clientClaims collects the claims of a client: those of its own mappers first, then those of its client scopes.
type clientClaims struct {
	k      *keycloak
	r      *Report
	in     *keycloakClient
	client *client
	place  string
	list   []mappedClaim
}

// mappedClaim is a claim of a mapper. Roles are the roles that it contains, nil for other claims.
type mappedClaim struct {
	schemas.Claim
	roles *roleSelection
}

// scopedMappers are mappers with what they belong to.
type scopedMappers struct {
	subject, place string
	scope          *keycloakScope // nil for those of the client itself
	optional       bool
	mappers        []keycloakMapper
}

// addClaims gives a client the claims and the scopes that it has in Keycloak.
func (k *keycloak) addClaims(r *Report, c *client, in *keycloakClient) {
	all := &clientClaims{k: k, r: r, in: in, client: c, place: c.place}
	all.addMappers(scopedMappers{subject: "clients", place: c.place, mappers: in.Mappers})
	defaults, optional := k.scopesOf(in)
	c.scopes, c.scopeClaims = []string{"openid"}, map[string][]string{}
	for i, name := range slices.Concat(defaults, optional) {
		s := k.scope(name)
		k.usedScopes[name] = true
		switch {
		case s == nil && !isStandardKeycloakScope(name):
			r.add("clients", c.place, fmt.Sprintf("the client scope %.60q is not in the export", name), "add it to scopeClaims of the application (docs/claims.md)")
		case s == nil || s.isSAML():
		default:
			of := scopedMappers{subject: "client scopes", place: "client scope " + name, scope: s, optional: i >= len(defaults), mappers: s.Mappers}
			if all.declare(of) {
				all.addMappers(of)
			}
		}
	}
	all.noteConsent()
	all.finish()
}

// declare declares a client scope as a scope of the application, and reports whether its mappers are to be added.
func (a *clientClaims) declare(of scopedMappers) bool {
	name := of.scope.Name
	handle, _, _ := strings.Cut(name, ":")
	isStandard := slices.Contains(schemas.IdentityScopes(), name)
	switch {
	case isStandard && name == schemas.AccountScope, !isStandard && of.scope.isRequested() && (slices.Contains(schemas.IdentityScopes(), handle) || schemas.IsManagementScope(name) || schemas.IsManagementScope(handle)):
		a.r.add("clients", a.place, fmt.Sprintf("the client scope %.60q has the name of a permission of this server, and is left out", name), "rename it, in the application too")
		return false
	case isStandard:
		a.client.scopes = append(a.client.scopes, name)
		if len(claims.ReleasedBy(&schemas.OAuthProfile{}, name)) > 0 {
			a.client.scopeClaims[name] = []string{} // the claims of its mappers follow, with the same names
		}
	case of.scope.isRequested():
		a.client.scopeClaims[name] = []string{}
		if !of.optional && !isStandardKeycloakScope(name) {
			a.r.add("clients", a.place, fmt.Sprintf("tokens have the default client scope %.60q in their member scope only if the application requests it", name), "let the application request it, if APIs expect it there")
		}
	}
	return true
}

// addMappers adds the claims of mappers, and reports what is lost of them.
func (a *clientClaims) addMappers(of scopedMappers) {
	for _, m := range of.mappers {
		if m.Protocol != "" && m.Protocol != "openid-connect" {
			continue
		}
		place := fmt.Sprintf("%s, mapper %s (%s)", of.place, m.Name, m.Kind)
		found := a.k.convertMapper(m, a.in)
		for _, lost := range found.lost {
			a.k.reportOnce(a.r, of.subject, place, lost.problem, lost.fix)
		}
		for _, c := range found.claims {
			if c.Targets = m.targets(a.in); len(c.Targets) == 0 {
				continue
			}
			c.Scopes = a.releasing(of)
			if taken := a.merge(c); taken {
				a.r.add("clients", a.place, fmt.Sprintf("another mapper of the client has the claim %.80q, or one inside of it: that of the mapper %.60q is left out", strings.Join(c.Levels(), "."), m.Name), "give one of them another name")
			}
		}
	}
}

// releasing returns the scopes that release the claims of mappers; nil if all tokens have them. Users who consent do so
// to scopes: those that clients do not request by name belong to openid.
func (a *clientClaims) releasing(of scopedMappers) []string {
	switch {
	case of.scope != nil && (of.optional || bool(a.in.Consent) && of.scope.isRequested()):
		if !slices.Contains(schemas.IdentityScopes(), of.scope.Name) {
			a.client.scopeClaims[of.scope.Name] = []string{}
		}
		return []string{of.scope.Name}
	case bool(a.in.Consent):
		return []string{"openid"}
	}
	return nil
}

// merge adds a claim. It reports whether earlier ones have its name in each of its documents, with another value.
func (a *clientClaims) merge(c mappedClaim) (taken bool) {
	for i := range a.list {
		e := &a.list[i]
		shared := slices.ContainsFunc(c.Targets, func(t string) bool { return slices.Contains(e.Targets, t) })
		if !shared || !claims.Overlap(e.Levels(), c.Levels()) {
			continue
		}
		switch equal := inline(valueOf(e.Claim)) == inline(valueOf(c.Claim)); {
		case e.roles != nil && c.roles != nil && slices.Equal(e.Levels(), c.Levels()) && slices.Equal(e.Targets, c.Targets) && slices.Equal(e.Scopes, c.Scopes) && e.AddPrefix == c.AddPrefix:
			e.roles.add(c.roles) // Keycloak joins the lists
			e.Claim = e.roles.claim(e.Claim)
			return false
		case equal && e.Scopes != nil && slices.Equal(e.Targets, c.Targets):
			if e.Scopes = append(e.Scopes, c.Scopes...); c.Scopes == nil {
				e.Scopes = nil
			}
			e.Scopes = slices.Compact(e.Scopes)
			return false
		default:
			taken = taken || !equal
			c.Targets = slices.DeleteFunc(slices.Clone(c.Targets), func(t string) bool { return slices.Contains(e.Targets, t) })
		}
	}
	if len(c.Targets) > 0 {
		a.list = append(a.list, c)
	}
	return taken
}

// valueOf returns a claim without what decides who gets it.
func valueOf(c schemas.Claim) schemas.Claim {
	c.Targets, c.Scopes = nil, nil
	return c
}

// noteConsent reports the scopes that an application with consent must request for the claims of default client scopes.
func (a *clientClaims) noteConsent() {
	defaults, _ := a.k.scopesOf(a.in)
	var names []string
	for _, c := range a.list {
		for _, s := range c.Scopes {
			if slices.Contains(defaults, s) && !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
	}
	if bool(a.in.Consent) && len(names) > 0 {
		a.r.add("clients", a.place, "users consent to what the application requests: it gets the claims of the default client scopes "+strings.Join(names, ", ")+" only if it requests them", "let the application request the scopes")
	}
}

// maxClaims is the number of claims that an application may have.
const maxClaims = 100

// finish gives the client its claims.
func (a *clientClaims) finish() {
	if len(a.list) > maxClaims {
		a.r.add("clients", a.place, fmt.Sprintf("the application gets the first %d of its %d claims", maxClaims, len(a.list)), "remove the mappers that it does not need")
		a.list = a.list[:maxClaims]
	}
	for _, c := range a.list {
		a.client.claims = append(a.client.claims, c.Claim)
	}
}

// reportOnce reports a finding about a client scope for the first of its clients only.
func (k *keycloak) reportOnce(r *Report, subject, place, problem, fix string) {
	if key := place + "\x00" + problem; subject == "clients" || !k.reported[key] {
		k.reported[key] = true
		r.add(subject, place, problem, fix)
	}
}

// reportScopes reports the client scopes that no imported client has, and limits to users with roles.
func (k *keycloak) reportScopes(r *Report) {
	for _, s := range k.realm.Scopes.List {
		if !k.usedScopes[s.Name] && !isStandardKeycloakScope(s.Name) {
			r.add("client scopes", "client scope "+s.Name, "no imported client has the client scope: it is not imported, with its mappers", "add it to scopeClaims of an application (docs/claims.md), if one needs it")
		}
	}
	limited := map[string]bool{}
	mappings := slices.Clone(k.realm.ScopeMappings)
	for _, client := range sortedKeys(k.realm.ClientScopeMappings) {
		mappings = append(mappings, k.realm.ClientScopeMappings[client]...)
	}
	for _, m := range mappings {
		if m.ClientScope != "" && m.ClientScope != "offline_access" && k.usedScopes[m.ClientScope] && !limited[m.ClientScope] {
			limited[m.ClientScope] = true
			r.add("client scopes", "client scope "+m.ClientScope, "users without the roles of the client scope get its claims as well", "check who may use the applications with it")
		}
	}
}
