package federation

import (
	"context"
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// readUserinfo adds the claims of the userinfo endpoint to a verified identity: OpenID Connect Core §5.3. An
// endpoint that does not reply fails the sign-in, as the token endpoint does: a sign-in with fewer claims would
// remove attributes and memberships.
func (c *Client) readUserinfo(ctx context.Context, m *metadata, access string, id *Identity) error {
	switch {
	case m.userinfo == "":
		return failf(CheckMetadata, "the mapping reads userinfo, but the provider's metadata has no valid userinfo_endpoint")
	case access == "":
		return failf(CheckToken, "the mapping reads userinfo, but the provider returned no access token")
	}
	req, err := http.NewRequest(http.MethodGet, m.userinfo, nil)
	if err != nil {
		return failf(CheckMetadata, "the provider's userinfo endpoint is invalid")
	}
	req.Header.Set("Authorization", "Bearer "+access)
	req.Header.Set("Accept", "application/json")
	reply, err := c.requester.Do(ctx, req)
	switch {
	case err != nil:
		return unreachable("the provider's userinfo endpoint", err)
	case reply.Status != http.StatusOK:
		return failf(CheckReachable, "the provider's userinfo endpoint answered with the status %d", reply.Status)
	}
	claims, err := readObject(reply.Body)
	if err != nil {
		return failf(CheckUserinfo, "the response of the provider's userinfo endpoint: %v", err)
	}
	// Otherwise the access token of another user could be exchanged for this one's claims (§5.3.2, §16.11).
	if claims.text("sub") != id.Subject {
		return failf(CheckUserinfo, "the sub of userinfo is not that of the ID token")
	}
	id.Statement.Userinfo = Document(claims)
	return nil
}

// reads reports whether the mapping of a provider needs userinfo.
func reads(p *schemas.IdentityProvider) bool { return !p.Mapping.IsZero() && p.Mapping.Userinfo }
