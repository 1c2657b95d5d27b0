package main

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// A rotation of a client secret keeps the tokens and sessions of users. On each instance the client authenticates with
// either secret within the overlap.
func TestSecretRotationKeepsTokens(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		one, two := twoInstances(t, environ...)
		p, admin := leakyMetadata(t, one), one.admin()
		id := p.begin().Get("applicationId")
		h := p.collect(id)
		var made struct {
			ClientSecret          string
			FormerSecretExpiresAt time.Time
		}
		one.send(http.StatusOK, "/applications/"+id+"/client-secret", admin, `{"overlap":3600}`, &made)
		if made.FormerSecretExpiresAt.IsZero() {
			t.Error("the reply does not contain when the former secret ends")
		}
		h.expect(true, one, two)
		refresh := h.refresh
		for _, secret := range []string{p.secret, made.ClientSecret} {
			p.secret = secret
			got, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
			if status != http.StatusOK {
				t.Fatalf("a refresh token issued before the rotation: %d %+v", status, got)
			}
			refresh = got.Refresh
			for _, w := range []*testApp{one, two} {
				if rec := w.askToken(p.id, secret, "&scope=system:applications:read"); rec.Code != http.StatusOK {
					t.Errorf("a secret within the overlap: %d %s", rec.Code, rec.Body)
				}
			}
		}
		h.expect(true, one, two)
		events, err := one.store.Events(t.Context(), schemas.EventQuery{Limit: 1, ResourceID: id})
		if err != nil || len(events) != 1 || events[0].Action != "application.secret_rotated" || events[0].Detail["overlap"] != "1h0m0s" || events[0].Detail["tokensRevoked"] != "false" {
			t.Errorf("recorded %+v, %v", events, err)
		}
	})
}
