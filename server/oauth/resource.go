package oauth

import (
	"context"
	"net/url"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// maxResources limits how many resources one request can name: each is looked up.
const maxResources = 8

// audience returns the audience of a token: the requested resources (RFC 8707), otherwise this
// server. A token with the scope system and without a resource is for the API and for the tools.
func (p *Provider) audience(ctx context.Context, scope, resources []string) ([]string, error) {
	if len(resources) == 0 {
		if slices.Contains(scope, systemScope) {
			return []string{p.Issuer, p.Issuer + ToolsPath}, nil
		}
		return []string{p.Issuer}, nil
	}
	if len(resources) > maxResources {
		return nil, errorf(codeInvalidTarget, "there are more than %d resources", maxResources).refusing("resource", "")
	}
	var audience []string
	for _, resource := range resources {
		resource, err := p.findResource(ctx, resource)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(audience, resource) {
			audience = append(audience, resource)
		}
	}
	return audience, nil
}

// userAudience returns the audience of a token of a user. Without a requested resource it is the
// client alone, unless the token has scopes that only this server uses: otherwise a token that any
// client can get could change the user's account.
func (p *Provider) userAudience(ctx context.Context, c *client, scope, resources []string) ([]string, error) {
	ours := func(scope string) bool { return schemas.CoversPermission(systemScope, scope) }
	if len(resources) == 0 && !slices.ContainsFunc(scope, ours) {
		return []string{c.ClientID}, nil
	}
	return p.audience(ctx, scope, resources)
}

// narrowResources returns the requested resources among those of the authorization request (RFC
// 8707 §2.2).
func narrowResources(authorized, asked []string) ([]string, error) {
	if len(asked) == 0 {
		return authorized, nil
	}
	if len(authorized) == 0 {
		return asked, nil
	}
	var narrowed []string
	for _, resource := range asked {
		if slices.Contains(authorized, resource) {
			narrowed = append(narrowed, resource)
			continue
		}
		same := schemas.ComparableURL(resource)
		i := slices.IndexFunc(authorized, func(a string) bool { return schemas.ComparableURL(a) == same })
		if i < 0 {
			return nil, errorf(codeInvalidTarget, "the resource is not one that the authorization request named").refusing("resource", resource)
		}
		narrowed = append(narrowed, authorized[i])
	}
	return narrowed, nil
}

// findResource returns the identifier, as it is registered, of a resource that tokens are issued for. Clients
// spell it in several ways: some add a slash to an address without a path.
func (p *Provider) findResource(ctx context.Context, resource string) (registered string, err error) {
	u, err := url.Parse(resource)
	if err != nil || !u.IsAbs() || u.Fragment != "" || u.RawFragment != "" || resource[len(resource)-1] == '#' {
		return "", errorf(codeInvalidTarget, "resource must be an absolute URI without a fragment (RFC 8707 section 2)").refusing("resource", resource)
	}
	for _, own := range []string{p.Issuer, p.Issuer + ToolsPath} {
		if schemas.ComparableURL(resource) == schemas.ComparableURL(own) {
			return own, nil
		}
	}
	registered, err = p.Clients.Resource(ctx, resource)
	if err != nil {
		return "", err
	}
	if registered == "" {
		return "", errorf(codeInvalidTarget, "the resource is unknown here: expected %s, %s, or the identifier of a resource server", p.Issuer, p.Issuer+ToolsPath).refusing("resource", resource)
	}
	return registered, nil
}

// isOwnAudience reports whether an audience is this server: its API, or the tools.
func (p *Provider) isOwnAudience(audience string) bool {
	return audience == p.Issuer || audience == p.Issuer+ToolsPath
}
