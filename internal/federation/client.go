package federation

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/postern-id/postern/internal/jwtverify"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
)

// Requester makes requests to providers. It bounds their size and time and follows no
// redirects; outbound.Client is one.
type Requester interface {
	Do(ctx context.Context, req *http.Request) (*outbound.Response, error)
}

// Client is the relying party. It is safe for concurrent use.
type Client struct {
	requester Requester
	providers metadataCache
	keys      jwtverify.Keys
}

// New returns a relying party.
func New(asker Requester) *Client {
	c := &Client{requester: asker}
	c.keys.Fetch = c.get
	return c
}

// Request is the content of an authorization request: OpenID Connect Core §3.1.2.1. Only
// RedirectURI and Now are required.
type Request struct {
	// RedirectURI is the address to which the provider sends the response.
	RedirectURI string
	LoginHint   string
	UILocales   string
	Prompt      []string
	ACRValues   []string
	// MaxAge is the maximum age in seconds of the authentication at the provider, nil for
	// any.
	MaxAge *int
	// Opened means that a client of the application's own handles the response and may omit
	// state and iss, after comparing them itself. The verifier and the nonce still prevent
	// the use of a code from another sign-in (RFC 9700 §2.1).
	Opened bool
	Now    time.Time
}

// AuthorizationRequest is a started sign-in.
type AuthorizationRequest struct {
	// URL is the address to send the browser to.
	URL string
	// State is the opaque state for Finish.
	State json.RawMessage
}

// signInState is the stored state of a sign-in until the response.
type signInState struct {
	State       string `json:"state"`
	Nonce       string `json:"nonce"`
	Verifier    string `json:"verifier"`
	RedirectURI string `json:"redirectUri"`
	MaxAge      *int   `json:"maxAge,omitempty"`
	Opened      bool   `json:"opened,omitempty"`
	// The provider as configured when the sign-in began: a later change by an administrator
	// must not turn this provider's response into another's.
	Provider string `json:"provider"`
	Issuer   string `json:"issuer"`
	ClientID string `json:"clientId"`
}

// Begin starts a sign-in. It fails with an *Error if the provider does not respond or its
// metadata is insufficient.
func (c *Client) Begin(ctx context.Context, p *schemas.IdentityProvider, r Request) (*AuthorizationRequest, error) {
	m, err := c.metadata(ctx, p.Issuer, r.Now)
	if err != nil {
		return nil, err
	}
	k := signInState{
		State: schemas.NewSecret(), Nonce: schemas.NewSecret(), Verifier: schemas.NewSecret(), RedirectURI: r.RedirectURI, MaxAge: r.MaxAge, Opened: r.Opened,
		Provider: p.ID, Issuer: p.Issuer, ClientID: p.ClientID,
	}
	text, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	return &AuthorizationRequest{URL: authorizationURL(m, p, r, k), State: text}, nil
}

// authorizationURL returns the authorization request. Parameters of the endpoint's own
// query are kept (RFC 6749 §3.1), except those that the request sets.
func authorizationURL(m *metadata, p *schemas.IdentityProvider, r Request, k signInState) string {
	ask := map[string]string{
		"response_type": "code", "client_id": p.ClientID, "redirect_uri": r.RedirectURI, "scope": scope(p),
		"state": k.State, "nonce": k.Nonce,
		"code_challenge": oauth2.S256ChallengeFromVerifier(k.Verifier), "code_challenge_method": "S256",
		"login_hint": r.LoginHint, "ui_locales": r.UILocales,
		"prompt": strings.Join(r.Prompt, " "), "acr_values": strings.Join(r.ACRValues, " "),
	}
	if r.MaxAge != nil {
		ask["max_age"] = strconv.Itoa(*r.MaxAge)
	}
	u := *m.authorization
	query := u.Query()
	for name, value := range ask {
		if query.Del(name); value != "" {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// scope returns the requested scope, which always contains openid.
func scope(p *schemas.IdentityProvider) string {
	scopes := p.Scopes
	if !slices.Contains(scopes, "openid") {
		scopes = append([]string{"openid"}, scopes...)
	}
	return strings.Join(scopes, " ")
}

// Response is the provider's response as the browser delivers it: RFC 6749 §4.1.2, RFC
// 9207. It is untrusted.
type Response struct {
	Code, State, Issuer, Error string
}

// maxCodeLength is the maximum size of a code in bytes.
const maxCodeLength = 4096

// Finish returns the identity that signed in. It fails with an *Error for any fault. Each
// call redeems the code at most once, and the provider accepts a code once.
func (c *Client) Finish(ctx context.Context, p *schemas.IdentityProvider, keep json.RawMessage, r Response, now time.Time) (*Identity, error) {
	var k signInState
	if err := json.Unmarshal(keep, &k); err != nil {
		return nil, fmt.Errorf("decoding the state of a sign-in with a provider: %w", err)
	}
	if k.Provider != p.ID || k.Issuer != p.Issuer || k.ClientID != p.ClientID {
		return nil, failf(CheckSettings, "the provider's issuer or client id has changed since the sign-in began")
	}
	// Check state before trusting anything else in the response, errors included.
	bare := k.Opened && r.State == ""
	if k.State == "" || !bare && subtle.ConstantTimeCompare([]byte(r.State), []byte(k.State)) != 1 {
		return nil, failf(CheckState, "the state is not that of this sign-in: the response belongs to another sign-in, possibly an attacker's")
	}
	m, err := c.metadata(ctx, p.Issuer, now)
	if err != nil {
		return nil, err
	}
	if err := checkResponse(m.namesIssuer && !bare, p, r); err != nil {
		return nil, err
	}
	tokens, err := c.redeem(ctx, m, p, k, r.Code)
	if err != nil {
		return nil, err
	}
	id, err := c.verify(ctx, m, p, k, tokens, now)
	if err == nil && reads(p) {
		err = c.readUserinfo(ctx, m, tokens.access, id)
	}
	if err != nil {
		return nil, err
	}
	return id, nil
}

// checkResponse makes sure that the response is from the provider, which must identify
// itself if its metadata promises that.
func checkResponse(named bool, p *schemas.IdentityProvider, r Response) error {
	switch {
	case r.Issuer != "" && r.Issuer != p.Issuer:
		return failf(CheckSender, "the response is from another provider: its iss is not the issuer")
	case r.Issuer == "" && named:
		return failf(CheckSender, "the response has no iss, although the provider's metadata promises it (RFC 9207)")
	case r.Error == "access_denied":
		return failf(CheckDenied, "the user or the provider declined")
	case r.Error != "":
		return failf(CheckResponse, "the provider answered with the error %s", errorCode(r.Error))
	case r.Code == "" || len(r.Code) > maxCodeLength:
		return failf(CheckResponse, "expected a code of at most %d bytes, got %d", maxCodeLength, len(r.Code))
	}
	return nil
}

// errorCode returns an error code in a form that is safe to log. Other values may contain
// anything.
func errorCode(text string) string {
	const longest = 64
	if len(text) > longest || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "(not one of RFC 6749)"
	}
	return url.QueryEscape(text)
}
