package claims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Claims of resource servers
//
// A resource server decides by the claims of its access tokens what a user may do. So an application cannot set a claim
// with the name of one of them in a token for that resource server, whether the claim is released or not. Of two
// resource servers of one token with the same name, neither gets the claim.

// serverTargets are the targets of the claims of a resource server.
func serverTargets() []string { return []string{AccessToken, Introspection} }

// withServerTargets returns a claim of a resource server with its targets.
func withServerTargets(c schemas.Claim) schemas.Claim {
	if c.Targets == nil {
		c.Targets = serverTargets()
	}
	return c
}

// reserve keeps the names of the claims of resource servers from the application.
func (s *Set) reserve(servers []schemas.ResourceServer) {
	for _, server := range servers {
		for _, c := range server.Claims {
			s.reserved = append(s.reserved, withServerTargets(c))
		}
	}
}

// addServers adds the claims of resource servers.
func (s *Set) addServers(servers []schemas.ResourceServer) {
	for i, server := range servers {
		others := slices.Delete(slices.Clone(servers), i, i+1)
		for _, c := range server.Claims {
			c = withServerTargets(c)
			source, levels := FindSource(c.Source), c.Levels()
			if source == nil || schemas.IsProtocolClaim(levels[0]) || isDeclaredBy(others, levels) {
				continue
			}
			s.claims = append(s.claims, declared{Claim: c, source: source, levels: levels, targets: c.Targets, consented: s.asksConsent, server: server.Handle})
		}
	}
}

// isDeclaredBy reports whether resource servers have a claim with a name, or inside or around it.
func isDeclaredBy(servers []schemas.ResourceServer, levels []string) bool {
	return slices.ContainsFunc(servers, func(s schemas.ResourceServer) bool {
		return slices.ContainsFunc(s.Claims, func(c schemas.Claim) bool { return Overlap(c.Levels(), levels) })
	})
}

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(one string) bool { return slices.Contains(others, one) })
}

// CheckServer returns the problems of the claims of a resource server.
func CheckServer(s *schemas.ResourceServer) (found []schemas.Problem) {
	list := make([]schemas.Claim, len(s.Claims))
	for i := range s.Claims {
		list[i] = withServerTargets(s.Claims[i])
	}
	note := func(path, message string, args ...any) {
		found = append(found, schemas.Problem{Path: path, Message: fmt.Sprintf(message, args...)})
	}
	checkList(list, false, note)
	for i := range list {
		checkServerClaim(s, &list[i], func(member, message string, args ...any) {
			note(fmt.Sprintf("claims[%d].%s", i, member), message, args...)
		})
	}
	return found
}

// checkServerClaim checks what differs from the claim of an application.
func checkServerClaim(s *schemas.ResourceServer, c *schemas.Claim, note func(member, message string, args ...any)) {
	if others := without(c.Targets, serverTargets()); len(others) > 0 {
		note("targets", "a resource server gets access tokens; expected %s, got %q", strings.Join(serverTargets(), " and "), others)
	}
	if len(readsOfRun(c)) > 0 {
		note("source", "a run belongs to an application, whose claims can read its values; use another source")
	}
	if c.Authoritative && c.Source == "attribute" {
		note("authoritative", "only a claim of an application can be checked for what its users set; use groups, roles or permissions, or remove it")
	}
	for i, scope := range c.Scopes {
		if !slices.Contains(s.Permissions, scope) {
			note(fmt.Sprintf("scopes[%d]", i), "expected a permission of this resource server, got %.64q", scope)
		}
	}
}
