package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func newApplication(name, clientID string) schemas.Application {
	return schemas.Application{ID: schemas.NewID(), Name: name, ClientID: clientID, OUID: homeID,
		CreatedAt: noon(), UpdatedAt: noon()}
}

// newClient is an application with an OAuth configuration in which everything
// is set.
func newClient(name string) schemas.Application {
	yes, no := true, false
	a := newApplication(name, name+"-client")
	a.InboundAuthConfig = []schemas.InboundAuth{{Type: "oauth2", Config: schemas.OAuthProfile{
		ClientID: a.ClientID, SecretHash: []byte{0, 0xff}, RedirectURIs: []string{"https://shop.example/back"},
		PostLogoutRedirectURIs: []string{"https://shop.example/bye"}, GrantTypes: []string{schemas.GrantAuthorizationCode},
		ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: schemas.AuthMethodBasic, PKCERequired: &yes, PublicClient: &no,
		Scopes: []string{"openid", "shop:orders"},
		Token: schemas.TokenRules{AccessToken: schemas.TokenRule{ValidityPeriod: 60}, RefreshToken: schemas.TokenRule{ValidityPeriod: 600},
			IDToken: schemas.IDTokenRule{ValidityPeriod: 61, SignedResponseAlg: "ES256"}},
		JWKS:    &schemas.JSONWebKeys{Keys: []map[string]any{{"kty": "EC", "crv": "P-256"}}},
		JWKSURI: "https://shop.example/keys", BackchannelLogoutURI: "https://shop.example/out", BackchannelLogoutSessionRequired: true,
	}}}
	return a
}

func applications() tableCase[schemas.Application] {
	return tableCase[schemas.Application]{
		table: store.Applications(), code: schemas.CodeAppNotFound,
		fresh: func(n int) schemas.Application {
			a := newApplication(fmt.Sprint("app", n), "")
			a.ID = ""
			return a
		},
		full: func() schemas.Application {
			a := newClient("full")
			a.ID, a.Description, a.Type, a.URL, a.LogoURL = "", "A shop", schemas.ServerApp, "https://shop.example", "https://shop.example/logo"
			a.TosURI, a.PolicyURI, a.IsRegistrationFlowEnabled, a.RequireConsent = "https://shop.example/tos", "https://shop.example/policy", true, true
			a.Contacts, a.AllowedUserTypes = []string{"ann@shop.example"}, []string{"Person", "Customer"}
			a.PasskeyAllowedOrigins = []string{"https://shop.example"}
			a.Assertion = schemas.AssertionRules{ValidityPeriod: 60, UserAttributes: []string{}}
			a.Customizations = map[string]any{"theme": map[string]any{"dark": true}}
			a.Registration, a.Verified = schemas.RegisteredDynamically, true
			return a
		},
		edit: func(a *schemas.Application) {
			no, yes := false, true
			*a = schemas.Application{ID: a.ID, Name: "edited", OUID: homeID, ClientID: "edited-client"}
			a.InboundAuthConfig = []schemas.InboundAuth{{Type: "oauth2", Config: schemas.OAuthProfile{
				ClientID: a.ClientID, PKCERequired: &no, PublicClient: &yes}}}
		},
		meta: func(a *schemas.Application) (*string, *time.Time, *time.Time) {
			return &a.ID, &a.CreatedAt, &a.UpdatedAt
		},
		values: map[string]func(*schemas.Application) string{
			"name":         func(a *schemas.Application) string { return a.Name },
			"clientId":     func(a *schemas.Application) string { return a.ClientID },
			"ouId":         func(a *schemas.Application) string { return a.OUID },
			"type":         func(a *schemas.Application) string { return a.Type },
			"registration": func(a *schemas.Application) string { return a.Registration },
		},
	}
}

// testClients reads applications the way sign-ins and tokens do. An application
// may gain and lose its OAuth configuration.
func testClients(t *testing.T, s *store.Store) {
	ctx := t.Context()
	client, plain := newClient("shop"), newApplication("plain", "")
	client.ClientSecret, client.InboundAuthConfig[0].Config.ClientSecret = "secret", "secret"
	update(t, s, func(tx *store.Tx) error {
		must(t, store.Applications().Insert(tx, &client))
		return store.Applications().Insert(tx, &plain)
	})
	client.ClientSecret, client.InboundAuthConfig[0].Config.ClientSecret = "", ""
	for _, want := range []schemas.Application{client, plain} {
		want.InboundAuthConfig = nil
		reply(s.Application(ctx, want.ID)).equals(t, "the application for a sign-in", &want)
	}
	reply(s.ApplicationByClientID(ctx, client.ClientID)).equals(t, "the application by its client id", &client)

	for id, want := range map[string][]string{client.ID: {"openid", "shop:orders"}, plain.ID: nil, schemas.NewID(): nil, "a\x00": nil} {
		reply(s.RegisteredScopes(ctx, id)).equals(t, "what it is registered for", want)
	}

	was := client.UpdatedAt
	lost := client
	lost.ClientID, lost.InboundAuthConfig, lost.UpdatedAt = "", nil, was.Add(time.Second)
	update(t, s, func(tx *store.Tx) error { return store.Applications().Replace(tx, &lost, was) })
	reply(store.Applications().Get(ctx, s, client.ID)).equals(t, "the application that is no client any more", &lost)
	for _, unknown := range []string{client.ClientID, "", "a\x00b"} {
		reply(s.ApplicationByClientID(ctx, unknown)).fails(t, schemas.NotFound, schemas.CodeAppNotFound)
		reply(s.Application(ctx, unknown)).fails(t, schemas.NotFound, schemas.CodeAppNotFound)
	}
	client.UpdatedAt = lost.UpdatedAt.Add(time.Second)
	update(t, s, func(tx *store.Tx) error { return store.Applications().Replace(tx, &client, lost.UpdatedAt) })
	reply(s.ApplicationByClientID(ctx, client.ClientID)).equals(t, "the application that is a client again", &client)
}
