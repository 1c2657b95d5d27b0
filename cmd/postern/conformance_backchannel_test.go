package main

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Back-channel OP: OpenID Connect Back-Channel Logout.
func TestConformanceBackchannel(t *testing.T) {
	r := newRegistrars(t)
	ctx, stop := context.WithCancel(t.Context())
	sent := make(chan struct{})
	go func() { r.deliveryQueue().Run(ctx); close(sent) }()
	t.Cleanup(func() { stop(); <-sent })
	for name, run := range map[string]dynamicTrial{"discovery": backchannelDiscovery, "logout": backchannelLogout} {
		t.Run("oidcc-backchannel-"+name, func(t *testing.T) { run(t, r) })
	}
}

// backchannelDiscovery: §2.1.
func backchannelDiscovery(t *testing.T, r *registrars) {
	reported := r.party(t).discovery()
	for _, name := range []string{"backchannel_logout_supported", "backchannel_logout_session_supported"} {
		if reported[name] != true {
			t.Errorf("%s is %v", name, reported[name])
		}
	}
}

// backchannelLogout has the client sign the user out, and expects the notification (§2.5).
func backchannelLogout(t *testing.T, r *registrars) {
	p := r.party(t, "backchannel_logout_uri", r.site.URL+"/out", "backchannel_logout_session_required", true,
		"post_logout_redirect_uris", []string{rpGoodbye})
	got, id, _ := p.signInAndVerify()
	q := url.Values{"id_token_hint": {got.ID}, "post_logout_redirect_uri": {rpGoodbye}, "state": {"see you"}}
	if to := p.location(first(p.visit(p.at("/oauth2/logout?" + q.Encode())))); !strings.HasPrefix(to.String(), rpGoodbye) {
		t.Errorf("led to %s", to)
	}
	select {
	case raw := <-r.logoutTokens:
		checkLogoutToken(p, raw, id)
	case <-time.After(5 * time.Minute):
		t.Fatal("the client got no logout token within five minutes")
	}
	p.refused(p.ask("prompt", "none"), "login_required")
}

// checkLogoutToken validates a logout token as a client (§2.6). No other token is accepted
// as one, and it is not accepted as another.
func checkLogoutToken(p *party, raw string, of *oidc.IDToken) {
	p.t.Helper()
	ctx := oidc.ClientContext(p.t.Context(), p.http)
	provider, err := oidc.NewProvider(ctx, p.cfg.Server.PublicURL)
	if err != nil {
		p.t.Fatal(err)
	}
	token, err := provider.Verifier(&oidc.Config{ClientID: p.id}).Verify(ctx, raw)
	if err != nil {
		p.t.Fatal(err)
	}
	var said, id struct {
		Session string         `json:"sid"`
		ID      string         `json:"jti"`
		Nonce   *string        `json:"nonce"`
		Events  map[string]any `json:"events"`
	}
	if err := token.Claims(&said); err != nil {
		p.t.Fatal(err)
	}
	if err := of.Claims(&id); err != nil {
		p.t.Fatal(err)
	}
	_, event := said.Events["http://schemas.openid.net/event/backchannel-logout"].(map[string]any)
	if !event || said.Nonce != nil || said.ID == "" || said.Session == "" || said.Session != id.Session || token.Subject != of.Subject {
		p.t.Errorf("the logout token says %+v of %s, and the ID token was %+v of %s", said, token.Subject, id, of.Subject)
	}
	if _, err := p.tokens.VerifyIDToken(ctx, raw); err == nil {
		p.t.Error("a logout token is taken for an ID token")
	}
}
