package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postern-id/postern/schemas"
)

// RequestTTL is how long an authorization request waits for the user to sign in.
const RequestTTL = 30 * time.Minute

// validateAuthRequest validates the parameters and builds the authorization request.
func (p *Provider) validateAuthRequest(ctx context.Context, a *authorizeRequest) (*schemas.AuthRequest, error) {
	form, err := knownParameters(a.form, authorizeParameters())
	if err != nil {
		return nil, err
	}
	if err := checkParameters(form); err != nil {
		return nil, err
	}
	if err := a.checkKind(form); err != nil {
		return nil, err
	}
	challenge, err := a.client.challenge(form)
	if err != nil {
		return nil, err
	}
	now := p.now()
	req := &schemas.AuthRequest{
		ID: schemas.NewID(), ApplicationID: a.client.ID, ClientID: a.client.ClientID, RedirectURI: a.redirect, ResponseMode: a.mode,
		State: form.Get("state"), Nonce: form.Get("nonce"), CodeChallenge: challenge, LoginHint: form.Get("login_hint"),
		Resources: form["resource"], CreatedAt: now, ExpiresAt: now.Add(RequestTTL),
	}
	scopes, err := parseScope(form.Get("scope"))
	if err != nil {
		return nil, err
	}
	identity, err := p.Clients.IdentityScopes(ctx, a.client.oauth)
	if err != nil {
		return nil, err
	}
	req.Scopes = a.client.requestable(scopes, identity)
	if len(req.Resources) > 0 {
		if req.Resources, err = p.audience(ctx, nil, req.Resources); err != nil {
			return nil, err
		}
	}
	if req.Login, err = p.loginRules(ctx, a.client, form); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(req.Scopes, func(scope string) bool { return slices.Contains(identity, scope) }) {
		req.Login.OnlyPermissions = req.Scopes
	}
	if !a.client.IsTrusted() && slices.ContainsFunc(req.Scopes, schemas.IsManagementScope) {
		// This is added to the client's request: a session of several hours must not be enough to
		// give an untrusted client the permissions of its user.
		req.Login.Prompt = append(req.Login.Prompt, "login")
	}
	return req, checkSize(req)
}

// checkKind checks that the response type and mode are supported, and that the client may request a
// code.
func (a *authorizeRequest) checkKind(form url.Values) error {
	mode := form.Get("response_mode")
	switch {
	case form.Has("request"):
		return errorf(codeNoRequest, "request objects are not supported: send the parameters themselves").refusing("request", "")
	case form.Has("request_uri"):
		return errorf(codeNoRequestURI, "request_uri is not supported: send the parameters themselves").refusing("request_uri", form.Get("request_uri"))
	case !a.client.mayGrant(schemas.GrantAuthorizationCode):
		return errorf(codeUnauthorizedClient, "the client is not registered for the grant type authorization_code").refusing("response_type", form.Get("response_type"))
	case !form.Has("response_type"):
		return errorf(codeInvalidRequest, "the parameter response_type is missing: expected code").refusing("response_type", "")
	case form.Get("response_type") != "code":
		return errorf(codeUnsupportedResponse, "expected the response_type code, got %.100s", shownValue(form.Get("response_type"))).refusing("response_type", form.Get("response_type"))
	case cmp.Or(mode, "query") != a.mode:
		return errorf(codeInvalidRequest, "expected the response_mode query or form_post, got %.100s", shownValue(mode)).refusing("response_mode", mode)
	}
	return nil
}

// challenge returns the code challenge of an authorization request (RFC 7636 §4.3); "" if it has
// none and the client needs none. The method plain, which is the default, is rejected: it does not
// protect from an attacker who saw the request (RFC 9700 §2.1.1).
func (c *client) challenge(form url.Values) (string, error) {
	challenge, method := form.Get("code_challenge"), form.Get("code_challenge_method")
	switch {
	case challenge == "" && method != "":
		return "", errorf(codeInvalidRequest, "there is a code_challenge_method, and no code_challenge").refusing("code_challenge_method", method)
	case challenge == "":
		return "", c.checkUnchallenged(form)
	case method != "S256":
		return "", errorf(codeInvalidRequest, "the code_challenge_method must be S256; no other transform algorithm is supported").refusing("code_challenge_method", method)
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(challenge)
	if err != nil || len(sum) != sha256.Size || strings.ContainsAny(challenge, "\r\n") {
		return "", errorf(codeInvalidRequest, "the code_challenge must be a SHA-256 in base64url without padding (43 characters)").refusing("code_challenge", "")
	}
	return challenge, nil
}

// checkUnchallenged checks whether the client may omit the code challenge. Public clients and
// clients with pkceRequired must send one. A confidential client that registered itself can send a
// nonce instead, with which it detects an injected code (OAuth 2.1 §7.5.1). For other confidential
// clients the code stays bound to the client's credentials and the redirect URI (checkRedirect).
func (c *client) checkUnchallenged(form url.Values) error {
	const missing = "code_challenge is missing: send one with code_challenge_method S256 (PKCE, RFC 7636)"
	switch {
	case c.isPublic():
		return errorf(codeInvalidRequest, missing+"; a public client always needs it, and pkceRequired cannot be false").refusing("code_challenge", "")
	case c.oauth.PKCERequired != nil && *c.oauth.PKCERequired:
		return errorf(codeInvalidRequest, missing+", or have an administrator set pkceRequired of the application to false").refusing("code_challenge", "")
	case c.Registration != "" && (form.Get("nonce") == "" || !asksForOpenID(form)):
		return errorf(codeInvalidRequest, missing+", or a nonce with the scope openid; a client that registered itself needs one of them, whatever pkceRequired is").refusing("code_challenge", "")
	}
	return nil
}

// maxACRValues limits how many classes a client can name.
const maxACRValues = 20

// loginRules reads the requirements of a request for the sign-in: OpenID Connect Core §3.1.2.1.
func (p *Provider) loginRules(ctx context.Context, c *client, form url.Values) (schemas.LoginRules, error) {
	rules := schemas.LoginRules{Prompt: strings.Fields(form.Get("prompt")), ACRValues: strings.Fields(form.Get("acr_values"))}
	for _, prompt := range rules.Prompt {
		if !slices.Contains(promptValues(), prompt) {
			return rules, errorf(codeInvalidRequest, "prompt must consist of %s; got %.100s", strings.Join(promptValues(), ", "), shownValue(prompt)).refusing("prompt", prompt)
		}
	}
	if slices.Contains(rules.Prompt, "none") && len(rules.Prompt) > 1 {
		return rules, errorf(codeInvalidRequest, "prompt=none cannot be combined with other values").refusing("prompt", form.Get("prompt"))
	}
	if len(rules.ACRValues) > maxACRValues {
		return rules, errorf(codeInvalidRequest, "there are more than %d acr_values", maxACRValues).refusing("acr_values", "")
	}
	if len(rules.ACRValues) == 0 {
		rules.ACRValues = slices.Clone(c.oauth.DefaultACRValues)
	}
	rules.MaxAge = c.oauth.DefaultMaxAge
	if text := form.Get("max_age"); text != "" {
		seconds, err := strconv.ParseUint(text, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return rules, errorf(codeInvalidRequest, "expected max_age in seconds, got %.100s", shownValue(text)).refusing("max_age", text)
		}
		limit := int(min(seconds, math.MaxInt32)) // older than any sign-in
		rules.MaxAge = &limit
	}
	if err := readClaimsRequest(&rules, form.Get("claims")); err != nil {
		return rules, err
	}
	if raw := form.Get("id_token_hint"); raw != "" {
		hint, err := p.Tokens.VerifyIDToken(ctx, raw)
		if schemas.HasClass(err, schemas.Unauthenticated) || err == nil && hint.ClientID != c.ClientID {
			return rules, errorf(codeInvalidRequest, "the id_token_hint is not an ID token that this server issued to this client: send one of the session of the user").refusing("id_token_hint", describeHint(raw))
		}
		if err != nil {
			return rules, err
		}
		if rules.Subject != "" && rules.Subject != hint.Subject {
			return rules, errorf(codeInvalidRequest, "the parameter claims requests another sub than the id_token_hint has: send one of them")
		}
		rules.Subject = hint.Subject
	}
	return rules, nil
}

// describeHint returns the issuer and the audience that an ID token states, for logs: the token itself could be
// used.
func describeHint(raw string) string {
	var stated struct {
		Issuer   any `json:"iss"`
		Audience any `json:"aud"`
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return "not a JWT"
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &stated) != nil {
		return "not a JWT"
	}
	return fmt.Sprintf("iss %v aud %v", stated.Issuer, stated.Audience)
}

func promptValues() []string { return []string{"none", "login", "consent", "select_account"} }

func hasPrompt(req *schemas.AuthRequest, value string) bool {
	return slices.Contains(req.Login.Prompt, value)
}

// The limits of stored parameters of a request, which anyone can send, in bytes: of each, and in
// total. A client with a state of 2 KB, thirty scopes for three resources and a login hint needs
// less than half.
const (
	maxParameterLength = 4 << 10
	maxKept            = 8 << 10
)

// isStorable reports whether a parameter can be stored and returned.
func isStorable(text string) bool {
	return len(text) <= maxParameterLength && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// checkParameters rejects values that cannot be stored. The id_token_hint is not stored.
func checkParameters(form url.Values) error {
	for _, name := range authorizeParameters() {
		for _, value := range form[name] {
			switch {
			case name == "id_token_hint" || isStorable(value):
			case len(value) > maxParameterLength:
				return errorf(codeInvalidRequest, "the parameter %s has %d bytes, expected at most %d: keep the rest at the client", name, len(value), maxParameterLength).refusing(name, "")
			default:
				return errorf(codeInvalidRequest, "the parameter %s is not of UTF-8 text", name).refusing(name, "")
			}
		}
	}
	return nil
}

// checkSize rejects a request whose stored part is too large.
func checkSize(req *schemas.AuthRequest) error {
	kept := 0
	if req.Login.Claims != nil {
		text, err := json.Marshal(req.Login.Claims)
		if err != nil {
			return err
		}
		kept += len(text)
	}
	for _, list := range [][]string{{req.ClientID, req.RedirectURI, req.State, req.Nonce, req.CodeChallenge, req.LoginHint},
		req.Scopes, req.Resources, req.Login.Prompt, req.Login.ACRValues} {
		for _, text := range list {
			kept += len(text)
		}
	}
	if kept > maxKept {
		return errorf(codeInvalidRequest, "the parameters have %d bytes together, expected at most %d: shorten %s", kept, maxKept, "state").refusing("state", "")
	}
	return nil
}
