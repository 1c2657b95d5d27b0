package oauth

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Names of the cookies: one binds authorization requests to the browser, the other identifies the
// session.
const (
	browserCookie = "postern-browser"
	sessionCookie = "postern-session"
)

// Cookie returns a cookie of the server that scripts cannot read, and that browsers send when the
// user follows a link, but not with requests from other sites' pages. With https its name starts
// with __Host-: then no other host of the domain can set it (RFC 6265bis §4.1.3.2) to sign a user
// in to an attacker's account.
func Cookie(issuer, name, value string) *http.Cookie {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if strings.HasPrefix(issuer, "https://") {
		c.Name, c.Secure = "__Host-"+name, true
	}
	return c
}

func (p *Provider) cookie(name, value string) *http.Cookie { return Cookie(p.Issuer, name, value) }

// cookieHash returns the SHA-256 of a cookie's value; nil if the request has no cookie of this
// server.
func (p *Provider) cookieHash(r *http.Request, name string) []byte {
	sent := r.CookiesNamed(p.cookie(name, "").Name)
	if len(sent) != 1 || len(sent[0].Value) != schemas.SecretLength {
		return nil
	}
	return schemas.HashSecret(sent[0].Value)
}

// Browser returns the hash that binds authorization requests to the browser; nil without a cookie.
func (p *Provider) Browser(r *http.Request) []byte {
	if !p.hasAuthorizationEndpoint() {
		return nil
	}
	return p.cookieHash(r, browserCookie)
}

// Session returns the live session of the browser; nil for none.
func (p *Provider) Session(r *http.Request) (*schemas.Session, error) {
	if !p.hasAuthorizationEndpoint() {
		return nil, nil
	}
	hash := p.cookieHash(r, sessionCookie)
	if hash == nil {
		return nil, nil
	}
	return p.Authorization.Sessions.SessionByToken(r.Context(), hash, p.now())
}

// maxQueryLength is the maximum length of a query in a redirect, in bytes: intermediate servers may
// reject longer ones.
const maxQueryLength = 6 << 10

// fetchCookies answers a form without cookies, such as one from a page of another site, with a
// redirect to the same request as GET, for which the browser sends them. It reports false if there
// are none, or if the form is too long.
func (p *Provider) fetchCookies(w http.ResponseWriter, r *http.Request, path string, form url.Values) bool {
	if r.Method != http.MethodPost || p.Browser(r) != nil || p.cookieHash(r, sessionCookie) != nil {
		return false
	}
	query := form.Encode()
	if len(query) > maxQueryLength {
		return false
	}
	http.Redirect(w, r, p.Issuer+path+"?"+query, http.StatusSeeOther)
	return true
}

// ensureBrowser is Browser, and sets a new cookie if there is none. Concurrent requests share one
// cookie.
func (p *Provider) ensureBrowser(w http.ResponseWriter, r *http.Request) []byte {
	if hash := p.Browser(r); hash != nil {
		return hash
	}
	value := schemas.NewSecret()
	http.SetCookie(w, p.cookie(browserCookie, value))
	return schemas.HashSecret(value)
}

// signIn stores the session in the browser. A session of another browser is not moved.
func (p *Provider) signIn(w http.ResponseWriter, r *http.Request, sessionID string) error {
	known, err := p.Session(r)
	if err != nil || known != nil && known.ID == sessionID {
		return err
	}
	value := schemas.NewSecret()
	bound, err := p.Authorization.Sessions.BindSession(r.Context(), sessionID, schemas.HashSecret(value))
	if err == nil && bound {
		http.SetCookie(w, p.cookie(sessionCookie, value))
	}
	return err
}

// isSessionLive reports whether a session has not ended.
func (p *Provider) isSessionLive(ctx context.Context, sessionID string) (bool, error) {
	return p.Authorization.Sessions.TokenLive(ctx, schemas.TokenRef{Session: sessionID})
}
