package main

import (
	"fmt"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A trusted client that requests only permissions that the user does not have gets an error that names
// them, not a token without scopes, also without a page (prompt=none).
func TestTrustedClientOfAUserWithoutItsPermissions(t *testing.T) {
	w := createUsers(t)
	c := w.create(w.directory.Applications, fmt.Sprintf(`{"name":"Assistant","inboundAuthConfig":[{"type":"oauth2","config":{
		"grantTypes":["authorization_code"],"redirectUris":[%q],"tokenEndpointAuthMethod":"client_secret_basic","scopes":["openid","system"]}}]}`, rpRedirect)).Value.(*schemas.Application)
	p := &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret, method: schemas.AuthMethodBasic, redirect: rpRedirect}
	refused := func(a *answer) {
		t.Helper()
		if a.params.Get("error") != "access_denied" || a.params.Get("error_description") == "" || a.params.Has("code") {
			t.Errorf("answered with %+v", a)
		}
	}
	s := p.visitAs("pat", rpPassword, "scope", "system", "resource", p.at("/mcp"))
	if s.FlowStatus != schemas.Failed || s.Error == nil || s.Error.Code != "permissions_missing" {
		t.Fatalf("ended in %+v", s)
	}
	refused(p.follow(p.visit(s.Data.RedirectURL)))
	events := w.eventsOf("consent.missing")
	if len(events) != 1 || events[0].Detail["reason"] != schemas.ReasonNoPermissions || events[0].UserID != w.userNamed("pat") {
		t.Errorf("recorded %+v", events)
	}
	if a := p.ask(pkce("scope", "openid system")...); a.params.Get("code") == "" {
		t.Errorf("with the identity: %+v", a)
	}
	refused(p.ask(pkce("scope", "system", "prompt", "none")...))

	w.create(w.directory.Roles, `{"name":"Readers","permissions":["system:users:read"],"assignments":[{"type":"user","id":"`+w.userNamed("pat")+`"}]}`)
	if a := p.ask(pkce("scope", "system", "prompt", "none")...); a.params.Get("code") == "" {
		t.Errorf("with a part of the permissions: %+v", a)
	}
}
