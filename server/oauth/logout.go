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

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Parameters of the logout endpoint: OpenID Connect RP-Initiated Logout §2.
const (
	logoutRedirectParameter = "post_logout_redirect_uri"
	confirmParameter        = "confirm" // ours: the person has said yes
)

func logoutParameters() []string {
	return []string{idHintParameter, clientIDParameter, logoutRedirectParameter, stateParameter, localesParameter, confirmParameter}
}

// logoutRequest is a request to sign out.
type logoutRequest struct {
	session *schemas.Session // the browser's; nil if it has none
	hinted  bool             // an ID token says that it is about this session
	remote  bool             // the request has no session; session is that of the ID token
	client  *client          // who asks; nil for nobody, or nobody known
	back    string           // where to go then; "" for nowhere in particular
	form    url.Values
}

// Logout is GET and POST /oauth2/logout: it ends the session of the browser and
// goes back to the client. Without an ID token of the session the person is asked:
// any page could else sign people out.
//
// A request without a session, such as one from a client's server, ends the session of
// its ID token and no other. The ID token may have expired (RP-Initiated Logout §2), but
// the session must still exist and the client must be registered.
func (p *Provider) Logout(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return errHead
	}
	l, err := p.readLogout(w, r)
	if err != nil {
		return p.renderErrorPage(w, r, err)
	}
	switch {
	case (!l.remote || sentByBrowser(r)) && p.fetchCookies(w, r, LogoutPath, l.form):
		return nil
	case l.remote && l.client == nil:
		return p.renderErrorPage(w, r, errorf(codeInvalidRequest, "the client of the id_token_hint is not registered: the session was not ended"))
	case l.session != nil && !l.hinted && !p.confirmed(l):
		p.confirmLogout(w, r, l)
		return nil
	case l.session != nil:
		if err := p.endSession(r.Context(), l); err != nil {
			return err
		}
	}
	p.clearSessionCookie(w, r)
	to := l.back
	if to == "" {
		to = p.renderLogoutPage("signedout", l, url.Values{})
	}
	http.Redirect(w, r, to, seeOther(r))
	return nil
}

// clearSessionCookie has the browser forget its session, if it has sent one: a page of another
// site that sends a form here could else sign people out, whose cookie it lacks.
func (p *Provider) clearSessionCookie(w http.ResponseWriter, r *http.Request) {
	if p.cookieHash(r, sessionCookie) == nil {
		return
	}
	gone := p.cookie(sessionCookie, "")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
}

// endSession ends the session of a request. The client is recorded where its ID token alone
// identified the session.
func (p *Provider) endSession(ctx context.Context, l *logoutRequest) error {
	s := l.session
	actor := schemas.Actor{Type: schemas.UserActor, ID: s.UserID}
	if l.remote {
		actor.Client = l.client.ID
	}
	return p.Record(ctx, schemas.Event{
		ID: schemas.NewID(), At: p.now(), Action: "session.ended", UserID: s.UserID,
		Actor: actor, Resource: schemas.ResourceRef{Type: "session", ID: s.ID},
	}, schemas.EndSession{ID: s.ID, At: p.now()})
}

// sentByBrowser reports whether a browser sent a form: browsers add an Origin to every
// POST. A cross-site form lacks the cookies, which fetchCookies then asks for.
func sentByBrowser(r *http.Request) bool {
	return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
}

func (p *Provider) readLogout(w http.ResponseWriter, r *http.Request) (*logoutRequest, error) {
	sent := r.URL.Query()
	if r.Method == http.MethodPost {
		var err error
		if sent, err = readBody(w, r); err != nil {
			return nil, err
		}
	}
	form, err := knownParameters(sent, logoutParameters())
	if err != nil {
		return nil, err
	}
	l := &logoutRequest{form: form}
	if l.session, err = p.Session(r); err != nil {
		return nil, err
	}
	clientID, err := p.readHint(r.Context(), l)
	if err != nil {
		return nil, err
	}
	if l.client, err = p.logoutSession(r.Context(), clientID, form); err != nil {
		return nil, err
	}
	l.back, err = p.wayBack(r, l)
	return l, err
}

// readHint returns the client that asks: of the ID token, or as it says itself.
func (p *Provider) readHint(ctx context.Context, l *logoutRequest) (clientID string, err error) {
	clientID = l.form.Get(clientIDParameter)
	raw := l.form.Get(idHintParameter)
	if raw == "" {
		return clientID, nil
	}
	hint, err := p.Authorization.Tokens.VerifyIDToken(ctx, raw)
	if schemas.HasClass(err, schemas.Unauthenticated) || err == nil && clientID != "" && clientID != hint.ClientID {
		return "", errorf(codeInvalidRequest, "the id_token_hint is no ID token that this client was given here")
	}
	if err != nil {
		return "", err
	}
	if l.session == nil {
		if l.session, err = p.sessionOf(ctx, hint); err != nil {
			return "", err
		}
		l.remote = l.session != nil
	}
	l.hinted = l.session != nil && hint.Session == l.session.ID
	return hint.ClientID, nil
}

// sessionOf returns the session that an ID token was issued in; nil if it has ended or
// expired. So an old ID token is accepted no longer than its session lasts.
func (p *Provider) sessionOf(ctx context.Context, hint *token.IDClaims) (*schemas.Session, error) {
	s, err := p.Authorization.Sessions.Session(ctx, hint.Session)
	if err != nil || s == nil || s.UserID != hint.Subject || !p.now().Before(s.ExpiresAt) {
		return nil, err
	}
	return s, nil
}

// logoutSession is the client that asks. One that does not want people back need not
// be there any more.
func (p *Provider) logoutSession(ctx context.Context, clientID string, form url.Values) (*client, error) {
	back := form.Has(logoutRedirectParameter)
	if clientID == "" && !back {
		return nil, nil
	}
	c, err := p.clientNamed(ctx, clientID)
	if _, worded := errors.AsType[*Error](err); worded && !back {
		return nil, nil
	}
	return c, err
}

// wayBack is where the client has people sent afterwards; only to what it has
// registered for that, and only those who come from it, if it is anybody's.
func (p *Provider) wayBack(r *http.Request, l *logoutRequest) (string, error) {
	to := l.form.Get(logoutRedirectParameter)
	if to == "" {
		return "", nil
	}
	if !slices.Contains(l.client.oauth.PostLogoutRedirectURIs, to) {
		return "", errorf(codeInvalidRequest, "the post_logout_redirect_uri is not registered for this client: expected one of its postLogoutRedirectUris, letter by letter")
	}
	if takes, err := p.servesUsers(r, l.client, to); err != nil || !takes {
		return "", err
	}
	if state := l.form.Get(stateParameter); state != "" {
		to = withQuery(to, url.Values{stateParameter: {state}})
	}
	return to, nil
}

// confirmation is what the page sends back that asks. No other page knows it: it is
// good for this session alone, and nobody can make it who has not the key.
func (p *Provider) confirmation(s *schemas.Session) string {
	return base64.RawURLEncoding.EncodeToString(p.refreshMAC([]byte("sign out of " + s.ID)))
}

func (p *Provider) confirmed(l *logoutRequest) bool {
	return subtle.ConstantTimeCompare([]byte(l.form.Get(confirmParameter)), []byte(p.confirmation(l.session))) == 1
}

// confirmLogout sends the person to the page that asks, with all that it takes to go
// on. The client stands for the ID token, of which no part belongs into addresses.
func (p *Provider) confirmLogout(w http.ResponseWriter, r *http.Request, l *logoutRequest) {
	q := url.Values{confirmParameter: {p.confirmation(l.session)}}
	for _, name := range []string{logoutRedirectParameter, stateParameter} {
		if l.form.Has(name) {
			q.Set(name, l.form.Get(name))
		}
	}
	if l.client != nil {
		q.Set(clientIDParameter, l.client.GetID())
	}
	http.Redirect(w, r, p.renderLogoutPage("signout", l, q), seeOther(r))
}

// renderLogoutPage is the address of a page of the gate, in the looks of the client and
// the language that it asks for.
func (p *Provider) renderLogoutPage(name string, l *logoutRequest, q url.Values) string {
	if l.client != nil {
		q.Set("applicationId", l.client.ID)
	}
	if l.form.Has(localesParameter) {
		q.Set(localesParameter, l.form.Get(localesParameter))
	}
	return strings.TrimSuffix(p.Authorization.Gate+"/"+name+"?"+q.Encode(), "?")
}
