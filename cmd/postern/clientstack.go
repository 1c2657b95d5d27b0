package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/postern-id/postern/internal/stacks"
	"github.com/postern-id/postern/schemas"
)

// stack is the value of --stack.
type stack struct{ stacks.Stack }

// stackNames returns the values of --stack.
func stackNames() (names []string) {
	for _, s := range stacks.All() {
		if s.Type != "flow" { // `app create` creates OAuth clients
			names = append(names, s.Name)
		}
	}
	return names
}

// Decode finds the stack.
func (s *stack) Decode(ctx *kong.DecodeContext) error {
	var name string
	if err := ctx.Scan.PopValueInto("stack", &name); err != nil {
		return err
	}
	found, ok := stacks.Find(name)
	if !ok || found.Type == "flow" {
		return fmt.Errorf("there is no stack %q%s; expected %s", name, schemas.Hint(name, stackNames()), strings.Join(stackNames(), ", "))
	}
	s.Stack = found
	return nil
}

// clientType is the value of --type.
type clientType string

// clientTypes returns the values of --type.
func clientTypes() []string { return []string{"spa", "web", "native", "service"} }

// apiType returns the type of the application in the API.
func (t clientType) apiType() string {
	return map[clientType]string{"spa": schemas.SinglePageApp, "web": schemas.ServerApp, "native": schemas.MobileApp, "service": schemas.MachineApp}[t]
}

// Validate rejects other types. Without --type, the stack has one.
func (t clientType) Validate() error {
	if t != "" && t.apiType() == "" {
		return fmt.Errorf("there is no type %q; expected spa (runs in the browser), web (runs on a server), native (runs on a device) or service (runs without users)", string(t))
	}
	return nil
}

// useStack sets the type, the addresses, scopes and claims that are usual for the stack, and describes the addresses
// and claims.
func (c *clientCreateCommand) useStack() (defaults string, err error) {
	s := c.Stack
	switch {
	case s.Name == "" && c.Type == "":
		return "", errors.New("--type or --stack is required")
	case s.Name == "":
		return "", nil
	case c.Type != "" && string(c.Type) != s.Type:
		return "", fmt.Errorf("--stack %s is for the type %s, not %s; leave out --type", s.Name, s.Type, c.Type)
	}
	c.Type = clientType(s.Type)
	if len(c.Redirect) == 0 && s.Redirect != "" {
		c.Redirect = []string{s.Redirect}
		defaults = fmt.Sprintf("- The redirect URI is %s, the usual one of %s; --redirect registers another.\n", s.Redirect, s.Name)
	}
	if len(c.Redirect) > 0 && len(c.PostLogout) == 0 {
		if uri := s.PostLogoutURI(c.Redirect[0]); uri != "" {
			c.PostLogout = []string{uri}
			defaults += fmt.Sprintf("- The post-logout URI is %s; --post-logout registers another.\n", uri)
		}
	}
	return defaults + c.useStackClaims(), nil
}

// useStackClaims adds the scopes of the stack, and its claims unless there are others, and describes these claims.
func (c *clientCreateCommand) useStackClaims() (defaults string) {
	for _, scope := range c.Stack.Scopes {
		if !slices.Contains(c.Scope, scope) {
			c.Scope = append(c.Scope, scope)
		}
	}
	if c.Claim != nil {
		return ""
	}
	for _, claim := range c.Stack.Claims {
		c.Claim = append(c.Claim, string(claim))
		defaults += fmt.Sprintf("- The stack adds the claim %s; --claim sets others instead.\n", claim)
	}
	return defaults
}

// printCode prints the code of the stack. It comes before the secret, which a terminal would scroll away.
func (c clientCreateCommand) printCode(w io.Writer, issuer string, app resource) error {
	client := stacks.Client{Issuer: issuer, ApplicationID: app.text("id"), ClientID: clientID(app), Scopes: c.Scope}
	if c.Type != "service" {
		client.RedirectURI, client.Scopes = c.Redirect[0], append([]string{"openid", "profile", "email"}, c.Scope...)
	}
	if len(c.PostLogout) > 0 {
		client.PostLogoutURI = c.PostLogout[0]
	}
	files, err := c.Stack.Snippet(client)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, file := range files {
		fmt.Fprintf(&b, "----- %s -----\n%s\n", file.Path, file.Text)
	}
	_, err = io.WriteString(w, b.String()+"----- the application -----\n")
	return err
}

// stackSteps describes what to do with a new client and the code.
func (c clientCreateCommand) stackSteps(issuer string, app resource, defaults string) string {
	text := fmt.Sprintf("\nNext steps:\n- %s explains the code above.\n%s", c.Stack.Page, defaults)
	if secret := clientSecret(app); secret != "" {
		text += keepSecret + "- The code reads it from the environment:\n" + variables(issuer, clientID(app), secret)
	}
	return text
}
