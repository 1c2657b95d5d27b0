package oauth

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/runs"
)

// redirectToClient redirects the browser to the client with an answer. It contains the issuer (RFC
// 9207), so that a client of several servers does not send the code of one to another.
func (p *Provider) redirectToClient(w http.ResponseWriter, r *http.Request, req *schemas.AuthRequest, more url.Values) error {
	p.addCommonParameters(req, more)
	if req.ResponseMode == "form_post" {
		return writeFormPost(w, req.RedirectURI, more)
	}
	http.Redirect(w, r, withQuery(req.RedirectURI, more), seeOther(r))
	return nil
}

// addCommonParameters adds the parameters of every answer.
func (p *Provider) addCommonParameters(req *schemas.AuthRequest, more url.Values) {
	more.Set("iss", p.Issuer)
	if req.State != "" {
		more.Set("state", req.State)
	}
}

// submit is the script of the form_post page.
const submit = "document.forms[0].submit()"

// formPostPage is the page of response_mode=form_post (OAuth 2.0 Form Post Response Mode §2). It
// has a button for browsers without scripts.
var formPostPage = template.Must(template.New("form_post").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Postern</title></head>
<body><form method="post" action="{{.Action}}">
{{range $name, $values := .Fields}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">
{{end}}{{end}}<noscript><button>Continue</button></noscript>
</form><script>` + submit + `</script></body></html>
`))

func writeFormPost(w http.ResponseWriter, action string, fields url.Values) error {
	var page bytes.Buffer
	// The action is registered. The template would reject the private-use schemes of apps.
	err := formPostPage.Execute(&page, map[string]any{"Action": template.URL(action), "Fields": fields})
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(submit))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(page.Bytes()) // fails only if the client has gone
	return nil
}

// seeOther is the status of a redirect that does not repeat the body.
func seeOther(r *http.Request) int {
	if r.Method == http.MethodPost {
		return http.StatusSeeOther
	}
	return http.StatusFound
}

// parameters are those of the error in a redirect.
func (e *Error) parameters() url.Values {
	return url.Values{"error": {e.Code}, "error_description": {e.Description}}
}

// authorizationRefused is the action of events about requests of browsers that are refused.
const authorizationRefused = "authorization.refused"

// renderErrorPage shows an error to the user if it cannot be sent to a client, and records it. The
// page names the request by its trace id, and leads back to the application if that is known: a is
// nil if it is not.
func (p *Provider) renderErrorPage(w http.ResponseWriter, r *http.Request, a *authorizeRequest, err error) error {
	reported, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	more, of := url.Values{}, (*schemas.Application)(nil)
	if a != nil && a.client != nil {
		of = a.client.Application
		more.Set("applicationId", of.ID)
	}
	if trace := runs.TraceID(r.Context()); trace != "" {
		more.Set("traceId", trace)
	}
	if err := p.Record(r.Context(), p.refusal(r.Context(), authorizationRefused, of, reported)); err != nil {
		return fmt.Errorf("record the refusal: %w", err)
	}
	shown := reported.parameters()
	shown.Set("error", cmp.Or(reported.page, reported.Code))
	http.Redirect(w, r, withQuery(p.Gate+"/error?"+shown.Encode(), more), seeOther(r))
	return nil
}

// redirectWithError answers a client with an error (RFC 6749 §4.1.2.1), or shows it to the user.
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
		return p.renderErrorPage(w, r, a, reported)
	}
	if reported.parameter != "" {
		if err := p.Record(r.Context(), p.refusal(r.Context(), authorizationRefused, a.client.Application, reported)); err != nil {
			return fmt.Errorf("record the refusal: %w", err)
		}
	}
	var state string
	if sent := a.form["state"]; len(sent) == 1 && isStorable(sent[0]) {
		state = sent[0]
	}
	return p.redirectToClient(w, r, &schemas.AuthRequest{RedirectURI: a.redirect, ResponseMode: a.mode, State: state}, reported.parameters())
}
