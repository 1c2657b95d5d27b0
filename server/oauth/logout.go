package oauth

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// Parameters of the logout endpoint: OpenID Connect RP-Initiated Logout §2.
const (
	logoutRedirectParameter = "post_logout_redirect_uri"
	confirmParameter        = "confirm" // ours: the person has said yes
)

func logoutParameters() []string {
	return []string{idHintParameter, clientIDParameter, logoutRedirectParameter, stateParameter, confirmParameter}
}

// leaving is a request to sign out.
type leaving struct {
	session *schemas.Session // the browser's; nil if it has none
	hinted  bool             // an ID token says that it is about this session
	back    string           // where to go then; "" for nowhere in particular
	form    url.Values
}

// Logout is GET and POST /oauth2/logout: it ends the session of the browser and
// goes back to the client. Without an ID token of the session the person is asked:
// any page could else sign people out.
func (p *Provider) Logout(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		return errHead
	}
	l, err := p.leaving(w, r)
	if err != nil {
		return p.tellPerson(w, r, err)
	}
	if l.session != nil && !l.hinted && !p.confirmed(l) {
		return p.askToLeave(w, l)
	}
	if l.session != nil {
		if err := p.end(r.Context(), l.session); err != nil {
			return err
		}
	}
	gone := p.cookie(sessionCookie, "")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	to := p.Authorization.Gate + "/signedout"
	if l.back != "" {
		to = l.back
	}
	http.Redirect(w, r, to, seeOther(r))
	return nil
}

// end ends a session, as its user wants.
func (p *Provider) end(ctx context.Context, s *schemas.Session) error {
	return p.Record(ctx, schemas.Event{
		ID: schemas.NewID(), At: p.now(), Action: "session.ended", UserID: s.UserID,
		Actor: schemas.Actor{Type: schemas.UserActor, ID: s.UserID}, Resource: schemas.ResourceRef{Type: "session", ID: s.ID},
	}, schemas.EndSession{ID: s.ID, At: p.now()})
}

func (p *Provider) leaving(w http.ResponseWriter, r *http.Request) (*leaving, error) {
	sent := r.URL.Query()
	if r.Method == http.MethodPost {
		var err error
		if sent, err = readBody(w, r); err != nil {
			return nil, err
		}
	}
	form, err := known(sent, logoutParameters())
	if err != nil {
		return nil, err
	}
	l := &leaving{form: form}
	if l.session, err = p.Session(r); err != nil {
		return nil, err
	}
	clientID, err := p.readHint(r.Context(), l)
	if err != nil {
		return nil, err
	}
	l.back, err = p.wayBack(r.Context(), clientID, form)
	return l, err
}

// readHint returns the client that asks: of the ID token, or as it says itself.
func (p *Provider) readHint(ctx context.Context, l *leaving) (clientID string, err error) {
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
	l.hinted = l.session != nil && hint.Session == l.session.ID
	return hint.ClientID, nil
}

// wayBack is where the client has people sent afterwards; only to what it has
// registered for that.
func (p *Provider) wayBack(ctx context.Context, clientID string, form url.Values) (string, error) {
	to := form.Get(logoutRedirectParameter)
	if to == "" {
		return "", nil
	}
	c, err := p.clientNamed(ctx, clientID)
	if err != nil {
		return "", err
	}
	if !slices.Contains(c.oauth.PostLogoutRedirectURIs, to) {
		return "", errorf(codeInvalidRequest, "the post_logout_redirect_uri is not registered for this client: expected one of its postLogoutRedirectUris, letter by letter")
	}
	if state := form.Get(stateParameter); state != "" {
		to = withQuery(to, url.Values{stateParameter: {state}})
	}
	return to, nil
}

// confirmation is what the page sends back that asks. No other page knows it.
func (p *Provider) confirmation(s *schemas.Session) string {
	return base64.RawURLEncoding.EncodeToString(p.refreshMAC([]byte("sign out of " + s.ID)))
}

func (p *Provider) confirmed(l *leaving) bool {
	return subtle.ConstantTimeCompare([]byte(l.form.Get(confirmParameter)), []byte(p.confirmation(l.session))) == 1
}

// leavePage asks whether to sign out.
var leavePage = template.Must(template.New("leave").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign out</title></head>
<body><main><h1>Sign out?</h1><form method="post">
{{range $name, $values := .}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">
{{end}}{{end}}<button>Sign out</button></form></main></body></html>
`))

func (p *Provider) askToLeave(w http.ResponseWriter, l *leaving) error {
	l.form.Set(confirmParameter, p.confirmation(l.session))
	var page bytes.Buffer
	if err := leavePage.Execute(&page, l.form); err != nil {
		return err
	}
	writePage(w, page.Bytes(), "")
	return nil
}
