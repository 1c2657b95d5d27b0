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
	yes, no, maxAge := true, false, 0
	a := newApplication(name, name+"-client")
	a.InboundAuthConfig = []schemas.InboundAuth{{Type: "oauth2", Config: schemas.OAuthProfile{
		ClientID: a.ClientID, SecretHash: []byte{0, 0xff}, RedirectURIs: []string{"https://shop.example/back"},
		PostLogoutRedirectURIs: []string{"https://shop.example/bye"}, GrantTypes: []string{schemas.GrantAuthorizationCode},
		ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: schemas.AuthMethodBasic, PKCERequired: &yes, PublicClient: &no,
		Scopes: []string{"openid", "shop:orders"},
		Token: schemas.TokenRules{AccessToken: schemas.AccessTokenRule{ValidityPeriod: 60, UserAttributes: []string{"department"}}, RefreshToken: schemas.TokenRule{ValidityPeriod: 600},
			IDToken: schemas.IDTokenRule{ValidityPeriod: 61, SignedResponseAlg: "ES256", UserAttributes: []string{}}},
		ScopeClaims: map[string][]string{"email": {}, "staff": {"department", "groups"}}, UserInfo: schemas.UserInfoRules{UserAttributes: []string{"name"}},
		Claims:  []schemas.Claim{{Name: "realm.roles", Source: "roles", Prefix: "shop-", RemovePrefix: true, Targets: []string{"accessToken"}}, {Path: []string{"a.b"}, Source: "constant", Value: "true"}},
		JWKS:    &schemas.JSONWebKeys{Keys: []map[string]any{{"kty": "EC", "crv": "P-256"}}},
		JWKSURI: "https://shop.example/keys", BackchannelLogoutURI: "https://shop.example/out", BackchannelLogoutSessionRequired: true,
		DefaultMaxAge: &maxAge, DefaultACRValues: []string{"phr", "urn:postern:acr:mfa"}, InitiateLoginURI: "https://shop.example/start", TokenEndpointAuthSigningAlg: "ES256",
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
			a.TosURI, a.PolicyURI, a.IsRegistrationFlowEnabled, a.RequireConsent, a.IdentifiesBy = "https://shop.example/tos", "https://shop.example/policy", true, true, schemas.IdentifiesByEmail
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
		prefixes: []string{"name"},
		filters:  []string{"clientId", "name", "ouId", "registration", "type"},
	}
}

// testClients reads applications like sign-ins and tokens do, also after an OAuth configuration was
// added or removed.
func testClients(t *testing.T, s *store.Store) {
	client, plain := newClient("shop"), newApplication("plain", "")
	client.ClientSecret, client.InboundAuthConfig[0].Config.ClientSecret = "secret", "secret"
	insert(t, s, &client, &plain)
	client.ClientSecret, client.InboundAuthConfig[0].Config.ClientSecret = "", ""
	for _, want := range []schemas.Application{client, plain} {
		if o := want.OAuth(); o != nil {
			want.Claims = o.Claims
		}
		want.InboundAuthConfig = nil
		reply(s.Application(t.Context(), want.ID)).equals(t, "the application for a sign-in", &want)
	}
	reply(s.ApplicationByClientID(t.Context(), client.ClientID)).equals(t, "the application by its client id", &client)

	for id, want := range map[string][]string{client.ID: {"openid", "shop:orders"}, plain.ID: nil, schemas.NewID(): nil, "a\x00": nil} {
		reply(s.RegisteredScopes(t.Context(), id)).equals(t, "what it is registered for", want)
	}

	was := client.UpdatedAt
	lost := client
	lost.ClientID, lost.InboundAuthConfig, lost.UpdatedAt = "", nil, was.Add(time.Second)
	update(t, s, func(tx *store.Tx) error { return store.Applications().Replace(tx, &lost, was) })
	reply(store.Applications().Get(t.Context(), s, client.ID)).equals(t, "the application that is no client any more", &lost)
	for _, unknown := range []string{client.ClientID, "", "a\x00b"} {
		reply(s.ApplicationByClientID(t.Context(), unknown)).fails(t, schemas.NotFound, schemas.CodeAppNotFound)
		reply(s.Application(t.Context(), unknown)).fails(t, schemas.NotFound, schemas.CodeAppNotFound)
	}
	client.UpdatedAt = lost.UpdatedAt.Add(time.Second)
	update(t, s, func(tx *store.Tx) error { return store.Applications().Replace(tx, &client, lost.UpdatedAt) })
	reply(s.ApplicationByClientID(t.Context(), client.ClientID)).equals(t, "the application that is a client again", &client)
}

// leased adds self-registered clients. Each has a lease that ends a minute after the previous one.
func leased(t *testing.T, s *store.Store, n int) (apps []schemas.Application) {
	t.Helper()
	update(t, s, func(tx *store.Tx) error {
		apps = nil
		for i := range n {
			a := newApplication(fmt.Sprint("leased", i), fmt.Sprint("leased-client", i))
			a.Registration = schemas.RegisteredDynamically
			apps = append(apps, a)
			must(t, store.Applications().Insert(tx, &a))
			must(t, store.PutClientExpiry(tx, leaseOf(a, i)))
		}
		return nil
	})
	return apps
}

func leaseOf(a schemas.Application, i int) schemas.ClientExpiry {
	return schemas.ClientExpiry{ApplicationID: a.ID, ExpiresAt: noon().Add(time.Duration(i+1) * time.Minute)}
}

// remaining counts the existing applications.
func remaining(t *testing.T, s *store.Store, apps []schemas.Application) (names []string) {
	t.Helper()
	for _, a := range apps {
		if found, err := store.Applications().Find(t.Context(), s, "clientId", a.ClientID); err != nil {
			t.Fatal(err)
		} else if found != nil {
			names = append(names, found.Name)
		}
	}
	return names
}

// testLeases checks that unused clients are removed and that others stay.
func testLeases(t *testing.T, s *store.Store) {
	apps := leased(t, s, 5)
	got := reply(s.ClientExpiry(t.Context(), apps[1].ClientID)).get(t)
	want := leaseOf(apps[1], 1)
	wantEqual(t, "the lease", got, &want)
	want.FetchedAt, want.FreshUntil = noon(), noon().Add(time.Hour)
	update(t, s, func(tx *store.Tx) error { return store.PutClientExpiry(tx, want) })
	reply(s.ClientExpiry(t.Context(), apps[1].ClientID)).equals(t, "the lease that was put", &want)
	for _, unknown := range []string{"nobody", "a\x00b"} {
		reply(s.ClientExpiry(t.Context(), unknown)).equals(t, "the lease of a client that is not there", (*schemas.ClientExpiry)(nil))
	}

	// One is verified, one has a role, and one is in use.
	vouched := apps[0]
	vouched.Verified, vouched.UpdatedAt = true, noon().Add(time.Second)
	role := newRole("role", nil, program(apps[1].ID))
	update(t, s, func(tx *store.Tx) error {
		must(t, store.Roles().Insert(tx, &role))
		return store.Applications().Replace(tx, &vouched, noon())
	})
	must(t, s.ExtendClientExpiry(t.Context(), apps[2].ID, noon().Add(time.Hour)))
	must(t, s.ExtendClientExpiry(t.Context(), apps[2].ID, noon())) // takes nothing away
	reply(s.Sweep(t.Context(), noon().Add(4*time.Minute))).equals(t, "how many were swept", 1)
	wantEqual(t, "those that are left", remaining(t, s, apps), []string{"leased0", "leased1", "leased2", "leased4"})
	wantRemovals(t, s, noon().Add(4*time.Minute), apps[3])
}

// wantRemovals checks that the audit log records the removal of these clients, and of no others.
func wantRemovals(t *testing.T, s *store.Store, at time.Time, apps ...schemas.Application) {
	t.Helper()
	events := reply(s.Events(t.Context(), schemas.EventQuery{Limit: 100, Action: "application.deleted"})).get(t)
	reported := map[string]string{}
	for _, e := range events {
		if e.Actor.Type != schemas.SystemActor || e.Resource.Type != "application" || e.Detail["unused"] != "true" || !e.At.Equal(at) {
			t.Errorf("recorded %+v", e)
		}
		reported[e.Resource.ID] = e.Detail["clientId"]
	}
	want := map[string]string{}
	for _, a := range apps {
		want[a.ID] = a.ClientID
	}
	wantEqual(t, "the clients that were removed", reported, want)
}

// testUnusedClients removes self-registered clients to allow new ones.
func testUnusedClients(t *testing.T, s *store.Store) {
	apps := leased(t, s, 4)
	later := noon().Add(time.Hour)
	update(t, s, func(tx *store.Tx) error { return store.RemoveUnusedClients(tx, 5, later, noon()) })
	update(t, s, func(tx *store.Tx) error { return store.RemoveUnusedClients(tx, 2, noon().Add(2*time.Minute), noon()) }) // there is one
	wantEqual(t, "those that are left of few", remaining(t, s, apps), []string{"leased0", "leased1", "leased2", "leased3"})
	update(t, s, func(tx *store.Tx) error { return store.RemoveUnusedClients(tx, 3, later, noon()) })
	wantEqual(t, "those that are left of many", remaining(t, s, apps), []string{"leased2", "leased3"})
	wantRemovals(t, s, noon(), apps[:2]...)
}

// testClientAssertions uses an assertion many times concurrently, uses it again, and sweeps it
// after it has expired.
func testClientAssertions(t *testing.T, s *store.Store) {
	for range 20 {
		hash := schemas.HashSecret(schemas.NewID())
		first := countOf(t, 8, func(int) (bool, error) { return s.UseClientAssertion(t.Context(), hash, noon()) })
		wantEqual(t, "the number of first uses", first, 1)
		reply(s.UseClientAssertion(t.Context(), hash, noon().Add(time.Hour))).equals(t, "a later use", false)
	}
	live := schemas.HashSecret("live")
	reply(s.UseClientAssertion(t.Context(), live, noon().Add(time.Microsecond))).get(t)
	reply(s.Sweep(t.Context(), noon().Add(24*time.Hour-time.Microsecond))).equals(t, "the number of rows swept within a day", 0)
	reply(s.Sweep(t.Context(), noon().Add(24*time.Hour))).equals(t, "the number of rows swept", 20)
	reply(s.UseClientAssertion(t.Context(), live, noon())).equals(t, "whether one that is live can be used again", false)
}
