package nodes

import (
	"context"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/schemas"
)

// A provider redirects the browser only to a page of the server or a registered redirect
// URI of the application, never to an attacker's.
func TestRedirectURIOfRuns(t *testing.T) {
	app := &schemas.Application{ClientID: "app", InboundAuthConfig: []schemas.InboundAuth{{Type: "oauth2", Config: schemas.OAuthProfile{
		RedirectURIs: []string{"com.example.app:/back", "https://app.example.com/one", "https://app.example.com/two", "https://other.example.com:8443/"},
	}}}}
	tests := []struct {
		origin, gate string
		app          *schemas.Application
		uri          string // "" for a refusal
		own          bool
	}{
		{"https://id.example.com", "", app, "https://id.example.com/gate/callback", true},
		{"https://id.example.com", "", nil, "https://id.example.com/gate/callback", true},
		{"https://id.example.com:5190", "https://id.example.com:5190", app, "https://id.example.com:5190/callback", false},
		{"https://id.example.com", "https://id.example.com:5190", app, "https://id.example.com:5190/callback", true},
		{"https://app.example.com", "", app, "https://app.example.com/one", false},
		{"https://other.example.com:8443", "", app, "https://other.example.com:8443/", false},
		{"", "", app, "com.example.app:/back", false},
		{"https://evil.example", "", app, "", false},
		{"https://app.example.com.evil.example", "", app, "", false},
		{"http://app.example.com", "", app, "", false},
		{"https://other.example.com", "", app, "", false},
		{"null", "", app, "", false},
		{"", "", nil, "", false},
		{"https://app.example.com", "", &schemas.Application{}, "", false},
		{"https://app.example.com", "", &schemas.Application{ClientID: "gone"}, "", false},
	}
	for gate, want := range map[string]string{"": "https://id.example.com/gate/callback", "https://pages.example.com": "https://pages.example.com/callback"} {
		d := Deps{BaseURL: "https://id.example.com", GateURL: gate, Directory: oneClient{app: app}}
		uri, own, err := d.redirectURI(t.Context(), &engine.Visit{Application: app, AuthRequestID: "auth-1"})
		if uri != want || own != (gate == "") || err != nil {
			t.Errorf("of an authorization request: got %q, %v, %v", uri, own, err)
		}
	}
	for _, test := range tests {
		d := Deps{BaseURL: "https://id.example.com", GateURL: test.gate, Directory: oneClient{app: app}}
		uri, own, err := d.redirectURI(t.Context(), &engine.Visit{Application: test.app, Request: engine.Request{Origin: test.origin}})
		if uri != test.uri || own != test.own || (err != nil) != (test.uri == "") {
			t.Errorf("%q: got %q, %v, %v", test.origin, uri, own, err)
		}
	}
}

// oneClient returns the same client for every ID.
type oneClient struct {
	Directory
	app *schemas.Application
}

func (c oneClient) Client(_ context.Context, id string) (*schemas.Application, error) {
	if id != c.app.ClientID {
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "there is no client %q", id)
	}
	return c.app, nil
}

func TestFederatedConfiguration(t *testing.T) {
	w := newFixture(t)
	for with, want := range map[string]string{
		`{"provider": "corp", "required": ["mail"], "claims": {"email": "email"}}`: `"mail" is not an input of claims`,
		`{"provider": "corp", "required": ["email"]}`:                              `"email" is not an input of claims`,
		`{"provider": "corp", "alternatives": [{"ref": "unknown"}]}`:               `"unknown" is already used`,
		`{"provider": "corp", "alternatives": [{"ref": "continue"}]}`:              `"continue" is already used`,
	} {
		if _, problems := w.try("federated-oidc", with, nil, schemas.Next{}); !strings.Contains(texts(problems), want) {
			t.Errorf("%s: found %s, expected %s", with, texts(problems), want)
		}
	}
	schema := Kinds(Deps{})["federated-oidc"].With
	for _, with := range []string{
		`{}`, `{"provider": "Corp"}`, `{"provider": "corp", "prompt": ["none"]}`, `{"provider": "corp", "claims": {"a b": "c"}}`,
		`{"provider": "corp", "claims": {"email": ["email"]}}`, `{"provider": "corp", "acrValues": ["a b"]}`, `{"provider": "corp", "clientSecret": "x"}`,
	} {
		if len(schema.Check([]byte(with))) == 0 {
			t.Errorf("%s is accepted", with)
		}
	}
}

// unlinkedIdentities has no linked identity.
type unlinkedIdentities struct{ Directory }

func (unlinkedIdentities) Identity(context.Context, string, string) (*schemas.Identity, error) {
	return nil, nil
}

// Links depend on the issuer: a provider that is created later with the same ID does not
// take them over.
func TestIdentitiesAreOfIssuers(t *testing.T) {
	corp := &schemas.IdentityProvider{ID: "corp", Issuer: "https://login.example.com"}
	held := left(t, (&federatedOIDC{}).leaveUnknown(visit(), corp, &federation.Identity{Subject: "1815"}), unknownOutcome)
	v := visit(known("ada"), authenticated("phrh", "hwk"))
	v.Identity = held.Identity
	d := left(t, run(t, &federatedLink{node{deps: Deps{Directory: unlinkedIdentities{}, Store: &directory{factors: &factors{}}}}}, v), successOutcome)
	if c, is := d.Changes[0].(schemas.LinkIdentity); !is || c.Issuer != corp.Issuer || c.Identity.ProviderID != "corp" || c.Identity.Subject != "1815" || c.Identity.AddedBy.ACR != "phrh" {
		t.Errorf("got %+v", d.Changes)
	}
}
