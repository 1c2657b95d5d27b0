package directory

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// selfRegistered is a client that registers itself.
func selfRegistered(name, clientID, by string) Registration {
	return Registration{By: by, Application: schemas.Application{Name: name, InboundAuthConfig: []schemas.InboundAuth{{Type: "oauth2",
		Config: schemas.OAuthProfile{ClientID: clientID, RedirectURIs: []string{"https://client.example.com/back"}, TokenEndpointAuthMethod: schemas.AuthMethodNone,
			Scopes: []string{"openid", "system"}}}}}}
}

func (w *fixture) register(t testing.TB, r Registration) *schemas.Application {
	t.Helper()
	a, err := w.Register(t.Context(), SystemCall(), r)
	must(t, err)
	return a
}

// Requests can neither set nor change how an application was registered.
func TestRegistrationIsReadOnly(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		made := h.create(t, h.Applications, `{"name": "Own", "registration": "dynamic"}`)
		item, err := h.Applications.Get(t.Context(), SystemCall(), made)
		must(t, err)
		if a := client(item); a.Registration != "" || !a.IsTrusted() {
			t.Errorf("an administrator's application is %q", a.Registration)
		}
		for _, by := range []string{schemas.RegisteredDynamically, schemas.RegisteredByDocument} {
			a := h.register(t, selfRegistered("Client "+by, "https://client.example.com/"+by, schemas.RegisteredByDocument))
			if by == schemas.RegisteredDynamically {
				a = h.register(t, selfRegistered("Client "+by, "", by))
			}
			if a.Registration != by || a.IsTrusted() {
				t.Fatalf("got %q, expected %q", a.Registration, by)
			}
			for _, said := range []string{"", "dynamic", "metadata-document"} {
				a.Registration = said
				item, err := h.Applications.Replace(t.Context(), SystemCall(), a.ID, "", doc(t, mustJSON(t, a)))
				must(t, err)
				if got := client(item); got.Registration != by || got.IsTrusted() {
					t.Errorf("a PUT that says %q made it %q", said, got.Registration)
				}
			}
			a.Verified = true
			item, err := h.Applications.Replace(t.Context(), SystemCall(), a.ID, "", doc(t, mustJSON(t, a)))
			must(t, err)
			if got := client(item); !got.IsTrusted() || got.Registration != by {
				t.Errorf("verified, it is %+v", got)
			}
		}
		_, err = h.Applications.Create(t.Context(), SystemCall(), doc(t, `{"name": "Another", "verified": true}`))
		refused(t, err, schemas.CodeInvalidRequest, "verified: self-registered clients")
		_, err = h.Applications.Create(t.Context(), SystemCall(), doc(t, `{"name": "Another", "clientId": "https://client.example.com/x", "inboundAuthConfig": [{"type": "oauth2", "config": {"redirectUris": ["https://a.example.com"]}}]}`))
		refused(t, err, schemas.CodeInvalidRequest, configPath+".clientId: expected a name, got a URL")
	})
}

// Self-registered applications follow the same rules, including those for permissions.
func TestUntrustedClientsFollowTheRules(t *testing.T) {
	h := furnished(t, newFixture(t))
	wrong := selfRegistered("Wrong", "", schemas.RegisteredDynamically)
	wrong.Application.OAuth().RedirectURIs = []string{"http://client.example.com/", "https://client.example.com/#here", "https://*.example.com"}
	_, err := h.Register(t.Context(), SystemCall(), wrong)
	refused(t, err, schemas.CodeInvalidRequest, configPath+".redirectUris[0]: expected https", configPath+".redirectUris[1]: no fragment", configPath+".redirectUris[2]: no *")
	_, err = h.Register(t.Context(), as(schemas.NewID(), "system:applications:write"), selfRegistered("Wrong", "", schemas.RegisteredDynamically))
	refused(t, err, schemas.CodeForbidden, configPath+".scopes[1]: you do not have")
}

// A taken name gets a number. Registration stays fast with a thousand clients of one name.
func TestNamesOfUntrustedClients(t *testing.T) {
	h := furnished(t, newFixture(t))
	seen := map[string]bool{}
	for i := range 14 {
		a := h.register(t, selfRegistered(" Client ", "", schemas.RegisteredDynamically))
		if seen[a.Name] {
			t.Errorf("%q comes twice", a.Name)
		}
		seen[a.Name] = true
		if i == 0 && a.Name != "Client" || i == 1 && a.Name != "Client (2)" {
			t.Errorf("%d: got %q", i, a.Name)
		}
	}
}

// A changed metadata document changes its application; an unchanged one does not.
func TestDocumentsAreRegisteredAgain(t *testing.T) {
	h := furnished(t, newFixture(t))
	r := selfRegistered("Client", "https://client.example.com/metadata", schemas.RegisteredByDocument)
	now := h.now()
	r.Lease = &schemas.ClientExpiry{ExpiresAt: now.Add(time.Hour), FetchedAt: now, FreshUntil: now.Add(time.Minute)}
	made := h.register(t, r)
	r.Application = *made
	r.Lease.FreshUntil = now.Add(2 * time.Minute)
	again := h.register(t, r)
	expiry, err := h.ClientExpiry(t.Context(), made.ClientID)
	must(t, err)
	if again.ID != made.ID || again.Name != made.Name || !again.UpdatedAt.Equal(made.UpdatedAt) || !expiry.FreshUntil.Equal(r.Lease.FreshUntil) {
		t.Errorf("got %+v and %+v", again, expiry)
	}
	r.Application.Name, r.Application.LogoURL = "Client of another name", "https://client.example.com/logo"
	again = h.register(t, r)
	if again.ID != made.ID || again.Name != r.Application.Name || again.LogoURL == "" {
		t.Errorf("got %+v", again)
	}
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}
