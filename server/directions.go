package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"maps"
	"net/http"
	"strings"
)

// directionsStyle is the style of the page of directions.
const directionsStyle = `:root{color-scheme:light dark}body{margin:0;padding:15vh 1rem 1rem;font:1rem/1.6 system-ui,sans-serif;background:light-dark(#f3f1eb,#0f1311);color:light-dark(#1a211e,#e8ece9)}` +
	`main{box-sizing:border-box;max-width:28rem;margin:auto;padding:1.5rem 2.5rem 2rem;border:1px solid light-dark(#deddd5,#2c3430);border-radius:1.25rem;background:light-dark(#fffefb,#181e1b);overflow-wrap:anywhere}` +
	`img{max-width:60%}main>p:first-of-type{font-weight:600}h1{font-size:1.5rem}a{color:light-dark(#1f6350,#7fd0b5)}ul{padding-left:1.2rem}li{margin:.3rem 0}small{opacity:.8}`

// directions is the page with links to the other pages: at the root, at unknown addresses, and
// after a failure of an endpoint that browsers open.
var directions = template.Must(template.New("directions").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>{{.Title}} · {{.Service.Name}}</title>
  <style>{{.Style}}</style>
</head>
<body>
<main>
  {{- if .Service.LogoURL}}
  <img src="{{.Logo}}" alt="" height="40">
  {{- end}}
  <p>{{.Service.Name}}</p>
  <h1>{{.Title}}</h1>
  <p>{{.Text}}</p>
  <ul>
    {{- range .Links}}
    <li><a href="{{.Href}}">{{.Rel}}</a></li>
    {{- end}}
  </ul>
  {{- if .TraceID}}
  <p><small>Trace id: <code>{{.TraceID}}</code></small></p>
  {{- end}}
</main>
</body>
</html>
`))

// isBrowser reports whether a request comes from a browser: a program that calls the API does not
// request HTML.
func isBrowser(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// acceptsPage reports whether a request for the root can have a page as its reply: it does, unless the client wants
// another type. Programs without preferences, such as curl, get the page too.
func acceptsPage(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return isBrowser(r) || (r.Method == http.MethodGet || r.Method == http.MethodHead) && (accept == "" || strings.Contains(accept, "*/*"))
}

// writeDirections replies with the page of directions.
func (s *server) writeDirections(w http.ResponseWriter, r *http.Request, status int) {
	var links []link
	for _, page := range []struct{ key, path, name string }{
		{"/try/", "/try/", "Try it: create an account, and sign in"}, {"/gate/", "/gate/account", "Your account"}, {"/console", "/console", "The console, for administrators"}, {"", docsPath, "The API"},
	} {
		if page.key == "" || s.Pages[page.key] != nil {
			links = append(links, link{s.base + page.path, page.name})
		}
	}
	shown := map[string]any{"Title": "Sign-in service", "Text": "Applications send their users here to sign in.", "Style": template.CSS(directionsStyle), "Links": links,
		"Service": s.Service, "Logo": template.URL(s.Service.LogoURL)}
	if status == http.StatusNotFound {
		shown["Title"], shown["Text"], shown["TraceID"] = "Page not found", "There is no page at this address. The application that sent you here may have an outdated link.", exchangeOf(r).traceID
	} else if status != http.StatusOK {
		shown["Title"], shown["Text"], shown["TraceID"] = "That did not work", "The service cannot answer at the moment. Go back to the application, and try again in a moment.", exchangeOf(r).traceID
	}
	var page bytes.Buffer
	if err := directions.Execute(&page, shown); err != nil {
		s.fail(w, r, err)
		return
	}
	sum := sha256.Sum256([]byte(directionsStyle))
	maps.Copy(w.Header(), hardenedFields())
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; img-src https: data:; base-uri 'none'; frame-ancestors 'none'")
	writeBody(w, status, "text/html; charset=utf-8", page.Bytes())
}
