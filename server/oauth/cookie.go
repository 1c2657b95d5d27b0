package oauth

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/postern-id/postern/engine"
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
// in to an attacker's account. Without https, which is for development, the name ends in the port:
// browsers send a cookie to all ports of a host, where another server may use the same names.
func Cookie(issuer, name, value string) *http.Cookie {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if strings.HasPrefix(issuer, "https://") {
		c.Name, c.Secure = "__Host-"+name, true
	} else if at, err := url.Parse(issuer); err == nil && at.Port() != "" {
		c.Name += "-" + at.Port()
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

// browser returns the hash that binds authorization requests to the browser; nil without a cookie.
func (p *Provider) browser(r *http.Request) []byte { return p.cookieHash(r, browserCookie) }

// session returns the live session of the browser; nil for none.
func (p *Provider) session(r *http.Request) (*schemas.Session, error) {
	hash := p.cookieHash(r, sessionCookie)
	if hash == nil {
		return nil, nil
	}
	s, err := p.Store.SessionByToken(r.Context(), hash, p.now())
	if err != nil || s == nil || s.IsIdle(p.SessionIdleTimeout, p.now()) {
		return nil, err
	}
	if p.now().Sub(s.LastSeenAt) > p.seenInterval() {
		s.LastSeenAt = p.now()
		err = p.Store.TouchSession(r.Context(), s.ID, s.LastSeenAt)
	}
	return s, err
}

// seenInterval limits the writes that record when a browser was seen. A session ends at most a tenth of the
// idle timeout early.
func (p *Provider) seenInterval() time.Duration {
	const longest = 10 * time.Minute
	if p.SessionIdleTimeout == 0 {
		return longest
	}
	return min(longest, p.SessionIdleTimeout/10)
}

// maxQueryLength is the maximum length of a query in a redirect, in bytes: intermediate servers may
// reject longer ones.
const maxQueryLength = 6 << 10

// fetchCookies redirects to cookieRedirect, and reports false if there is none.
func (p *Provider) fetchCookies(w http.ResponseWriter, r *http.Request, path string, form url.Values) bool {
	to := p.cookieRedirect(r, path, form)
	if to != "" {
		http.Redirect(w, r, to, http.StatusSeeOther)
	}
	return to != ""
}

// cookieRedirect returns the address of the same request as GET for a form without cookies, such as one from a
// page of another site: for GET the browser sends them. It returns "" for other requests, and if the form is too long.
func (p *Provider) cookieRedirect(r *http.Request, path string, form url.Values) string {
	if r.Method != http.MethodPost || p.browser(r) != nil || p.cookieHash(r, sessionCookie) != nil {
		return ""
	}
	query := form.Encode()
	if len(query) > maxQueryLength {
		return ""
	}
	return p.Issuer + path + "?" + query
}

// ensureBrowser is browser, and sets a new cookie if there is none. Concurrent requests share one
// cookie.
func (p *Provider) ensureBrowser(w http.ResponseWriter, r *http.Request) []byte {
	if hash := p.browser(r); hash != nil {
		return hash
	}
	value := schemas.NewSecret()
	http.SetCookie(w, p.cookie(browserCookie, value))
	return schemas.HashSecret(value)
}

// BrowserSession returns the live session of the browser that sends a request; nil for none. Only
// requests of the server's own pages may act on it: see server/browser.go.
func (p *Provider) BrowserSession(r *http.Request) (*schemas.Session, error) { return p.session(r) }

// SignIn stores the session in the browser, unless it is there already. A session of another browser is not
// moved.
func (p *Provider) SignIn(w http.ResponseWriter, r *http.Request, sessionID string) error {
	known, err := p.session(r)
	if err != nil || known != nil && known.ID == sessionID {
		return err
	}
	token, value := newBrowserToken(p.ensureBrowser(w, r))
	token.SessionID = sessionID
	bound, err := p.Store.BindSession(r.Context(), token)
	if err == nil && bound {
		http.SetCookie(w, p.cookie(sessionCookie, value))
	}
	return err
}

// newBrowserToken returns a new token of any session for the browser with the hash of a cookie, and the value of
// the session's cookie.
func newBrowserToken(browser []byte) (token schemas.SessionToken, value string) {
	value = schemas.NewSecret()
	return schemas.SessionToken{Hash: schemas.HashSecret(value), Browser: browserName(browser)}, value
}

// browserName returns the name of a browser, which users and administrators see, from the hash of its cookie.
func browserName(hash []byte) string { return schemas.Bytes(hash[:browserNameBytes]).String() }

// browserNameBytes is the length of the prefix of the hash of a browser's cookie that identifies
// the browser.
const browserNameBytes = 12

// BindRun completes the request of a run of POST /flow/execute with the data that binds it to an
// authorization request: the contents of the browser's cookies and, for a new run, the
// authorization request with the id, if there is one.
func (p *Provider) BindRun(r *http.Request, run *engine.Request, authID *string) (err error) {
	if authID != nil {
		if run.AuthRequest, err = p.openRequest(r, *authID); err != nil {
			return err
		}
	}
	run.Browser = p.browser(r)
	run.Session, err = p.session(r)
	return err
}

// openRequest returns an unanswered authorization request that this browser started. Any other is
// auth_request_not_found, Class Invalid.
func (p *Provider) openRequest(r *http.Request, id string) (*schemas.AuthRequest, error) {
	req, err := p.Store.AuthRequest(r.Context(), id)
	if err == nil && (!p.now().Before(req.ExpiresAt) || req.Grant != nil || req.Refusal != nil || !bytes.Equal(p.browser(r), req.BrowserHash)) {
		err = schemas.Errorf(schemas.Invalid, schemas.CodeAuthRequest,
			"there is no such authorization request in this browser, or it has expired or been answered: go back to the application and sign in again")
	}
	return req, err
}
