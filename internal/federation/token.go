package federation

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// tokens are the tokens that a provider returns for a code.
type tokens struct{ id, access string }

// redeem exchanges the code for tokens: OpenID Connect Core §3.1.3.
func (c *Client) redeem(ctx context.Context, m *metadata, p *schemas.IdentityProvider, k signInState, code string) (*tokens, error) {
	req, err := tokenRequest(m, p, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {k.RedirectURI}, "code_verifier": {k.Verifier},
	})
	if err != nil {
		return nil, err
	}
	reply, err := c.requester.Do(ctx, req)
	if err != nil {
		return nil, unreachable("the provider's token endpoint", err)
	}
	if reply.Status >= http.StatusInternalServerError {
		return nil, failf(CheckReachable, "the provider's token endpoint answered with the status %d", reply.Status)
	}
	answer, err := readObject(reply.Body)
	switch {
	case reply.Status != http.StatusOK && err == nil:
		return nil, failf(CheckToken, "the provider rejected the code: status %d, error %s", reply.Status, cmp.Or(errorCode(answer.text("error")), "(none)"))
	case reply.Status != http.StatusOK:
		return nil, failf(CheckToken, "the provider rejected the code: status %d", reply.Status)
	case err != nil:
		return nil, failf(CheckToken, "the response of the provider's token endpoint: %v", err)
	case answer.text("id_token") == "":
		return nil, failf(CheckToken, "the provider returned no id_token: does it allow this client the scope openid?")
	}
	return &tokens{id: answer.text("id_token"), access: answer.text("access_token")}, nil
}

// tokenRequest builds the token request with client authentication.
func tokenRequest(m *metadata, p *schemas.IdentityProvider, form url.Values) (*http.Request, error) {
	basic := p.TokenEndpointAuthMethod == schemas.AuthMethodBasic || p.TokenEndpointAuthMethod == "" && p.ClientSecret != ""
	if !basic {
		form.Set("client_id", p.ClientID)
		if p.TokenEndpointAuthMethod == schemas.AuthMethodPost {
			form.Set("client_secret", p.ClientSecret)
		}
	}
	req, err := http.NewRequest(http.MethodPost, m.token, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, failf(CheckMetadata, "the provider's token endpoint is invalid")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if basic { // form-encoded first: RFC 6749 §2.3.1
		req.SetBasicAuth(url.QueryEscape(p.ClientID), url.QueryEscape(p.ClientSecret))
	}
	return req, nil
}
