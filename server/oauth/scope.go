package oauth

import (
	"context"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// systemScope is what the API and the tools ask for.
const systemScope = "system"

// openidScope makes an OAuth request one of OpenID Connect.
const openidScope = "openid"

// maxScopes bounds how many scopes one request may name.
const maxScopes = 100

// clientScope returns what a client is granted on its own behalf: all it asks
// for, or, where it does not say, all it is registered for.
func (p *Provider) clientScope(ctx context.Context, c *client, asked string) ([]string, error) {
	if asked == "" {
		return slices.DeleteFunc(slices.Clone(c.oauth.Scopes), isIdentityScope), nil
	}
	scopes, err := parseScope(asked)
	if err != nil {
		return nil, err
	}
	lacking := slices.DeleteFunc(slices.Clone(scopes), coveredBy(c.oauth.Scopes))
	if len(lacking) > 0 { // most clients ask for what they are registered with
		granted, err := p.Clients.ClientScopes(ctx, c.Application)
		if err != nil {
			return nil, err
		}
		lacking = slices.DeleteFunc(lacking, coveredBy(granted))
	}
	if len(lacking) > 0 {
		return nil, errorf(codeInvalidScope, "the client may not ask for the scope %s: register it, or assign the application a role that grants it", lacking[0])
	}
	if i := slices.IndexFunc(scopes, isIdentityScope); i >= 0 {
		return nil, errorf(codeInvalidScope, "the scope %s is about a user, and with client_credentials there is none", scopes[i])
	}
	return scopes, nil
}

// requestable returns those of the scopes asked for that the client may ask a user
// for: what it is registered with. The others are left out (RFC 6749 §3.3), and so
// is nothing asked for no mistake. A client that is registered with no scope at all
// may ask who the user is.
func (c *client) requestable(asked string) ([]string, error) {
	if asked == "" {
		return nil, nil
	}
	scopes, err := parseScope(asked)
	if err != nil {
		return nil, err
	}
	may := coveredBy(c.oauth.Scopes)
	if len(c.oauth.Scopes) == 0 {
		may = isFreeScope
	}
	return slices.DeleteFunc(scopes, func(scope string) bool { return !may(scope) }), nil
}

// userScope returns what of the scopes a token about a user carries now: of
// permissions what the user's roles grant, be it those or others below them.
func (p *Provider) userScope(ctx context.Context, userID string, scopes []string) ([]string, error) {
	if !slices.ContainsFunc(scopes, isPermission) {
		return scopes, nil
	}
	has, err := p.Authorization.Users.Permissions(ctx, userID)
	if err != nil {
		return nil, err
	}
	return schemas.GrantableScopes(scopes, has), nil
}

func isPermission(scope string) bool { return !isIdentityScope(scope) }

// coveredBy reports whether a scope is among others, or below one of them.
func coveredBy(scopes []string) func(string) bool {
	return func(scope string) bool {
		return slices.ContainsFunc(scopes, func(has string) bool { return schemas.CoversPermission(has, scope) })
	}
}

// parseScope reads a list of scopes (RFC 6749 §3.3), each of them once.
func parseScope(text string) ([]string, error) {
	var scopes []string
	for scope := range strings.SplitSeq(text, " ") {
		if !token.IsScope(scope) {
			return nil, errorf(codeInvalidScope, "expected scopes separated by single spaces, of printable ASCII characters without quotes and backslashes")
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
		if len(scopes) > maxScopes {
			return nil, errorf(codeInvalidScope, "there are more than %d scopes", maxScopes)
		}
	}
	return scopes, nil
}

// isIdentityScope reports whether a scope is about the user who signs in, and so
// needs no permission of theirs.
func isIdentityScope(scope string) bool {
	return slices.Contains(schemas.IdentityScopes(), scope)
}

// isFreeScope reports whether any client may ask a user for a scope: those of
// OpenID Connect Core §5.4 and §11. With the one for the account a client could
// add a passkey of its own to it, so that must be registered.
func isFreeScope(scope string) bool {
	return isIdentityScope(scope) && scope != schemas.AccountScope
}
