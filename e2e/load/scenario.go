package main

import (
	"net/http"
	"net/url"

	"github.com/postern-id/postern/schemas"
)

// scenario is one kind of load.
type scenario struct {
	name string
	// prepare runs once for each caller before the measurement; nil for nothing.
	prepare func(*caller) error
	// do is one measured unit: a request, or several that follow each other.
	do     func(*caller) error
	target float64 // milliseconds of the server's processor per unit; 0 for none
}

// scenarios lists all kinds of load, cheap ones first.
func scenarios() []scenario {
	read := func(path string) func(*caller) error { return func(c *caller) error { return c.get(path, "") } }
	return []scenario{
		{name: "discovery", do: read("/.well-known/openid-configuration"), target: 0.03},
		{name: "jwks", do: read("/oauth2/jwks"), target: 0.03},
		{name: "readiness", do: read("/health/readiness"), target: 0.03},
		{name: "flow meta", do: func(c *caller) error { return c.get("/flow/meta?type=APP&id="+c.shop.ID, "") }, target: 0.03},
		{name: "passkey start", do: startPasskey, target: 0.12},
		{name: "registration start", prepare: (*caller).identify, do: startRegistration, target: 0.25},
		{name: "flow start", do: startFlow, target: 0.15},
		{name: "authorize", do: func(c *caller) error { _, err := c.authorize(c.shop); return err }, target: 0.2},
		{name: "client_credentials", do: clientCredentials, target: 0.12},
		{name: "list applications", do: func(c *caller) error { return c.get("/applications", c.admin) }, target: 0.25},
		{name: "own account", prepare: (*caller).identify, do: func(c *caller) error { return c.get("/users/me", c.tokens.Access) }, target: 0.25},
		{name: "refresh", prepare: (*caller).signIn, do: (*caller).refresh},
		{name: "sign-in", do: (*caller).signIn},
		{name: "sign-in ES256", do: func(c *caller) error { return c.signInTo(c.modern) }},
	}
}

func startPasskey(c *caller) error {
	return c.postJSON("/auth/passkey/start", "", map[string]string{"relyingPartyId": "localhost"}, nil)
}

func startRegistration(c *caller) error {
	return c.postJSON("/register/passkey/start", c.tokens.Access, map[string]string{"userId": c.userID}, nil)
}

func startFlow(c *caller) error {
	return c.postJSON("/flow/execute", "", map[string]any{"applicationId": c.shop.ID, "flowType": schemas.Authentication}, nil)
}

func clientCredentials(c *caller) error {
	r, err := http.NewRequest(http.MethodPost, c.base, nil)
	if err != nil {
		return err
	}
	r.SetBasicAuth(c.machine.ClientID, c.machine.ClientSecret)
	return c.postForm("/oauth2/token", r.Header.Get("Authorization"), url.Values{"grant_type": {"client_credentials"}, "scope": {"system"}}, nil)
}
