package oauth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// grant is a grant type of the token endpoint.
type grant struct {
	name     string
	required string // its required parameter, "" for none
}

func grants() []grant {
	return []grant{
		{schemas.GrantAuthorizationCode, codeParameter},
		{schemas.GrantRefreshToken, refreshParameter},
		{schemas.GrantClientCredentials, ""},
	}
}

// grantTypes lists the names of the grants.
func grantTypes() []string {
	var names []string
	for _, g := range grants() {
		names = append(names, g.name)
	}
	return names
}

// Token handles POST /oauth2/token: RFC 6749 §3.2.
func (p *Provider) Token(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache") // RFC 6749 §5.1, for caches older than Cache-Control
	if err := readForm(w, r, tokenParameters()); err != nil {
		return err
	}
	g, err := findGrant(r.PostForm.Get(grantTypeParameter))
	if err != nil {
		return err
	}
	c, err := p.authenticateClient(r)
	if err != nil {
		return err
	}
	if err := g.check(c, r.PostForm); err != nil {
		return err
	}
	return p.serveGrant(w, r, c)
}

func findGrant(name string) (*grant, error) {
	for _, g := range grants() {
		if g.name == name {
			return &g, nil
		}
	}
	expected := strings.Join(grantTypes(), ", ")
	if name == "" {
		return nil, errorf(codeInvalidRequest, "the parameter grant_type is missing: expected %s", expected)
	}
	return nil, errorf(codeUnsupportedGrantType, "expected the grant_type %s, got %.100s", expected, name)
}

// check checks that the client may use the grant, and that its parameter is there.
func (g *grant) check(c *client, form url.Values) error {
	switch {
	case !c.mayGrant(g.name):
		return errorf(codeUnauthorizedClient, "grant_type %q not allowed", g.name)
	case g.name == schemas.GrantClientCredentials && c.isPublic():
		return errClient(false, "client must be authenticated")
	case g.required != "" && !form.Has(g.required):
		return errorf(codeInvalidRequest, "%s missing", g.required)
	}
	return nil
}

// mayGrant reports whether the client is registered for a grant type.
func (c *client) mayGrant(name string) bool { return slices.Contains(c.oauth.GrantTypes, name) }
