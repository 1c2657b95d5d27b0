package importer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// keycloakScopeMapping limits tokens to roles: those of a client whose tokens do not have all roles of the user, or of
// a client scope.
type keycloakScopeMapping struct {
	Client      string   `json:"client"`
	ClientScope string   `json:"clientScope"`
	Roles       []string `json:"roles"`
}

// roleSelection are the roles in a claim: those of the realm, and those of clients, by their names there.
type roleSelection struct {
	k       *keycloak
	of      *keycloakClient
	realm   bool
	clients []string
}

func (s *roleSelection) add(other *roleSelection) {
	s.realm = s.realm || other.realm
	s.clients = append(s.clients, other.clients...)
	slices.Sort(s.clients)
	s.clients = slices.Compact(s.clients)
}

// claim returns a claim with the roles. Those of clients lose the prefix that they have here.
func (s *roleSelection) claim(c schemas.Claim) schemas.Claim {
	c.Filter, c.Exclude, c.Prefix, c.RemovePrefix, c.Remove = strings.Join(s.allowed(), "|"), "", "", false, ""
	selected, others := s.k.prefixPatterns(s.clients)
	switch {
	case s.realm && c.Filter == "":
		c.Exclude = strings.Join(others, "|")
	case !s.realm && len(s.clients) == 1:
		c.Prefix, c.RemovePrefix = s.k.prefixes[s.clients[0]], true
		return c
	case !s.realm && c.Filter == "":
		c.Filter = strings.Join(selected, "|")
	}
	if len(s.clients) > 0 {
		c.Remove = "^(?:" + strings.ReplaceAll(strings.Join(selected, "|"), ".*", "") + ")"
	}
	return c
}

// prefixPatterns returns patterns of the names of the roles of some clients, and of all others.
func (k *keycloak) prefixPatterns(clients []string) (selected, others []string) {
	for _, client := range sortedKeys(k.prefixes) {
		pattern := regexp.QuoteMeta(k.prefixes[client]) + ".*"
		if slices.Contains(clients, client) {
			selected = append(selected, pattern)
		} else {
			others = append(others, pattern)
		}
	}
	return selected, others
}

// allowed returns patterns of the roles that tokens of the client may have; nil for all roles.
func (s *roleSelection) allowed() []string {
	if !isFalse(s.of.FullScope) {
		return nil
	}
	patterns := []string{}
	own, _ := s.k.prefixPatterns([]string{s.of.ClientID})
	if slices.Contains(s.clients, s.of.ClientID) {
		patterns = own
	}
	for _, key := range s.k.mappedRoles(s.of) {
		client := s.k.clientOf(key)
		if client == "" && s.realm || client != "" && client != s.of.ClientID && slices.Contains(s.clients, client) {
			patterns = append(patterns, regexp.QuoteMeta(key))
		}
	}
	return patterns
}

// clientOf returns the client of a role, by its name here; "" for a role of the realm.
func (k *keycloak) clientOf(key string) string {
	for client, prefix := range k.prefixes {
		if strings.HasPrefix(key, prefix) {
			return client
		}
	}
	return ""
}

// mappedRoles returns the roles that a client, or one of its client scopes, is mapped to, with those that they include.
func (k *keycloak) mappedRoles(in *keycloakClient) []string {
	defaults, optional := k.scopesOf(in)
	scopes := slices.Concat(defaults, optional)
	rolesOf := func(mappings []keycloakScopeMapping) (names []string) {
		for _, m := range mappings {
			if m.Client != "" && m.Client == in.ClientID || slices.Contains(scopes, m.ClientScope) {
				names = append(names, m.Roles...)
			}
		}
		return names
	}
	byClient := map[string][]string{}
	for _, client := range sortedKeys(k.realm.ClientScopeMappings) {
		byClient[client] = rolesOf(k.realm.ClientScopeMappings[client])
	}
	keys := k.roleKeys(rolesOf(k.realm.ScopeMappings), byClient)
	slices.Sort(keys)
	return keys
}

// convertRoles converts a mapper of the roles of the realm, or of clients.
func (k *keycloak) convertRoles(m keycloakMapper, in *keycloakClient) (out converted) {
	c := schemas.Claim{Source: "roles", OmitEmpty: true, AddPrefix: firstText(m.text("usermodel.realmRoleMapping.rolePrefix"), m.text("usermodel.clientRoleMapping.rolePrefix"))}
	if !m.is("multivalued", false) {
		c.First, c.OmitEmpty = true, false
	}
	if m.Kind == "oidc-usermodel-realm-role-mapper" {
		return out.addRoles(c, splitClaimName(m.text("claim.name")), &roleSelection{k: k, of: in, realm: true})
	}
	clients := sortedKeys(k.prefixes)
	if one := m.text("usermodel.clientRoleMapping.clientId"); isKeycloakClient(one) {
		return losing("the roles of the client %.60q are not imported: the claim %.80q is missing", "give administrative permissions here by hand (docs/migration.md)", one, m.text("claim.name"))
	} else if one != "" {
		clients = slices.DeleteFunc(clients, func(c string) bool { return c != one })
	}
	levels := splitClaimName(m.text("claim.name"))
	if !slices.ContainsFunc(levels, func(l string) bool { return strings.Contains(l, clientIDOfName) }) {
		return out.addRoles(c, levels, &roleSelection{k: k, of: in, clients: clients})
	}
	own := func(client string) bool { return client == in.ClientID }
	if i := slices.IndexFunc(clients, own); i > 0 { // first, as the number of claims is limited
		clients = slices.Insert(slices.Delete(clients, i, i+1), 0, in.ClientID)
	}
	for _, client := range clients {
		named := slices.Clone(levels)
		for i := range named {
			named[i] = strings.ReplaceAll(named[i], clientIDOfName, client)
		}
		out = out.addRoles(c, named, &roleSelection{k: k, of: in, clients: []string{client}})
	}
	return out
}

// clientIDOfName stands for the client ID in the name of a claim.
const clientIDOfName = "${client_id}"

// addRoles adds a claim with roles, unless it would have none.
func (out converted) addRoles(c schemas.Claim, levels []string, s *roleSelection) converted {
	limits := s.allowed()
	if !s.realm && len(s.clients) == 0 || limits != nil && len(limits) == 0 {
		return out
	}
	setName(&c, levels)
	c = s.claim(c)
	if len(c.Filter) > 2000 || len(c.Exclude) > 2000 || len(c.Remove) > 2000 {
		lost := losing("the claim %.80q is missing: it would need the names of too many roles or clients", "add it to the application with a filter of its own (docs/claims.md)", strings.Join(levels, "."))
		out.lost = append(out.lost, lost.lost...)
		return out
	}
	out.claims = append(out.claims, mappedClaim{Claim: c, roles: s})
	return out
}
