package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/document"
	"github.com/postern-id/postern/server/openapi"
)

// The paths of the API's description.
const (
	openAPIPath = "/openapi.json"
	docsPath    = "/docs"
)

const apiSummary = "Sign-in, OAuth 2.1 and OpenID Connect, and the administration of a Postern server. Lists have pages: follow the next links. " +
	"Replies to GET and writes have an ETag; send it as If-Match with a change, which then fails with 412 if the resource has changed since."

// describedOperations returns the operations of the endpoints, in their order.
func (s *server) describedOperations() ([]openapi.Operation, error) {
	known := operations()
	for _, n := range s.nouns() {
		for endpoint, o := range nounOperations(n) {
			known[endpoint] = o
		}
	}
	var list []openapi.Operation
	for _, e := range s.endpoints() {
		own := strings.HasPrefix(e.path, "/users/me/")
		o, found := known[e.method+" "+e.path]
		if !found && own {
			o, found = known[e.method+" "+strings.Replace(e.path, "/users/me/", "/users/{id}/", 1)]
		}
		if !found {
			return nil, fmt.Errorf("%s %s is not described", e.method, e.path)
		}
		o.Method, o.Path = e.method, e.path
		if !e.needs.isOpen() {
			o.Needs = openapi.Need{Token: true, Permission: e.needs.permission()}
		}
		name := map[bool]string{true: "My", false: "User"}[own]
		o.ID = strings.Replace(o.ID, " ", name, 1)
		o.Concealable = o.Concealable && !own
		if o.Status == 0 {
			o.Status = http.StatusNoContent
			if o.Reply != nil {
				o.Status = http.StatusOK
			}
		}
		list = append(list, o)
	}
	return list, nil
}

func (s *server) nouns() (nouns []directory.Noun) {
	if s.Directory == nil {
		return nil
	}
	for _, r := range s.Directory.Resources() {
		nouns = append(nouns, r.Noun())
	}
	return nouns
}

// apiDocuments are the OpenAPI description and its page.
type apiDocuments struct{ description, page *document.Document }

func (s *server) describeAPI() (d apiDocuments, err error) {
	list, err := s.describedOperations()
	if err != nil {
		return d, err
	}
	info := openapi.Info{Title: "Postern", Description: apiSummary, Server: s.PublicURL, Error: "Error", OAuthError: "OAuthError"}
	text, err := openapi.Document(info, list, namedSchemas(s.nouns()))
	if err != nil {
		return d, err
	}
	html, err := openapi.Page(text)
	return apiDocuments{document.New("application/json", text), document.New("text/html; charset=utf-8", html)}, err
}

// docsCaching is the Cache-Control of the API's description.
const docsCaching = "public, max-age=300"

// openAPI handles GET /openapi.json.
func (s *server) openAPI(w http.ResponseWriter, r *http.Request) error {
	d, err := s.documents()
	if err == nil {
		d.description.Serve(w, r, docsCaching)
	}
	return err
}

// docs handles GET /docs.
func (s *server) docs(w http.ResponseWriter, r *http.Request) error {
	d, err := s.documents()
	if err == nil {
		w.Header().Set("Content-Security-Policy", openapi.PagePolicy())
		d.page.Serve(w, r, docsCaching)
	}
	return err
}
