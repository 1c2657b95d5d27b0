package importer

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// keycloakMapper adds claims to tokens (https://www.keycloak.org/docs/latest/server_admin/#_protocol-mappers).
type keycloakMapper struct {
	Name     string               `json:"name"`
	Protocol string               `json:"protocol"`
	Kind     string               `json:"protocolMapper"`
	Config   map[string]looseText `json:"config"`
}

func (m keycloakMapper) text(name string) string { return string(m.Config[name]) }

func (m keycloakMapper) is(name string, byDefault bool) bool {
	if text := m.text(name); text != "" {
		return text == "true"
	}
	return byDefault
}

// targets returns the documents that contain the claims of a mapper. Exports of older releases lack the newer
// members: userinfo had the claims of the ID token, and introspection those of the access token.
func (m keycloakMapper) targets(in *keycloakClient) (targets []string) {
	id, access := m.is("id.token.claim", false), m.is("access.token.claim", m.Kind == "oidc-allowed-origins-mapper")
	inToken := access
	if in.Attributes.Lightweight == "true" {
		inToken = m.is("lightweight.claim", false)
	}
	for _, t := range []struct {
		name string
		has  bool
	}{{claims.IDToken, id}, {claims.UserInfo, m.is("userinfo.token.claim", id)}, {claims.AccessToken, inToken}, {claims.Introspection, m.is("introspection.token.claim", access)}} {
		// The reply of introspection has these members of its own.
		isMember := slices.Contains([]string{"username", "active", "token_type"}, strings.ToLower(m.text("claim.name")))
		if t.has && !(t.name == claims.Introspection && isMember) {
			targets = append(targets, t.name)
		}
	}
	return targets
}

// dotOfName matches the dots of the name of a claim that nest it, and any escaped character.
var dotOfName = regexp.MustCompile(`\\.|\.`)

// splitClaimName returns the names of the levels of a claim. Dots nest it, except after a backslash.
func splitClaimName(name string) (levels []string) {
	level, last := "", 0
	for _, at := range dotOfName.FindAllStringIndex(name, -1) {
		level += name[last:at[0]]
		if last = at[1]; name[at[0]] == '.' {
			levels, level = append(levels, level), ""
			continue
		}
		level += name[at[0]+1 : at[1]]
	}
	return append(levels, level+name[last:])
}

// setName names a claim.
func setName(c *schemas.Claim, levels []string) {
	c.Name, c.Path = strings.Join(levels, "."), nil
	if !slices.Equal(c.Levels(), levels) {
		c.Name, c.Path = "", levels
	}
}

// converted is what a mapper becomes: claims, and what is lost.
type converted struct {
	claims []mappedClaim
	lost   []note
}

func losing(problem, fix string, values ...any) converted {
	return converted{lost: []note{{"", fmt.Sprintf(problem, values...), fix}}}
}

func claiming(list ...schemas.Claim) (out converted) {
	for _, c := range list {
		out.claims = append(out.claims, mappedClaim{Claim: c})
	}
	return out
}

const ownClaim = "add a claim of another source to the application, such as an expression (docs/claims.md)"

// convertMapper converts a mapper. Claims without a name get that of the mapper.
func (k *keycloak) convertMapper(m keycloakMapper, in *keycloakClient) converted {
	if len(m.targets(in)) == 0 && m.Kind != "oidc-audience-resolve-mapper" && m.Config["claim.name"] != "" {
		return converted{}
	}
	out := k.convertKind(m, in)
	levels := splitClaimName(m.text("claim.name"))
	for i := range out.claims {
		c := &out.claims[i]
		if c.Name == "" && len(c.Path) == 0 {
			setName(&c.Claim, levels)
		}
		if first := c.Levels()[0]; schemas.IsProtocolClaim(first) {
			return losing("the claim %.60q belongs to the protocol, and only the server sets it", "let the application read another claim, such as preferred_username", first)
		}
		if levels := c.Levels(); len(levels) > 5 || slices.ContainsFunc(levels, func(l string) bool { return strings.TrimSpace(l) == "" }) {
			return losing("the name of the claim, %.80q, cannot be used here: expected one to five levels with names", "give the claim another name", strings.Join(levels, "."))
		}
	}
	return out
}

// convertKind converts a mapper by its kind.
func (k *keycloak) convertKind(m keycloakMapper, in *keycloakClient) converted {
	switch m.Kind {
	case "oidc-usermodel-attribute-mapper", "oidc-usermodel-property-mapper":
		return convertAttribute(m)
	case "oidc-full-name-mapper":
		return claiming(schemas.Claim{Name: "name", Source: "attribute"})
	case "oidc-address-mapper":
		return claiming(schemas.Claim{Name: "address", Source: "attribute"})
	case "oidc-usermodel-realm-role-mapper", "oidc-usermodel-client-role-mapper":
		return k.convertRoles(m, in)
	case "oidc-group-membership-mapper":
		return convertGroups(m)
	case "oidc-hardcoded-claim-mapper":
		return convertConstant(m)
	case "oidc-allowed-origins-mapper":
		return convertOrigins(in)
	case "oidc-audience-mapper":
		return convertAudience(m, in)
	case "oidc-audience-resolve-mapper":
		return k.convertAudiences()
	case "oidc-usersessionmodel-note-mapper":
		return convertNote(m)
	case "oidc-hardcoded-role-mapper":
		return losing("tokens do not have the role %.80q, which not every user has", "assign the role to the users of the application, or to a group of them", m.text("role"))
	case "oidc-role-name-mapper":
		return losing("the role %.80q keeps its name in tokens, instead of %.80q", "rename the role after the import", m.text("role"), m.text("new.role.name"))
	case "oidc-sub-mapper", "oidc-acr-mapper", "oidc-amr-mapper", "oidc-claims-param-token-mapper", "oidc-claims-param-value-idtoken-mapper":
		return converted{} // so it is here
	case "oidc-session-state-mapper":
		return losing("tokens do not have the claim session_state", "let the application read sid")
	case "oidc-nonce-backwards-compatible-mapper":
		return losing("access tokens do not have the nonce", "let the application read it from the ID token")
	case "oidc-sha256-pairwise-sub-mapper":
		return losing("the sub of a user is the same for all applications, and not the one that the application knows (pairwise)", "let the application replace the former sub, for example by the mail address; the formula is in the manual of Keycloak")
	case "oidc-organization-membership-mapper", "oidc-organization-group-membership-mapper":
		return k.convertOrganization()
	}
	if strings.HasPrefix(m.Kind, "script-") || strings.HasPrefix(m.Kind, "oidc-script-based") {
		return losing("scripts are not run: the claim %.80q is missing", "add a claim with an expression in CEL to the application (docs/claims.md)", m.text("claim.name"))
	}
	return losing("a mapper of the kind %.60q is not known: the claim %.80q is missing", ownClaim, m.Kind, m.text("claim.name"))
}

// keycloakProperty returns the attribute of a user with the content of a property or an attribute in Keycloak.
func keycloakProperty(name string) string {
	properties := map[string]string{"firstName": "given_name", "lastName": "family_name", "emailVerified": "email_verified"}
	return firstText(properties[name], keycloakAttribute(name))
}

func convertAttribute(m keycloakMapper) converted {
	name := m.text("user.attribute")
	switch {
	case name == "":
		return losing("the mapper has no attribute", "name one in the product, or remove the mapper")
	case m.Kind == "oidc-usermodel-property-mapper" && name == "id":
		return claiming(schemas.Claim{Source: "expression", Expression: "user.id"})
	case m.Kind == "oidc-usermodel-property-mapper" && (name == "createdTimestamp" || name == "federationLink" || name == "serviceAccountClientLink"):
		return losing("the property %.60q of users is not imported: the claim %.80q is missing", ownClaim, name, m.text("claim.name"))
	case m.Kind == "oidc-usermodel-property-mapper" && name == "enabled":
		return claiming(schemas.Claim{Source: "constant", Value: "true", Type: "boolean"}) // others get no tokens
	}
	c := schemas.Claim{Source: "attribute", Attribute: keycloakProperty(name)}
	if levels := splitClaimName(m.text("claim.name")); levels[len(levels)-1] == c.Attribute {
		c.Attribute = ""
	}
	out := converted{}
	kind := m.text("jsonType.label")
	switch {
	case m.is("multivalued", false):
		if c.Type = "list"; kind != "" && kind != "String" {
			out.lost = append(out.lost, note{"", fmt.Sprintf("the items of the claim %.80q have the type of the attribute, and not %s", m.text("claim.name"), kind), "give the items of the attribute this type in the user type"})
		}
	case isStandardAttribute(keycloakProperty(name)) && (kind == "" || kind == "String" || kind == "boolean" && strings.HasSuffix(keycloakProperty(name), "_verified")):
	default:
		c.First, c.Type = true, claimType(kind)
	}
	if m.is("aggregate.attrs", false) {
		out.lost = append(out.lost, note{"", fmt.Sprintf("the claim %.80q does not have the values of the user's groups (aggregate.attrs): groups have no attributes", m.text("claim.name")), "set the attribute of the users, or use roles"})
	}
	out.claims = []mappedClaim{{Claim: c}}
	return out
}

// isStandardAttribute reports whether an attribute has one text, or the type of the standard claim.
func isStandardAttribute(name string) bool {
	return slices.ContainsFunc([]string{"profile", "email", "phone"}, func(scope string) bool {
		return slices.Contains(claims.ReleasedBy(&schemas.OAuthProfile{}, scope), name) && name != schemas.UpdatedAt
	})
}

// claimType returns the type of a claim for a type of Keycloak.
func claimType(label string) string {
	switch label {
	case "long", "int":
		return "number"
	case "boolean":
		return "boolean"
	case "JSON":
		return "object"
	}
	return "string"
}

// convertGroups converts a mapper of the groups that have a user as a direct member. The names of imported groups are
// their paths.
func convertGroups(m keycloakMapper) converted {
	c := schemas.Claim{Source: "groups", Direct: true}
	if m.is("full.path", false) {
		c.AddPrefix = "/"
	} else {
		c.Remove = ".*/"
	}
	return claiming(c)
}

// convertConstant converts a mapper with a fixed value. A list in JSON is an expression in CEL as it is.
func convertConstant(m keycloakMapper) converted {
	text, kind := m.text("claim.value"), m.text("jsonType.label")
	c := schemas.Claim{Source: "constant", Value: text}
	var items []any
	switch {
	case text == "" || len(text) > 2000:
		return losing("the value of the claim %.80q is empty, or longer than 2000 bytes", "set a shorter value in the product", m.text("claim.name"))
	case kind == "JSON" && json.Unmarshal([]byte(text), &items) == nil:
		return claiming(schemas.Claim{Source: "expression", Expression: text})
	case kind != "" && kind != "String":
		c.Type = claimType(kind)
	}
	return claiming(c)
}

// convertOrigins converts the mapper of the web origins of a client: + are those of its redirect URIs.
func convertOrigins(in *keycloakClient) converted {
	var origins []string
	add := func(origin string) {
		if origin != "" && !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	for _, origin := range in.WebOrigins {
		if origin != "+" {
			add(origin)
			continue
		}
		for _, uri := range in.RedirectURIs {
			if u, err := url.Parse(keycloakURI(in.RootURL, strings.TrimRight(uri, "*"))); err == nil && u.Host != "" {
				add(u.Scheme + "://" + u.Host)
			}
		}
	}
	if len(origins) == 0 {
		return converted{}
	}
	return claiming(schemas.Claim{Name: "allowed-origins", Source: "constant", Value: strings.Join(origins, " "), Type: "list", Separator: " "})
}

func convertAudience(m keycloakMapper, in *keycloakClient) converted {
	audience := firstText(m.text("included.client.audience"), m.text("included.custom.audience"))
	if audience == "" || audience == in.ClientID || !m.is("access.token.claim", true) && !m.is("id.token.claim", false) {
		return converted{}
	}
	return losing("access tokens do not have the audience %.80q", "create a resource server with this identifier, and let the application request it with the parameter resource (docs/connect.md)", audience)
}

// convertAudiences reports that clients in which a user has roles are no audiences.
func (k *keycloak) convertAudiences() converted {
	if len(k.prefixes) == 0 {
		return converted{}
	}
	return losing("access tokens do not have the clients in which the user has roles as audiences", "create a resource server for each API that checks its audience, and let the applications request it with the parameter resource (docs/connect.md)")
}

// convertOrganization reports the claim of organizations, if the realm has any.
func (k *keycloak) convertOrganization() converted {
	if !k.has("organizations") {
		return converted{}
	}
	return losing("tokens do not have the organizations of the user", "create organization units, and let the application request the scope organization (docs/claims.md)")
}

// convertNote reports a value of the session. The time of the sign-in is in every ID token and access token.
func convertNote(m keycloakMapper) converted {
	switch value := m.text("user.session.note"); value {
	case "AUTH_TIME":
		return converted{}
	case "client_id", "clientId", "clientHost", "clientAddress":
		return losing("tokens of an application on its own behalf do not have %.60q", "use client_id; the address of the client is in the access log", value)
	default:
		return losing("sessions have no notes: the claim %.80q from %.60q is missing", "add a claim with a value of the run, the source run, to the application (docs/claims.md)", m.text("claim.name"), value)
	}
}
