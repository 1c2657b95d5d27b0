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
	p := &Provider{Options: Options{Authorization: &Authorization{RefreshKey: []byte("key")}}}
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
