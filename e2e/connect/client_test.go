package connect_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// client is the OAuth client of a product.
type client struct {
	application
	oauth2.Config
	pkce       bool
	parameters map[string]string // of the authorization request
}

// newClient returns a client with the endpoints of the server, which authenticates as a product does.
func newClient(a application, style oauth2.AuthStyle, pkce bool, scopes ...string) *client {
	return &client{application: a, pkce: pkce, Config: oauth2.Config{
		ClientID: a.ClientID, ClientSecret: a.ClientSecret, RedirectURL: a.redirect, Scopes: scopes,
		Endpoint: oauth2.Endpoint{AuthURL: a.server.issuer + "/oauth2/authorize", TokenURL: a.server.issuer + "/oauth2/token", AuthStyle: style},
	}}
}

// signIn gets the tokens of a user with the authorization code flow.
func (c *client) signIn(t *testing.T, username string, exchange ...oauth2.AuthCodeOption) *oauth2.Token {
	t.Helper()
	var request []oauth2.AuthCodeOption
	for name, value := range c.parameters {
		request = append(request, oauth2.SetAuthURLParam(name, value))
	}
	if c.pkce {
		verifier := oauth2.GenerateVerifier()
		request, exchange = append(request, oauth2.S256ChallengeOption(verifier)), append(exchange, oauth2.VerifierOption(verifier))
	}
	back := c.server.authorize(t, c.AuthCodeURL("state", request...), username)
	if back.Get("state") != "state" || back.Get("iss") != c.server.issuer {
		t.Errorf("the browser came back with %v", back)
	}
	token, err := c.Exchange(t.Context(), back.Get("code"), exchange...)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// idToken returns the ID token of a reply.
func idToken(t *testing.T, token *oauth2.Token) string {
	t.Helper()
	text, isText := token.Extra("id_token").(string)
	if !isText {
		t.Fatalf("there is no ID token: %v", token)
	}
	return text
}

// claims returns the claims of an ID token, without a verification: as products read it that got it from the server.
func claims(t *testing.T, token *oauth2.Token) map[string]any {
	t.Helper()
	parts := strings.Split(idToken(t, token), ".")
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	var values map[string]any
	if err != nil || json.Unmarshal(text, &values) != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return values
}

// userinfo returns what the server replies about the user of an access token.
func (c *client) userinfo(t *testing.T, token *oauth2.Token) map[string]any {
	t.Helper()
	r, err := c.Client(t.Context(), token).Get(c.server.issuer + "/oauth2/userinfo")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var values map[string]any
	if err := json.NewDecoder(r.Body).Decode(&values); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s %v", r.Status, err)
	}
	return values
}

// texts returns a claim that is a list of texts.
func texts(claim any) (list []string) {
	items, _ := claim.([]any)
	for _, item := range items {
		if text, isText := item.(string); isText {
			list = append(list, text)
		}
	}
	return list
}

// intersect reports whether a user is in one of some groups.
func intersect(groups, some []string) bool {
	return slices.ContainsFunc(groups, func(group string) bool { return slices.Contains(some, group) })
}
