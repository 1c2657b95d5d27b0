package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/postern-id/postern/internal/design"
)

// directionsStyle returns the style of the page of directions.
var directionsStyle = sync.OnceValue(func() string {
	return design.Compatible() + `
* { box-sizing: border-box; }
body { margin: 0; padding: 15vh var(--space-4) var(--space-4); background: var(--paper); color: var(--ink); font: 400 var(--text-5)/1.6 var(--font); }
main { max-width: 28rem; margin: auto; padding: var(--space-6); border: 1px solid var(--line); border-radius: var(--radius-3); background: var(--surface); box-shadow: var(--shadow-2); overflow-wrap: anywhere; }
.service { display: flex; align-items: center; gap: var(--space-2); margin: 0 0 var(--space-5); font-weight: 600; }
.service img { max-width: 60%; }
.service svg { width: 1.5rem; color: var(--green); }
h1 { margin: 0 0 var(--space-2); font-size: var(--text-7); line-height: 1.2; letter-spacing: -.02em; }
p { margin: 0 0 var(--space-4); color: var(--ink-2); }
a { color: var(--green); font-weight: 600; text-underline-offset: .2em; }
a:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
ul { margin: 0; padding: 0; list-style: none; }
li { padding: var(--space-3) 0; border-top: 1px solid var(--line); }
small { color: var(--ink-3); }
@media (max-width: 30rem) { body { padding: 0; background: var(--surface); } main { border: 0; box-shadow: none; padding: var(--space-5) var(--space-4); } }
`
})

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
  <p class="service">{{if .Service.LogoURL}}<img src="{{.Logo}}" alt="" height="40">{{else}}{{.Mark}}{{end}} {{.Service.Name}}</p>
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
	shown := map[string]any{"Title": "Sign-in service", "Text": "Applications send their users here to sign in.", "Style": template.CSS(directionsStyle()), "Links": links, "Mark": template.HTML(design.Mark()),
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
	sum := sha256.Sum256([]byte(directionsStyle()))
	maps.Copy(w.Header(), hardenedFields())
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; img-src https: data:; base-uri 'none'; frame-ancestors 'none'")
	writeBody(w, status, "text/html; charset=utf-8", page.Bytes())
}
