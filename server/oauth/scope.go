package oauth

import (
	"context"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// systemScope is the scope of the API and the tools.
const systemScope = "system"

// openidScope makes a request one of OpenID Connect.
const openidScope = "openid"

// offlineScope requests tokens that outlive the session (OpenID Connect Core §11).
const offlineScope = "offline_access"

// maxScopes limits how many scopes one request can name.
const maxScopes = 100

// clientScope returns the scopes that a client gets on its own behalf: the requested ones, or all
// registered ones.
func (p *Provider) clientScope(ctx context.Context, c *client, asked string) ([]string, error) {
	identity, err := p.Clients.IdentityScopes(ctx, c.oauth)
	if err != nil {
		return nil, err
	}
	isIdentity := func(scope string) bool { return slices.Contains(identity, scope) }
	if asked == "" {
		return slices.DeleteFunc(slices.Clone(c.oauth.Scopes), isIdentity), nil
	}
	scopes, err := parseScope(asked)
	if err != nil {
		return nil, err
	}
	lacking := slices.DeleteFunc(slices.Clone(scopes), coveredBy(c.oauth.Scopes))
	if len(lacking) > 0 { // most clients request their registered scopes
		granted, err := p.Clients.ClientScopes(ctx, c.Application)
		if err != nil {
			return nil, err
		}
		lacking = slices.DeleteFunc(lacking, coveredBy(granted))
	}
	if len(lacking) > 0 {
		return nil, errorf(codeInvalidScope, "the client may not request the scope %s: add it to the scopes of the application, or assign the application a role that grants it", shownValue(lacking[0])).refusing("scope", lacking[0])
	}
	if i := slices.IndexFunc(scopes, isIdentity); i >= 0 {
		return nil, errorf(codeInvalidScope, "the scope %s is about a user, but a token of client_credentials has no user", scopes[i]).refusing("scope", scopes[i])
	}
	return scopes, nil
}

// requestable returns the scopes that the client may request of a user: its registered scopes, and those that it
// declares. Others are left out (RFC 6749 §3.3). A client without registered scopes may request the user's
// identity. The identity scopes are those of the client.
func (c *client) requestable(scopes, identity []string) []string {
	own, may := c.oauth.OwnScopes(), coveredBy(c.oauth.Scopes)
	if len(c.oauth.Scopes) == 0 {
		// The scope account, with which a client can add passkeys, must be registered.
		may = func(scope string) bool { return slices.Contains(identity, scope) && scope != schemas.AccountScope }
	}
	return slices.DeleteFunc(slices.Clone(scopes), func(scope string) bool { return !may(scope) && !slices.Contains(own, scope) })
}

// userScope returns the scopes of a token about a user now: of permissions those that the user's
// roles grant, or below them.
func (p *Provider) userScope(ctx context.Context, userID string, scopes, identity []string) ([]string, error) {
	if !slices.ContainsFunc(scopes, func(scope string) bool { return !slices.Contains(identity, scope) }) {
		return scopes, nil
	}
	has, err := p.Store.Permissions(ctx, userID)
	if err != nil {
		return nil, err
	}
	return schemas.GrantableScopes(scopes, has, identity), nil
}

// coveredBy reports whether a scope is among others, or below one of them.
func coveredBy(scopes []string) func(string) bool {
	return func(scope string) bool {
		return slices.ContainsFunc(scopes, func(has string) bool { return schemas.CoversPermission(has, scope) })
	}
}

// parseScope reads a list of scopes (RFC 6749 §3.3), each once. An empty text has none.
func parseScope(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var scopes []string
	for scope := range strings.SplitSeq(text, " ") {
		if !token.IsScope(scope) {
			return nil, errorf(codeInvalidScope, "expected scopes separated by single spaces, of printable ASCII characters without quotes and backslashes").refusing("scope", scope)
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
		if len(scopes) > maxScopes {
			return nil, errorf(codeInvalidScope, "there are more than %d scopes", maxScopes).refusing("scope", "")
		}
	}
	return scopes, nil
}

// consentedScope returns the scopes that a client may have now, if it needs consent, and the consent: none after the
// user has revoked it.
func (p *Provider) consentedScope(ctx context.Context, c *client, userID string, scopes, identity []string) ([]string, *schemas.Consent, error) {
	if !c.AsksConsent() {
		return scopes, nil, nil
	}
	consent, err := p.Store.Consent(ctx, userID, c.ID)
	if err != nil {
		return nil, nil, err
	}
	if consent == nil {
		return nil, nil, errorf(codeInvalidGrant, "the user has withdrawn the consent for this client: ask for consent again")
	}
	return consent.Restrict(scopes, identity), consent, nil
}

// approvedScope returns the scopes that a client may have after the user's approval in the
// authorization request. Without it an untrusted client gets no permission of this API, whatever
// the flow was.
func (c *client) approvedScope(scopes, approved []string) []string {
	if c.IsTrusted() {
		return scopes
	}
	others := slices.DeleteFunc(slices.Clone(scopes), schemas.IsManagementScope)
	return append(others, schemas.SharedPermissions(schemas.ManagementScopes(scopes), approved)...)
}
