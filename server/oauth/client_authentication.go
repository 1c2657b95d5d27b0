package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/runs"
)

// credentials are what a client sends to authenticate (RFC 6749 §2.3): a secret, in the header or
// in the body, or an assertion. A public client sends its id alone.
type credentials struct {
	id, secret, assertion string
	basic                 bool // in the header
}

// authenticateClient returns the client of a request to the token, introspection or revocation
// endpoint, whose form readForm has read. An unknown client gets the same error as one with a wrong
// secret, after the same work.
func (p *Provider) authenticateClient(r *http.Request) (*client, error) {
	sent, err := readCredentials(r)
	if err != nil {
		return nil, p.recordRefusal(r.Context(), "client.refused", nil, err)
	}
	c, err := p.verifyCredentials(r.Context(), sent)
	if err == nil {
		logClient(r.Context(), c)
		return c, nil
	}
	if failed := p.recordRefusedClient(r.Context(), sent, err); failed != nil {
		return nil, errors.Join(err, failed)
	}
	return nil, err
}

// logClient adds a registered client to the log entry of a request.
func logClient(ctx context.Context, c *client) {
	e := runs.EntryOf(ctx)
	e.Client, e.Application = c.ClientID, c.ID
}

func (p *Provider) verifyCredentials(ctx context.Context, sent *credentials) (*client, error) {
	if sent.assertion != "" {
		return p.authenticateByKey(ctx, sent)
	}
	return p.authenticateBySecret(ctx, sent)
}

// readCredentials reads the credentials of a request, which must have them in exactly one way.
func readCredentials(r *http.Request) (*credentials, error) {
	form := r.PostForm
	sent := &credentials{id: form.Get("client_id"), secret: form.Get("client_secret"), assertion: form.Get("client_assertion")}
	id, secret, err := basicCredentials(r)
	if err != nil {
		return nil, err
	}
	ways := 0
	for _, used := range []bool{id != "", sent.secret != "", sent.assertion != ""} {
		if used {
			ways++
		}
	}
	switch {
	case ways > 1:
		return nil, errorf(codeInvalidRequest, "the client authenticates in more than one way: send either the header Authorization, or client_secret, or client_assertion in the body")
	case id != "" && sent.id != "" && sent.id != id:
		return nil, errorf(codeInvalidRequest, "the client_id in the body is not that of the header Authorization").refusing("client_id", sent.id)
	case (sent.assertion != "") != form.Has("client_assertion_type"):
		return nil, errClient(false, "client_assertion and client_assertion_type go together: one of them is missing").refusing("client_assertion_type", form.Get("client_assertion_type"))
	case sent.assertion != "" && form.Get("client_assertion_type") != assertionTypeJWT:
		return nil, errClient(false, "expected the client_assertion_type %s", assertionTypeJWT).refusing("client_assertion_type", form.Get("client_assertion_type"))
	case id == "" && sent.id == "" && sent.assertion == "":
		return nil, errClient(false, "the request does not identify the client; use HTTP Basic authentication, or send client_id and client_secret in the body")
	}
	if id != "" {
		sent.id, sent.secret, sent.basic = id, secret, true
	}
	return sent, nil
}

// basicCredentials returns the client id and secret of HTTP Basic authentication, "" without it.
// Both are form-encoded (RFC 6749 §2.3.1).
func basicCredentials(r *http.Request) (id, secret string, err error) {
	fields := r.Header.Values("Authorization")
	if len(fields) == 0 {
		return "", "", nil
	}
	user, password, ok := r.BasicAuth()
	if len(fields) > 1 || !ok {
		return "", "", errClient(true, "expected one header Authorization: Basic <client_id:client_secret in base64>")
	}
	id, badID := url.QueryUnescape(user)
	secret, badSecret := url.QueryUnescape(password)
	switch {
	case badID != nil || badSecret != nil:
		return "", "", errClient(true, "a percent sign in the credentials does not begin an escape: form-encode client_id and client_secret before joining them (RFC 6749 section 2.3.1)")
	case id == "" || secret == "":
		return "", "", errClient(true, "the header Authorization lacks the client_id or the client_secret")
	}
	return id, secret, nil
}

func (p *Provider) authenticateBySecret(ctx context.Context, sent *credentials) (*client, error) {
	if err := p.refreshClient(ctx, sent.id, false); err != nil {
		return nil, asInvalidClient(err)
	}
	app, err := p.Clients.Client(ctx, sent.id)
	unknown := schemas.HasClass(err, schemas.NotFound)
	if err != nil && !unknown {
		return nil, err
	}
	if unknown || app.OAuth() == nil {
		app = p.unknownClient
	}
	c := &client{app, app.OAuth()}
	if c.isPublic() && sent.secret == "" {
		return c, nil
	}
	if !p.Clients.CheckSecret(app, sent.secret) {
		return nil, errClient(sent.basic, "there is no such client, or this is not its secret")
	}
	used := schemas.AuthMethodPost
	if sent.basic {
		used = schemas.AuthMethodBasic
	}
	if registered := c.oauth.TokenEndpointAuthMethod; registered != schemas.AuthMethodEither && used != registered {
		return nil, errMethod(sent.basic, used, registered)
	}
	return c, nil
}
