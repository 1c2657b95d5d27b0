package oauth

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"net/url"

	"github.com/postern-id/postern/schemas"
)

// redirectToClient sends the browser back to the client with an answer. It carries the
// issuer (RFC 9207): a client of several servers must not take the code of one to
// another.
func (p *Provider) redirectToClient(w http.ResponseWriter, r *http.Request, req *schemas.AuthRequest, more url.Values) error {
	p.addCommonParameters(req, more)
	if req.ResponseMode == "form_post" {
		return writeFormPost(w, req.RedirectURI, more)
	}
	http.Redirect(w, r, withQuery(req.RedirectURI, more), seeOther(r))
	return nil
}

// addCommonParameters adds what every answer has.
func (p *Provider) addCommonParameters(req *schemas.AuthRequest, more url.Values) {
	more.Set("iss", p.Issuer)
	if req.State != "" {
		more.Set(stateParameter, req.State)
	}
}

// submit is all that the page of form_post runs.
const submit = "document.forms[0].submit()"

// formPostPage is the page of response_mode=form_post (OAuth 2.0 Form Post
// Response Mode §2). Without scripts there is a button.
var formPostPage = template.Must(template.New("form_post").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Postern</title></head>
<body><form method="post" action="{{.Action}}">
{{range $name, $values := .Fields}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">
{{end}}{{end}}<noscript><button>Continue</button></noscript>
</form><script>` + submit + `</script></body></html>
`))

func writeFormPost(w http.ResponseWriter, action string, fields url.Values) error {
	var page bytes.Buffer
	// The action is registered. It may have a scheme that the template takes for
	// dangerous, as apps on devices have their own.
	err := formPostPage.Execute(&page, map[string]any{"Action": template.URL(action), "Fields": fields})
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(submit))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(page.Bytes()) // whoever does not read it is gone
	return nil
}

// seeOther is the status of a redirect after which nothing is sent a second time.
func seeOther(r *http.Request) int {
	if r.Method == http.MethodPost {
		return http.StatusSeeOther
	}
	return http.StatusFound
}

// renderErrorPage shows an error to the person, for want of a client to tell it to.
func (p *Provider) renderErrorPage(w http.ResponseWriter, r *http.Request, err error) error {
	reported, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	q := url.Values{"error": {reported.Code}, "error_description": {reported.Description}}
	http.Redirect(w, r, p.Authorization.Gate+"/error?"+q.Encode(), seeOther(r))
	return nil
}

// redirectWithError answers a client with an error (RFC 6749 §4.1.2.1), or the person in its
// place.
func (p *Provider) redirectWithError(w http.ResponseWriter, r *http.Request, a *authorizeRequest, err error) error {
	reported, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	known, err := p.servesUsers(r, a.client, a.redirect)
	if err != nil {
		return err
	}
	if !known {
		return p.renderErrorPage(w, r, reported)
	}
	more := url.Values{"error": {reported.Code}, "error_description": {reported.Description}}
	var state string
	if sent := a.form[stateParameter]; len(sent) == 1 && isStorable(sent[0]) {
		state = sent[0]
	}
	return p.redirectToClient(w, r, &schemas.AuthRequest{RedirectURI: a.redirect, ResponseMode: a.mode, State: state}, more)
}
