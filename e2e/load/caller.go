package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// caller is one of the concurrent clients: a user with a passkey and a browser. It is for one
// goroutine.
type caller struct {
	*world
	device  *passkeytest.Authenticator
	cookies []*http.Cookie // of the browser
	userID  string
	tokens  tokens
}

// world is what all callers share.
type world struct {
	base    string
	client  *http.Client
	admin   string      // a token with all permissions
	shop    application // of the users
	modern  application // the same, with ID tokens that are signed with ES256
	machine application // acts on its own behalf
}

// tokens are a reply of POST /oauth2/token.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

const (
	redirectURI = "https://shop.example/callback"
	verifier    = "a-verifier-of-enough-characters-0123456789-abc"
	challenge   = "vGiiXp_QWTPFS_ZyjehDwFaUa_ohuh9RAgQF8gTU7mc" // of the verifier
)

// reply is an answer of the server.
type reply struct {
	header http.Header
	body   []byte
}

// expect sends a request and returns the reply, which must have a status.
func (c *caller) expect(status int, method, path, token string, contentType, body string) (reply, error) {
	r, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	// The transport would decompress replies to its own request for gzip. That takes the processors
	// longer than the server's part, which then waits and wakes more often.
	r.Header.Set("Accept-Encoding", "gzip")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	for _, cookie := range c.cookies {
		r.AddCookie(cookie)
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return reply{}, err
	}
	if answer.StatusCode != status {
		return reply{}, fmt.Errorf("%s %s: %s, expected %d: %.500s", method, path, answer.Status, status, text)
	}
	c.keep(answer.Cookies())
	return reply{answer.Header, text}, nil
}

// keep replaces the cookies of the browser.
func (c *caller) keep(cookies []*http.Cookie) {
next:
	for _, cookie := range cookies {
		for i, has := range c.cookies {
			if has.Name == cookie.Name {
				c.cookies[i] = cookie
				continue next
			}
		}
		c.cookies = append(c.cookies, cookie)
	}
}

func (c *caller) get(path, token string) error {
	if token != "" {
		token = "Bearer " + token
	}
	_, err := c.expect(http.StatusOK, http.MethodGet, path, token, "", "")
	return err
}

func (c *caller) postJSON(path, token string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if token != "" {
		token = "Bearer " + token
	}
	r, err := c.expect(http.StatusOK, http.MethodPost, path, token, "application/json", string(body))
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(r.body, out)
}

func (c *caller) postForm(path, token string, form url.Values, out any) error {
	r, err := c.expect(http.StatusOK, http.MethodPost, path, token, "application/x-www-form-urlencoded", form.Encode())
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(r.body, out)
}

func (c *caller) execute(body map[string]any) (s schemas.Step, err error) {
	err = c.postJSON("/flow/execute", "", body, &s)
	return s, err
}

// signUp creates the caller's user, with a passkey.
func (c *caller) signUp(name string) error {
	s, err := c.execute(map[string]any{"applicationId": c.shop.ID, "flowType": schemas.Registration})
	if err != nil {
		return err
	}
	s, err = c.execute(map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "continue",
		"inputs": map[string]string{"username": name}})
	if err != nil {
		return err
	}
	a, err := c.device.Register(json.RawMessage(s.Data.AdditionalData["passkeyCreationOptions"]), c.base)
	if err != nil {
		return err
	}
	s, err = c.execute(map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "action": "passkey",
		"inputs": map[string]string{"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON, "attestationObject": a.AttestationObject}})
	if err == nil && s.FlowStatus != schemas.Complete {
		err = fmt.Errorf("the sign-up ended in %s: %s", s.FlowStatus, s.FailureReason)
	}
	return err
}

// authorize begins a sign-in in a new browser, and returns the query of the hosted page.
func (c *caller) authorize(at application) (url.Values, error) {
	c.cookies = nil
	q := url.Values{"response_type": {"code"}, "client_id": {at.ClientID}, "redirect_uri": {redirectURI}, "scope": {"openid account offline_access"},
		"state": {"s"}, "resource": {c.base}, "code_challenge": {challenge}, "code_challenge_method": {"S256"}}
	return c.follow("/oauth2/authorize?" + q.Encode())
}

// follow requests a redirect and returns the query of its target.
func (c *caller) follow(path string) (url.Values, error) {
	r, err := c.expect(http.StatusFound, http.MethodGet, path, "", "", "")
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(r.header.Get("Location"))
	if err != nil {
		return nil, err
	}
	if to.Query().Has("error") {
		return nil, errors.New(to.Query().Get("error_description"))
	}
	return to.Query(), nil
}

// signIn signs the caller in with the passkey: the authorization request, the flow's step, the
// verified assertion, the code, and the tokens.
func (c *caller) signIn() error { return c.signInTo(c.shop) }

func (c *caller) signInTo(at application) error {
	page, err := c.authorize(at)
	if err != nil {
		return err
	}
	s, err := c.execute(map[string]any{"executionId": page.Get("executionId")})
	if err != nil {
		return err
	}
	inputs, err := c.assertion(s)
	if err != nil {
		return err
	}
	s, err = c.execute(map[string]any{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "inputs": inputs})
	if err != nil {
		return err
	}
	if s.FlowStatus != schemas.Complete {
		return fmt.Errorf("the sign-in ended in %s: %s", s.FlowStatus, s.FailureReason)
	}
	back, err := c.follow("/oauth2/auth/callback?" + url.Values{"authId": page["authId"]}.Encode())
	if err != nil {
		return err
	}
	return c.postForm("/oauth2/token", "", url.Values{"grant_type": {"authorization_code"}, "client_id": {at.ClientID},
		"code": back["code"], "code_verifier": {verifier}, "redirect_uri": {redirectURI}}, &c.tokens)
}

// assertion is the authenticator's answer to a passkey step.
func (c *caller) assertion(s schemas.Step) (map[string]string, error) {
	a, err := c.device.Authenticate(json.RawMessage(s.Data.AdditionalData["passkeyChallenge"]), c.base)
	return map[string]string{"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON,
		"authenticatorData": a.AuthenticatorData, "signature": a.Signature, "userHandle": a.UserHandle}, err
}

// refresh exchanges the refresh token, which the reply replaces.
func (c *caller) refresh() error {
	return c.postForm("/oauth2/token", "", url.Values{"grant_type": {"refresh_token"}, "client_id": {c.shop.ClientID},
		"refresh_token": {c.tokens.Refresh}}, &c.tokens)
}

// identify signs in and reads the id of the user.
func (c *caller) identify() error {
	if err := c.signIn(); err != nil {
		return err
	}
	r, err := c.expect(http.StatusOK, http.MethodGet, "/users/me", "Bearer "+c.tokens.Access, "", "")
	if err != nil {
		return err
	}
	c.cookies = nil
	var me struct{ ID string }
	if err := json.NewDecoder(bytes.NewReader(r.body)).Decode(&me); err != nil || me.ID == "" {
		return errors.Join(err, fmt.Errorf("GET /users/me: %s", r.body))
	}
	c.userID = me.ID
	return nil
}
