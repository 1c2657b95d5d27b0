package oauth

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// FuzzRedirects looks for a URI that is let pass for a loopback address, and leads
// anywhere else.
func FuzzRedirects(f *testing.F) {
	c := &client{nil, &schemas.OAuthProfile{RedirectURIs: []string{"http://127.0.0.1:8000/cb?x=1", "https://app.example.com/cb"}}}
	for _, seed := range []string{"http://127.0.0.1:1/cb?x=1", "http://127.0.0.1/cb?x=1", "http://127.0.0.1:@evil/cb?x=1", `http://127.0.0.1:1\@evil/cb?x=1`, "http://[::1]:1/cb?x=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if !c.redirects(uri) || slices.Contains(c.oauth.RedirectURIs, uri) {
			return
		}
		u, err := url.Parse(uri)
		if err != nil || u.Scheme != "http" || u.Hostname() != "127.0.0.1" || u.User != nil || u.RequestURI() != "/cb?x=1" || u.Fragment != "" {
			t.Errorf("%q passes", uri)
		}
		port, ok := strings.CutPrefix(strings.TrimSuffix(uri, "/cb?x=1"), "http://127.0.0.1")
		if !ok || strings.Trim(port, ":0123456789") != "" {
			t.Errorf("%q passes", uri)
		}
	})
}

// FuzzOpenRefresh looks for a refresh token that was not made here.
func FuzzOpenRefresh(f *testing.F) {
	p := &Provider{Options: Options{RefreshKey: []byte("key")}}
	f.Add(p.refreshToken(schemas.NewID(), 0))
	f.Add(p.refreshToken(schemas.NewID(), 7) + "=")
	f.Add("")
	f.Fuzz(func(t *testing.T, raw string) {
		id, generation, ok := p.openRefresh(raw)
		if ok && p.refreshToken(id, generation) != raw {
			t.Errorf("%q is taken for generation %d of %s", raw, generation, id)
		}
	})
}

// FuzzReadDocument looks for a metadata document that is taken for that of an address
// without saying so, or has a client do what none of its kind may.
func FuzzReadDocument(f *testing.F) {
	const id = "https://client.example.com/a"
	f.Add([]byte(`{"client_id":"https://client.example.com/a","redirect_uris":["https://client.example.com/back"],"client_name":"x"}`), id)
	f.Add([]byte(`{"client_id":"https://client.example.com/b","Client_id":"https://client.example.com/a","client_secret":"x"}`), id)
	f.Add([]byte(`{"client_id":"https://client.example.com/a","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials","authorization_code"]}`), "https://a/../b")
	f.Fuzz(func(t *testing.T, text []byte, id string) {
		if checkDocumentID(id) == nil && strings.ContainsAny(id, "# \\@\n") && !strings.ContainsAny(id, "/?") {
			t.Errorf("%q passes for the address of a document", id)
		}
		m, err := readDocument(id, text)
		if err != nil {
			return
		}
		if m.ClientID != id || m.ClientSecret != "" || m.AuthMethod != schemas.AuthMethodNone && m.AuthMethod != schemas.AuthMethodPrivateKeyJWT ||
			slices.Contains(m.GrantTypes, schemas.GrantClientCredentials) || len(m.RedirectURIs) > maxRedirectURIs {
			t.Errorf("%s makes %+v", text, m)
		}
	})
}

// FuzzReadMetadata looks for a registration that passes the checks with values that untrusted
// clients must not have.
func FuzzReadMetadata(f *testing.F) {
	f.Add([]byte(`{"redirect_uris":["https://client.example.com/back"],"scope":"system","grant_types":["client_credentials","refresh_token"]}`))
	f.Add([]byte(`{"redirect_uris":null,"jwks":{"keys":[{"kty":"EC","use":"enc"}]},"token_endpoint_auth_method":"private_key_jwt","contacts":[""]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := readMetadata(text)
		if err != nil || m.settle(untrustedClientGrants()) != nil {
			return
		}
		if slices.Contains(m.GrantTypes, schemas.GrantClientCredentials) ||
			m.SoftwareStatement != "" || m.LogoURI != "" && !strings.HasPrefix(strings.ToLower(m.LogoURI), "https:") {
			t.Errorf("%s makes %+v", text, m)
		}
		var a schemas.Application
		m.describeIn(&a, nil)
	})
}
