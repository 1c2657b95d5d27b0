package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Backchannel notifies clients of ended sessions: OpenID Connect Back-Channel Logout 1.0. It sends
// deliveries of the kind schemas.LogoutDelivery.
type Backchannel struct {
	// Application returns an application with its OAuth configuration. If there is none the error
	// has Class NotFound.
	Application func(ctx context.Context, id string) (*schemas.Application, error)
	Tokens      LogoutTokens
	Requests    Requester
	// Addresses decides which URIs may be private.
	Addresses ClientAddresses
}

// LogoutTokens issues logout tokens.
type LogoutTokens interface {
	LogoutToken(ctx context.Context, t token.Claims) (string, error)
}

// Requester sends requests to URLs of clients.
type Requester interface {
	Do(ctx context.Context, r *http.Request) (*outbound.Response, error)
}

// Send notifies a client once (§2.5), with a token that it issues now, so that retries have fresh
// ones. A client that no longer exists or no longer has a URI needs no notification.
func (b *Backchannel) Send(ctx context.Context, d schemas.Delivery) error {
	var end schemas.SessionEnd
	if err := json.Unmarshal(d.Body, &end); err != nil {
		return fmt.Errorf("%w: its body cannot be read: %w", delivery.ErrRefused, err)
	}
	app, err := b.Application(ctx, d.Target)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	client := app.OAuth()
	if client == nil || client.BackchannelLogoutURI == "" {
		return nil
	}
	raw, err := b.Tokens.LogoutToken(ctx, token.Claims{
		Subject: end.UserID, Session: end.SessionID, ClientID: app.ClientID, Algorithm: client.Token.IDToken.SignedResponseAlg,
	})
	if err != nil {
		return err
	}
	private, err := b.Addresses.mayBePrivate(ctx, app, client.BackchannelLogoutURI)
	if err != nil {
		return err
	}
	if private {
		return b.post(ctx, client.BackchannelLogoutURI, raw)
	}
	err = b.post(outbound.OnlyPublic(ctx), client.BackchannelLogoutURI, raw)
	if refusesAddress(err) {
		err = fmt.Errorf("%w; %s", err, approval)
	}
	return err
}

// post sends a logout token and evaluates the reply (§2.8).
func (b *Backchannel) post(ctx context.Context, to, raw string) error {
	r, err := http.NewRequest(http.MethodPost, to, strings.NewReader(url.Values{"logout_token": {raw}}.Encode()))
	if err != nil {
		return fmt.Errorf("%w: its backchannelLogoutUri cannot be read", delivery.ErrRefused)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := b.Requests.Do(ctx, r)
	switch {
	case schemas.HasCode(err, outbound.CodeRefused):
		return fmt.Errorf("%w: %w", delivery.ErrRefused, err)
	case err != nil:
		return err
	case answer.Status == http.StatusOK || answer.Status == http.StatusNoContent:
		return nil
	case answer.Status == http.StatusBadRequest:
		return fmt.Errorf("%w: the client could not make use of it, and answered with 400", delivery.ErrRefused)
	}
	return fmt.Errorf("the client answered with %d, expected 200", answer.Status)
}
