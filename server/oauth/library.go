package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/postern-id/postern/internal/document"
)

// exchange is a request to the token endpoint while the library serves it. Errors go around the
// library, which would lose their status and header fields.
type exchange struct {
	client *client
	form   url.Values
	err    error
}

type exchangeKey struct{}

// serveGrant lets the library decode the parameters, call the method of the grant and write the
// reply.
func (p *Provider) serveGrant(w http.ResponseWriter, r *http.Request, c *client) error {
	x := &exchange{client: c, form: r.PostForm}
	kept := &document.HeldReply{ResponseWriter: w, Holds: func(status int, _ http.Header) bool { return status >= http.StatusBadRequest }}
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	r.Form = maps.Clone(r.PostForm)
	if !r.Form.Has("redirect_uri") {
		r.Form.Set("redirect_uri", "none") // required by the library, and optional in OAuth 2.1
	}
	p.protocol.ServeHTTP(kept, r)
	if x.err == nil && kept.Status != 0 {
		return refusedByLibrary(kept, r.PostForm.Get("grant_type"))
	}
	return x.err
}

// refusedByLibrary returns the error that the library found itself: a grant type that the client is
// not registered for, or a missing parameter.
func refusedByLibrary(reply *document.HeldReply, grantType string) error {
	var refused Error
	err := json.Unmarshal(reply.Body.Bytes(), &refused)
	switch {
	case err != nil || refused.Code == "" || refused.Code == codeServerError:
		return fmt.Errorf("zitadel/oidc answered %d: %.200s", reply.Status, reply.Body.Bytes())
	case refused.Code == codeInvalidClient:
		return errClient(false, "%s", refused.Description)
	}
	return errorf(refused.Code, "%s", refused.Description).refusing("grant_type", grantType)
}

// libraryServer is the token endpoint of the library. Provider.Token has authenticated the client.
type libraryServer struct {
	op.UnimplementedServer
	provider *Provider
}

// VerifyClient returns the authenticated client.
func (g *libraryServer) VerifyClient(ctx context.Context, _ *op.Request[op.ClientCredentials]) (op.Client, error) {
	return grantClient{client: ctx.Value(exchangeKey{}).(*exchange).client}, nil
}

// CodeExchange is the grant authorization_code.
func (g *libraryServer) CodeExchange(ctx context.Context, _ *op.ClientRequest[oidc.AccessTokenRequest]) (*op.Response, error) {
	return answerGrant(ctx, g.provider.exchangeCode)
}

// RefreshToken is the grant refresh_token.
func (g *libraryServer) RefreshToken(ctx context.Context, _ *op.ClientRequest[oidc.RefreshTokenRequest]) (*op.Response, error) {
	return answerGrant(ctx, g.provider.refresh)
}

// ClientCredentialsExchange is the grant client_credentials.
func (g *libraryServer) ClientCredentialsExchange(ctx context.Context, _ *op.ClientRequest[oidc.ClientCredentialsRequest]) (*op.Response, error) {
	return answerGrant(ctx, g.provider.issueToClient)
}

func answerGrant(ctx context.Context, issue func(context.Context, *client, url.Values) (*oidc.AccessTokenResponse, error)) (*op.Response, error) {
	x := ctx.Value(exchangeKey{}).(*exchange)
	reply, err := issue(ctx, x.client, x.form)
	if err != nil {
		x.err = err
		return nil, oidc.ErrInvalidRequest()
	}
	return op.NewResponse(reply), nil
}

// grantClient has the methods of op.Client that the library calls for the grants above.
type grantClient struct {
	op.Client
	client *client
}

// GrantTypes returns the registered ones.
func (c grantClient) GrantTypes() (list []oidc.GrantType) {
	for _, name := range c.client.oauth.GrantTypes {
		list = append(list, oidc.GrantType(name))
	}
	return list
}

// AuthMethod is none for a public client, which the library refuses client_credentials.
func (c grantClient) AuthMethod() oidc.AuthMethod {
	if c.client.isPublic() {
		return oidc.AuthMethodNone
	}
	return oidc.AuthMethodBasic
}
