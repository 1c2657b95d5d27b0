package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// handler answers a request, or returns an error and has written nothing. The caller is nil if the
// endpoint needs none.
type handler func(w http.ResponseWriter, r *http.Request, c *caller) error

// open returns the handler of an endpoint without a caller.
func open(h func(w http.ResponseWriter, r *http.Request) error) handler {
	return func(w http.ResponseWriter, r *http.Request, _ *caller) error { return h(w, r) }
}

// endpoint is a route of the API. A GET answers HEAD as well.
type endpoint struct {
	method, path string
	needs        need
	handle       handler
	origins      origins
}

// endpoints returns the API. The first matching path counts.
func (s *server) endpoints() []endpoint {
	list := []endpoint{
		{"POST", "/register/passkey/start", anyToken, s.startRegistration, configuredOrigins},
		{"POST", "/register/passkey/finish", anyToken, s.finishRegistration, configuredOrigins},
		{"POST", "/auth/passkey/start", nothing, s.limited(throttle.SignIn, open(s.startAuthentication)), configuredOrigins},
		{"POST", "/auth/passkey/finish", nothing, s.limited(throttle.SignIn, open(s.finishAuthentication)), configuredOrigins},
		{"POST", "/flow/execute", nothing, s.limited(throttle.SignIn, open(s.executeFlow)), applicationOrigins},
		{"GET", "/flow/meta", nothing, open(s.flowMeta), applicationOrigins},
		{"GET", "/.well-known/webauthn", nothing, open(s.relatedOrigins), publicOrigins},
		{"GET", "/.well-known/passkey-endpoints", nothing, open(s.passkeyEndpoints), publicOrigins},
		{"GET", "/health/liveness", nothing, open(s.liveness), noOrigins},
		{"GET", "/health/readiness", nothing, open(s.readiness), noOrigins},
		{"GET", openAPIPath, nothing, open(s.openAPI), publicOrigins},
		{"GET", docsPath, nothing, open(s.docs), noOrigins},
	}
	list = append(list, s.oauthEndpoints()...)
	if s.Tools != nil {
		list = append(list, endpoint{"POST", oauth.ToolsPath, toolToken, s.useTools, toolOrigins})
	}
	if s.Keys != nil {
		list = append(list,
			endpoint{"GET", "/signing-keys", "system", s.signingKeys, configuredOrigins},
			endpoint{"POST", "/signing-keys/rotate", "system", s.rotateKeys, configuredOrigins})
	}
	if s.Directory == nil {
		return list
	}
	list = append(list, s.userEndpoints()...)
	list = append(list, s.partEndpoints()...)
	for _, r := range s.Directory.Resources() {
		list = append(list, s.nounEndpoints(r)...)
	}
	return list
}

// partEndpoints returns the endpoints of parts of other resources, and others.
func (s *server) partEndpoints() []endpoint {
	d := s.Directory
	return []endpoint{
		{"GET", "/applications/{id}/claims", "system:applications:read", s.claimsOf, configuredOrigins},
		{"POST", "/applications/{id}/client-secret", "system:applications:write", s.rotateSecret, configuredOrigins},
		{"POST", "/applications/{id}/revoke-tokens", "system:applications:write", s.revokeTokens, configuredOrigins},
		{"POST", "/revoke-tokens", "system", s.revokeAllTokens, configuredOrigins},
		{"DELETE", "/identity-providers/{id}/identities", "system:identity-providers:write", s.unlinkProvider, configuredOrigins},
		{"GET", "/groups/{id}/members", "system:groups:read", s.principals(d.Members, "members"), configuredOrigins},
		{"PUT", "/groups/{id}/members/{type}/{principalId}", "system:groups:write", principal(d.Groups, d.AddMember), configuredOrigins},
		{"DELETE", "/groups/{id}/members/{type}/{principalId}", "system:groups:write", principal(d.Groups, d.RemoveMember), configuredOrigins},
		{"GET", "/roles/{id}/assignments", "system:roles:read", s.principals(d.Assignments, "assignments"), configuredOrigins},
		{"PUT", "/roles/{id}/assignments/{type}/{principalId}", "system:roles:write", principal(d.Roles, d.Assign), configuredOrigins},
		{"DELETE", "/roles/{id}/assignments/{type}/{principalId}", "system:roles:write", principal(d.Roles, d.Unassign), configuredOrigins},
		{"POST", "/flows/check", "system:flows:read", s.checkFlow, configuredOrigins},
		{"POST", "/flows/batch", "system:flows:write", s.storeFlows, configuredOrigins},
		{"GET", "/flows/system", "system:flows:read", s.checkedSystem, configuredOrigins},
		{"GET", "/flows/chains", "system:flows:read", s.flowChains, configuredOrigins},
		{"GET", "/flows/{id}/versions", "system:flows:read", s.flowVersions, configuredOrigins},
		{"GET", "/flows/{id}/versions/{n}", "system:flows:read", s.flowVersion, configuredOrigins},
		{"POST", "/flows/{id}/restore", "system:flows:write", s.restoreFlow, configuredOrigins},
		{"GET", "/audit-events", "system:audit:read", s.auditEvents, configuredOrigins},
		{"GET", "/configuration", "system", s.configuration, configuredOrigins},
		{"GET", "/audit-verification", "system:audit:read", s.verifyAudit, configuredOrigins},
		{"GET", "/statistics", "system:audit:read", s.statistics, configuredOrigins},
	}
}

// nounEndpoints returns the endpoints of a kind of resource.
func (s *server) nounEndpoints(of directory.Resource) []endpoint {
	n := of.Noun()
	h := nounHandlers{s, of, n}
	look, change := need(n.Read), need(n.Write)
	return []endpoint{
		{"GET", n.Path, look, h.list, configuredOrigins},
		{"POST", n.Path, change, h.create, configuredOrigins},
		{"GET", n.Path + "/{id}", look, h.get, configuredOrigins},
		{"PUT", n.Path + "/{id}", change, h.change(of.Replace, jsonType, yamlType), configuredOrigins},
		{"PATCH", n.Path + "/{id}", change, h.change(h.mergePatch, jsonType, mergePatchType), configuredOrigins},
		{"DELETE", n.Path + "/{id}", change, h.delete, configuredOrigins},
	}
}

// router sends each request to its resource. Paths are not cleaned: that would answer a POST to
// //flow/execute with a redirect. It looks up paths without variables before it tries the patterns one
// after another; a path precedes the patterns that match it.
func (s *server) router() http.Handler {
	router := mux.NewRouter().SkipClean(true)
	resources := map[string]*resource{}
	fixed := map[string]*resource{} // those without variables
	for _, e := range s.endpoints() {
		at := resources[e.path]
		if at == nil {
			at = &resource{server: s, path: e.path, origins: e.origins, fields: listFields(fieldsFor(e.origins)), methods: map[string]endpoint{}}
			resources[e.path] = at
			if strings.Contains(e.path, "{") {
				router.Path(e.path).Handler(at)
			} else {
				fixed[e.path] = at
				s.paths = append(s.paths, e.path)
			}
		}
		at.methods[e.method] = e
		if e.method == http.MethodGet {
			at.methods[http.MethodHead] = e
		}
	}
	s.mountPages(router)
	router.NotFoundHandler = http.HandlerFunc(s.notFound)
	routes := func(r *http.Request) bool {
		var match mux.RouteMatch
		return fixed[r.URL.Path] != nil || router.Match(r, &match) && match.MatchErr == nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = s.withoutBase(r, routes)
		if at := fixed[r.URL.Path]; at != nil {
			at.ServeHTTP(w, r)
		} else {
			router.ServeHTTP(w, r)
		}
	})
}

// resource is a path of the API with its methods.
type resource struct {
	*server
	path    string
	origins origins
	fields  fieldList // of all replies
	methods map[string]endpoint
}

// ServeHTTP answers a request for the resource.
func (at *resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	exchangeOf(r).route = at.path
	at.fields.set(w.Header())
	if err := at.serve(w, r); err != nil {
		at.fail(w, r, err)
	}
}

func (at *resource) serve(w http.ResponseWriter, r *http.Request) error {
	admitted := at.admitOrigin(w, r)
	if err := at.checkSource(r, admitted); err != nil {
		return err
	}
	if r.Method == http.MethodOptions {
		return at.describe(w, r, admitted)
	}
	e, ok := at.methods[r.Method]
	if !ok {
		return at.refuseMethod(r)
	}
	c, err := at.admit(r, e.needs)
	if err != nil {
		return err
	}
	err = e.handle(w, r, c)
	if e.needs == userToken && schemas.HasCode(err, schemas.CodeUserNotFound) {
		return schemas.Errorf(schemas.Unauthenticated, codeInvalidToken, "the user of the token no longer exists")
	}
	return err
}

// allow returns the value of the Allow field: RFC 9110 §10.2.1.
func (at *resource) allow() string {
	list := []string{http.MethodOptions}
	for method := range at.methods {
		list = append(list, method)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
