package store_test

import (
	"fmt"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// BenchmarkApplication reads an application as sign-ins do: by its ID, and by its
// client ID with the OAuth configuration.
func BenchmarkApplication(b *testing.B) {
	for name, config := range databases() {
		s := benchStore(b, config(b))
		app := benchApplication(b, s)
		b.Run(fmt.Sprintf("id/%s", name), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Application(b.Context(), app.ID); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("clientID/%s", name), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.ApplicationByClientID(b.Context(), app.ClientID); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchApplication(b *testing.B, s *store.Store) schemas.Application {
	b.Helper()
	flow := schemas.Flow{ID: schemas.NewID(), Handle: "default", Name: "Default", FlowType: schemas.Authentication}
	app := schemas.Application{ID: schemas.NewID(), Name: "Shop", OUID: home, ClientID: "shop", AuthFlowID: flow.ID, AllowedUserTypes: []string{"Person"},
		InboundAuthConfig: []schemas.InboundAuth{{Type: "oauth2", Config: schemas.OAuthProfile{
			ClientID: "shop", SecretHash: make([]byte, 32), RedirectURIs: []string{"https://shop.example/callback"},
			GrantTypes: []string{schemas.GrantAuthorizationCode}, TokenEndpointAuthMethod: "client_secret_basic", Scopes: []string{"openid"},
		}}}}
	err := s.Update(b.Context(), func(tx *store.Tx) error {
		if err := store.Flows().Insert(tx, &flow); err != nil {
			return err
		}
		return store.Applications().Insert(tx, &app)
	})
	if err != nil {
		b.Fatal(err)
	}
	return app
}
