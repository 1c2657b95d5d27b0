package oauth

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Names of the cookies. One binds authorization requests to the browser, whoever
// sits there; the other is who signed in.
const (
	browserCookie = "postern-browser"
	sessionCookie = "postern-session"
)

// Cookie returns a cookie of the server at an issuer that no script reads, and that
// comes along when people follow a link here, but not with what other sites' pages
// send. With https its name begins with __Host-: then no other host of the domain can
// set it (RFC 6265bis §4.1.3.2), which would be a way to sign somebody in as somebody
// else.
func Cookie(issuer, name, value string) *http.Cookie {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if strings.HasPrefix(issuer, "https://") {
		c.Name, c.Secure = "__Host-"+name, true
	}
	return c
}

func (p *Provider) cookie(name, value string) *http.Cookie { return Cookie(p.Issuer, name, value) }

// cookieHash is the SHA-256 of a cookie's value; nil if the request has none, or
// nothing that we set.
func (p *Provider) cookieHash(r *http.Request, name string) []byte {
	sent := r.CookiesNamed(p.cookie(name, "").Name)
	if len(sent) != 1 || len(sent[0].Value) != schemas.SecretLength {
		return nil
	}
	return schemas.HashSecret(sent[0].Value)
}

// Browser is what an authorization request is bound to the browser by that sends
// a request; nil if it has sent none.
func (p *Provider) Browser(r *http.Request) []byte {
	if !p.hasAuthorizationEndpoint() {
		return nil
	}
	return p.cookieHash(r, browserCookie)
}

// Session is the live session of the browser that sends a request; nil for none.
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

// maxQueryLength is how long a query may be that a browser is sent with, in bytes: of
// what is longer, servers on the way may make nothing.
const maxQueryLength = 6 << 10

// fetchCookies answers a form without cookies, as one from a page of another site
// is, by sending the browser to the same with GET: there they come along. It reports
// false if there is none to fetch, or the form is too long for that.
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

// ensureBrowser is Browser for one that may be here for the first time. One cookie
// serves all that it asks for at the same time.
func (p *Provider) ensureBrowser(w http.ResponseWriter, r *http.Request) []byte {
	if hash := p.Browser(r); hash != nil {
		return hash
	}
	value := schemas.NewSecret()
	http.SetCookie(w, p.cookie(browserCookie, value))
	return schemas.HashSecret(value)
}

// signIn makes the session known to the browser, unless it knows it already. A
// session that another browser knows stays with that one alone.
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
