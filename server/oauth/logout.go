package oauth

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// logoutParameters are those of OpenID Connect RP-Initiated Logout §2, and confirm: the user has
// confirmed.
func logoutParameters() []string {
	return []string{"id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales", "confirm"}
}

// logoutRequest is a sign-out request.
type logoutRequest struct {
	session *schemas.Session // the browser's; nil for none
	hinted  bool             // the ID token names a session of this user in this browser
	former  *schemas.Session // that of the ID token, of another user in this browser; nil for none
	remote  bool             // the request has no session; session is that of the ID token
	client  *client          // nil if unknown
	back    string           // "" for none
	form    url.Values
}

// Logout handles GET and POST /oauth2/logout: it ends the sessions of the user in the browser and
// returns to the client. A browser has several after another sign-in, and after one has expired;
// all may have valid refresh tokens. Without an ID token of one of them the user must confirm:
// otherwise any page could sign users out.
//
// With an ID token of a user who was signed in to this browser before another one, the sessions of
// that user end, and the current user is asked.
//
// A request without a session, such as one from a client's server, ends the sessions in the browser
// of its ID token and no other. The ID token may have expired (RP-Initiated Logout §2), but the
// session must still exist and the client must be registered.
func (p *Provider) Logout(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return errHead
	}
	l, err := p.readLogout(w, r)
	if err != nil {
		return p.renderErrorPage(w, r, nil, err)
	}
	// Browsers add an Origin to every POST. A cross-site form lacks the cookies.
	fromBrowser := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
	switch {
	case (!l.remote || fromBrowser) && p.fetchCookies(w, r, LogoutPath, l.form):
		return nil
	case l.remote && l.client == nil:
		return p.renderErrorPage(w, r, nil, errorf(codeInvalidRequest, "the client of the id_token_hint is not registered: the session was not ended").
			refusing("id_token_hint", describeHint(l.form.Get("id_token_hint"))))
	}
	if l.former != nil && l.client != nil {
		if err := p.endSession(r.Context(), l.former, l.client.ID); err != nil {
			return err
		}
	}
	switch {
	case l.session != nil && !l.hinted && !p.confirmed(l):
		p.confirmLogout(w, r, l)
		return nil
	case l.remote:
		err = p.endSession(r.Context(), l.session, l.client.ID)
	case l.session != nil:
		err = p.endSession(r.Context(), l.session, "")
	}
	if err != nil {
		return err
	}
	return p.leave(w, r, l)
}

// leave clears the cookie of the session, and redirects to the client, or to the page that states the sign-out.
func (p *Provider) leave(w http.ResponseWriter, r *http.Request, l *logoutRequest) error {
	// Without the check a form on a page of another site, which lacks the cookie, could sign users
	// out.
	if p.cookieHash(r, sessionCookie) != nil {
		gone := p.cookie(sessionCookie, "")
		gone.MaxAge = -1
		http.SetCookie(w, gone)
	}
	to := l.back
	if to == "" {
		to = p.logoutPage("signedout", l, url.Values{})
	}
	http.Redirect(w, r, to, seeOther(r))
	return nil
}

// endSession ends a session. The event names the client if only its ID token identified the session.
func (p *Provider) endSession(ctx context.Context, s *schemas.Session, client string) error {
	actor := schemas.Actor{Type: schemas.UserActor, ID: s.UserID, Client: client}
	return p.Record(ctx, schemas.Event{
		ID: schemas.NewID(), At: p.now(), Action: "session.ended", UserID: s.UserID,
		Actor: actor, Resource: schemas.ResourceRef{Type: "session", ID: s.ID},
	}, schemas.EndSession{ID: s.ID, At: p.now()})
}

func (p *Provider) readLogout(w http.ResponseWriter, r *http.Request) (l *logoutRequest, err error) {
	sent := r.URL.Query()
	if r.Method == http.MethodPost {
		if sent, err = readBody(w, r); err != nil {
			return nil, err
		}
	}
	l = &logoutRequest{}
	if l.form, err = knownParameters(sent, logoutParameters()); err != nil {
		return nil, err
	}
	if l.session, err = p.sessionToEnd(r); err != nil {
		return nil, err
	}
	clientID, err := p.readHint(r.Context(), l)
	if err != nil {
		return nil, err
	}
	return l, p.findBack(r, l, clientID)
}

// sessionToEnd returns the session of the browser, which may have expired; nil for none.
func (p *Provider) sessionToEnd(r *http.Request) (*schemas.Session, error) {
	hash, browser := p.cookieHash(r, sessionCookie), ""
	if cookie := p.browser(r); cookie != nil {
		browser = browserName(cookie)
	}
	if hash == nil && browser == "" {
		return nil, nil
	}
	return p.Store.BrowserSession(r.Context(), hash, browser)
}

// readHint returns the id of the client from the ID token, or from client_id. If the browser has no
// session, the request is about the session of the ID token, unless that has ended or expired. An
// old ID token is therefore accepted only while its session lasts.
func (p *Provider) readHint(ctx context.Context, l *logoutRequest) (clientID string, err error) {
	clientID = l.form.Get("client_id")
	raw := l.form.Get("id_token_hint")
	if raw == "" {
		return clientID, nil
	}
	hint, err := p.Tokens.VerifyIDToken(ctx, raw)
	if schemas.HasClass(err, schemas.Unauthenticated) || err == nil && clientID != "" && clientID != hint.ClientID {
		return "", errorf(codeInvalidRequest, "the id_token_hint is not an ID token that this server issued to this client: send one of the session of the user").refusing("id_token_hint", describeHint(raw))
	}
	if err != nil {
		return "", err
	}
	named, err := p.Store.Session(ctx, hint.Session)
	if err == nil && named != nil && named.UserID == hint.Subject && p.now().Before(named.ExpiresAt) {
		l.name(named)
	}
	return hint.ClientID, err
}

// name sets the session of the ID token.
func (l *logoutRequest) name(named *schemas.Session) {
	switch {
	case l.session == nil:
		l.session, l.remote, l.hinted = named, true, true
	case named.ID == l.session.ID:
		l.hinted = true
	case named.Browser == "" || named.Browser != l.session.Browser:
	case named.UserID == l.session.UserID:
		l.hinted = true
	default:
		l.former = named
	}
}

// findBack determines the client, and the URI to which the browser is redirected afterwards, which
// the client must have registered. Without such a URI, the client need not exist any more.
func (p *Provider) findBack(r *http.Request, l *logoutRequest, clientID string) (err error) {
	to := l.form.Get("post_logout_redirect_uri")
	if clientID == "" && to == "" {
		return nil
	}
	if clientID == "" {
		return errorf(codeInvalidRequest, "a post_logout_redirect_uri needs the client that it is registered for: send id_token_hint or client_id").refusing("post_logout_redirect_uri", to)
	}
	l.client, err = p.findClient(r.Context(), clientID)
	if _, unknown := errors.AsType[*Error](err); unknown && to == "" {
		return nil
	}
	if err != nil || to == "" {
		return err
	}
	if !slices.Contains(l.client.oauth.PostLogoutRedirectURIs, to) {
		return errorf(codeInvalidRequest, "the post_logout_redirect_uri is not registered for this client: send exactly one of its postLogoutRedirectUris, or add this one to them").refusing("post_logout_redirect_uri", to)
	}
	if takes, err := p.servesUsers(r, l.client, to); err != nil || !takes {
		return err
	}
	if state := l.form.Get("state"); state != "" {
		to = withQuery(to, url.Values{"state": {state}})
	}
	l.back = to
	return nil
}

// confirmation is the value with which the page confirms. It is valid for this session only, and
// cannot be forged without the key.
func (p *Provider) confirmation(s *schemas.Session) string {
	return base64.RawURLEncoding.EncodeToString(p.refreshMAC([]byte("sign out of " + s.ID)))
}

func (p *Provider) confirmed(l *logoutRequest) bool {
	return subtle.ConstantTimeCompare([]byte(l.form.Get("confirm")), []byte(p.confirmation(l.session))) == 1
}

// confirmLogout redirects to the page that asks for confirmation, with the parameters. client_id
// replaces the ID token, which does not belong in URLs.
func (p *Provider) confirmLogout(w http.ResponseWriter, r *http.Request, l *logoutRequest) {
	q := url.Values{"confirm": {p.confirmation(l.session)}}
	for _, name := range []string{"post_logout_redirect_uri", "state"} {
		if l.form.Has(name) {
			q.Set(name, l.form.Get(name))
		}
	}
	if l.client != nil {
		q.Set("client_id", l.client.ClientID)
	}
	http.Redirect(w, r, p.logoutPage("signout", l, q), seeOther(r))
}

// logoutPage returns the address of a hosted page, with the appearance of the client and the
// requested language.
func (p *Provider) logoutPage(name string, l *logoutRequest, q url.Values) string {
	if l.client != nil {
		q.Set("applicationId", l.client.ID)
	}
	if l.form.Has("ui_locales") {
		q.Set("ui_locales", l.form.Get("ui_locales"))
	}
	return strings.TrimSuffix(p.Gate+"/"+name+"?"+q.Encode(), "?")
}
