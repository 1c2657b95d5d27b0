package server_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/oauth"
)

// fullServer has all endpoints.
func fullServer() server.Options {
	return server.Options{PublicURL: publicURL, Directory: directory.New(directory.Options{}), OAuth: &oauth.Provider{}, Tools: fakeTools{}, Keys: &token.Issuer{}}
}

func getFrom(path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	server.New(fullServer()).ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
	return rec
}

// description is the OpenAPI document of a server with all endpoints.
type description struct {
	compiler   *jsonschema.Compiler
	operations map[string]map[string]operation // path → method in lower case
	patterns   map[string]*regexp.Regexp       // by path
	schemas    sync.Map                        // compiled, by location
}

type operation struct {
	OperationID string
	RequestBody struct{ Content map[string]any }
	Responses   map[string]struct{ Content map[string]any }
}

// theDescription is parsed once: every reply in the tests of this package is checked against it.
var theDescription = sync.OnceValue(func() *description {
	rec := getFrom("/openapi.json")
	var doc struct {
		Paths map[string]map[string]operation
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil || rec.Code != 200 {
		panic(strconv.Itoa(rec.Code) + rec.Body.String())
	}
	d := &description{compiler: jsonschema.NewCompiler(), operations: doc.Paths, patterns: map[string]*regexp.Regexp{}}
	for path := range doc.Paths {
		d.patterns[path] = regexp.MustCompile("^" + pathVariable.ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`) + "$")
	}
	if err := d.compiler.AddResource("openapi.json", bytes.NewReader(rec.Body.Bytes())); err != nil {
		panic(err)
	}
	return d
})

var pathVariable = regexp.MustCompile(`\\\{\w+\\\}`)

// find returns the path of a request's operation in the document; "" for none. A path without
// variables is closer than one with them.
func (d *description) find(method, path string) string {
	best := ""
	for candidate, methods := range d.operations {
		if _, ok := methods[strings.ToLower(method)]; !ok {
			continue
		}
		if d.patterns[candidate].MatchString(path) && (best == "" || strings.Count(candidate, "{") < strings.Count(best, "{")) {
			best = candidate
		}
	}
	return best
}

// schema returns the schema at the place in the document.
func (d *description) schema(t testing.TB, place ...string) *jsonschema.Schema {
	t.Helper()
	for i := range place {
		place[i] = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(place[i])
	}
	location := "openapi.json#/" + strings.Join(place, "/")
	if s, ok := d.schemas.Load(location); ok {
		return s.(*jsonschema.Schema)
	}
	s, err := d.compiler.Compile(location)
	if err != nil {
		t.Fatalf("%s: %v", location, err)
	}
	d.schemas.Store(location, s)
	return s
}

var describing sync.Mutex // a Compiler is for one goroutine

// checkDescribed checks that the description allows what a client sent and got. A request that the
// server accepted must be valid; null and empty text in it count as absent, which the description need not say.
func checkDescribed(t testing.TB, method, target, mediaType, body string, rec *httptest.ResponseRecorder) {
	t.Helper()
	describing.Lock()
	defer describing.Unlock()
	d := theDescription()
	_, target, _ = strings.Cut(strings.TrimPrefix(target, "https://")+"/", "/")
	path, _, _ := strings.Cut("/"+strings.TrimSuffix(target, "/"), "?")
	route := d.find(method, path)
	if route == "" || !strings.HasPrefix(rec.Header().Get("Content-Type"), "application/json") || rec.Header().Get("Content-Encoding") != "" {
		return
	}
	method = strings.ToLower(method)
	o, status := d.operations[route][method], strconv.Itoa(rec.Code)
	if _, described := o.Responses[status]; !described {
		if rec.Code < 300 {
			t.Errorf("%s %s replied %s, which is not described", method, route, status)
			return
		}
		status = "default"
	}
	if o.Responses[status].Content == nil {
		t.Errorf("%s %s replied %s with JSON, which is not described: %s", method, route, status, rec.Body)
		return
	}
	reply := d.schema(t, "paths", route, method, "responses", status, "content", "application/json", "schema")
	if err := reply.Validate(plain(t, rec.Body.Bytes())); err != nil && rec.Body.Len() > 0 {
		t.Errorf("the reply of %s %s is not as described: %#v\n%s", method, route, err, rec.Body)
	}
	if _, isJSON := o.RequestBody.Content[mediaType]; isJSON && rec.Code < 300 && mediaType == "application/json" && json.Valid([]byte(body)) && !strings.Contains(body, "null") && !strings.Contains(body, `""`) {
		request := d.schema(t, "paths", route, method, "requestBody", "content", mediaType, "schema")
		if err := request.Validate(plain(t, []byte(body))); err != nil {
			t.Errorf("%s %s accepted a request that is not as described: %#v\n%s", method, route, err, body)
		}
	}
}

func plain(t testing.TB, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil && len(text) > 0 {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// Every endpoint is described, and nothing else; all schemas are valid, and all are used.
func TestDescriptionIsComplete(t *testing.T) {
	d := theDescription()
	routes := newTestServer(t).routes()
	n := 0
	for _, r := range routes {
		o, ok := d.operations[r.Path][strings.ToLower(r.Method)]
		if !ok || o.OperationID == "" {
			t.Errorf("%s %s is not described", r.Method, r.Path)
		}
		for status, reply := range o.Responses {
			for mediaType := range reply.Content {
				d.schema(t, "paths", r.Path, strings.ToLower(r.Method), "responses", status, "content", mediaType, "schema")
			}
		}
		for mediaType := range o.RequestBody.Content {
			d.schema(t, "paths", r.Path, strings.ToLower(r.Method), "requestBody", "content", mediaType, "schema")
		}
	}
	for _, methods := range d.operations {
		n += len(methods)
	}
	if n != len(routes) {
		t.Errorf("%d operations are described, and there are %d", n, len(routes))
	}
	if unused := server.UnusedOperations(fullServer()); len(unused) > 0 {
		t.Errorf("these are described and do not exist: %q", unused)
	}
}

// The page lists every operation and schema, and runs no script.
func TestAPIPage(t *testing.T) {
	rec := getFrom("/docs")
	page := rec.Body.String()
	if rec.Code != 200 || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/html") || strings.Contains(page, "<script") ||
		!strings.Contains(rec.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("%d %v", rec.Code, rec.Header())
	}
	for _, r := range newTestServer(t).routes() {
		if !strings.Contains(page, "<code>"+r.Path+"</code>") {
			t.Errorf("the page does not list %s", r.Path)
		}
	}
	for _, word := range []string{`id="schema-Application"`, "system:users:read", "The name that users see on the sign-in page, in mails and on their account page. It must be unique among applications."} {
		if !strings.Contains(page, word) {
			t.Errorf("the page lacks %s", word)
		}
	}
}

// The document is the same on every instance and after every start.
func TestDescriptionIsReproducible(t *testing.T) {
	h, again := newTestServer(t), newTestServer(t)
	first, second := h.do("GET", "/openapi.json", ""), again.do("GET", "/openapi.json", "")
	if first.Body.String() != second.Body.String() || first.Header().Get("ETag") == "" {
		t.Error("two instances describe the API differently")
	}
	if got := first.Header().Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("pages of other origins cannot read the description: %q", got)
	}
	var doc struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	datatest.Unmarshal(t, first.Body.Bytes(), &doc)
	for _, r := range h.directory.Resources() {
		name := r.Noun().Name
		if name = strings.ToUpper(name[:1]) + name[1:]; doc.Components.Schemas[name] == nil || doc.Components.Schemas[name+"Request"] == nil {
			t.Errorf("there is no schema of %s", name)
		}
	}
}

// A person in a browser gets a page that leads on, at the root and where there is nothing; programs
// get the API's error where there is nothing.
func TestDirections(t *testing.T) {
	h := newTestServer(t)
	for name, tt := range map[string]struct {
		method, path, accept string
		status               int
		isPage               bool
	}{
		"the root in a browser":       {"GET", "/", "text/html,application/xhtml+xml,*/*;q=0.8", 200, true},
		"an unknown path":             {"GET", "/nowhere", "text/html,*/*;q=0.8", 404, true},
		"HEAD":                        {"HEAD", "/nowhere", "text/html", 404, true},
		"a program at the root":       {"GET", "/", "*/*", 200, true},
		"HEAD of the root":            {"HEAD", "/", "", 200, true},
		"a client of JSON":            {"GET", "/", "application/json", 404, false},
		"a form at the root":          {"POST", "/", "*/*", 404, false},
		"a program elsewhere":         {"GET", "/nowhere", "*/*", 404, false},
		"a program at an unknown one": {"GET", "/nowhere", "application/json", 404, false},
		"a form":                      {"POST", "/nowhere", "text/html", 404, false},
	} {
		rec := h.do(tt.method, tt.path, "", "Accept: "+tt.accept)
		if isPage := strings.HasPrefix(rec.Header().Get("Content-Type"), "text/html"); rec.Code != tt.status || isPage != tt.isPage {
			t.Errorf("%s: %d %v", name, rec.Code, rec.Header())
		}
		if tt.isPage && tt.method == "GET" && (!strings.Contains(rec.Body.String(), `href="/docs"`) || strings.Contains(rec.Body.String(), "/console") || !strings.Contains(rec.Header().Get("Content-Security-Policy"), "default-src 'none'")) {
			t.Errorf("%s: %v\n%s", name, rec.Header(), rec.Body)
		}
		if tt.status == 404 && tt.method == "GET" && !strings.Contains(rec.Body.String(), rec.Header().Get("X-Trace-Id")) {
			t.Errorf("%s: the reply does not contain the trace id", name)
		}
	}
}
