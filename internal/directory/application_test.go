package directory

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// The defaults of a minimal application.
func TestDefaultsOfApplications(t *testing.T) {
	h := furnished(t, newFixture(t))
	for _, c := range []struct{ body, config string }{
		{`"type": "SPA"`, `{"redirectUris": ["https://app.example.com/"], "grantTypes": ["authorization_code"], "responseTypes": ["code"],
			"tokenEndpointAuthMethod": "none", "pkceRequired": true, "publicClient": true}`},
		{`"type": "MOBILE"`, `{"redirectUris": ["https://app.example.com/"], "grantTypes": ["authorization_code"], "responseTypes": ["code"],
			"tokenEndpointAuthMethod": "none", "pkceRequired": true, "publicClient": true}`},
		{`"type": "SERVER"`, `{"redirectUris": ["https://app.example.com/"], "grantTypes": ["authorization_code"], "responseTypes": ["code"],
			"pkceRequired": false, "publicClient": false}`},
		{`"description": "x"`, `{"redirectUris": ["https://app.example.com/"], "grantTypes": ["authorization_code"], "responseTypes": ["code"],
			"pkceRequired": false, "publicClient": false}`},
		{`"type": "M2M"`, `{"redirectUris": ["https://app.example.com/"], "grantTypes": ["client_credentials"],
			"pkceRequired": false, "publicClient": false}`},
	} {
		item, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, `{"name": "`+schemas.NewID()+`", `+c.body+
			`, "inboundAuthConfig": [{"type": "oauth2", "config": {"redirectUris": ["https://app.example.com/"]}}]}`))
		must(t, err)
		a := client(item)
		if a.OUID != h.unit || a.AuthFlowID != h.ids["signin"] || a.RegistrationFlowID != h.ids["signup"] || a.IsRegistrationFlowEnabled {
			t.Errorf("%s: got %+v", c.body, a)
		}
		o := *a.OAuth()
		o.ClientID, o.ClientSecret = "", ""
		got, err := json.Marshal(o)
		must(t, err)
		var want schemas.OAuthProfile
		must(t, json.Unmarshal([]byte(c.config), &want))
		expected, err := json.Marshal(want)
		must(t, err)
		if string(got) != string(expected) {
			t.Errorf("%s\ngot  %s\nwant %s", c.body, got, expected)
		}
	}
}

// A client without special needs sets only its type.
func TestServiceClientsNeedNoConfiguration(t *testing.T) {
	h := furnished(t, newFixture(t))
	for name, config := range map[string]string{"a": ``, "b": `, "config": {}`} {
		item, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, `{"name": "`+name+`", "type": "M2M", "inboundAuthConfig": [{"type": "oauth2"`+config+`}]}`))
		must(t, err)
		if shownSecret(t, item) == "" || client(item).ClientID == "" {
			t.Errorf("%s: got %+v", config, item.Value)
		}
	}
}

// Writing back a resource as it was read or created changes nothing.
func TestReadDocumentsCanBeWritten(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		h.create(t, h.Applications, `{"name": "All", "type": "MOBILE", "description": "d", "url": "https://app.example.com", "contacts": ["a@example.com"],
			"allowedUserTypes": ["Person"], "passkeyAllowedOrigins": ["https://app.example.com", "http://localhost:3000", "http://shop.localhost:3000"],
			"assertion": {"validityPeriod": 60, "userAttributes": ["email"]}, "customizations": {"theme": {"dark": true}},
			"inboundAuthConfig": [{"type": "oauth2", "config": {"redirectUris": ["com.example.app:/back", "http://127.0.0.1/back", "http://[::1]:8080/", "http://shop.localhost:3000/"],
			"postLogoutRedirectUris": ["https://app.example.com/bye"], "grantTypes": ["authorization_code", "refresh_token"], "scopes": ["openid", "offline_access"],
			"token": {"accessToken": {"validityPeriod": 60}, "idToken": {"validityPeriod": 60, "signedResponseAlg": "ES256"}, "refreshToken": {"validityPeriod": 3600}}}}]}`)
		h.create(t, h.Applications, `{"name": "Keys", "type": "M2M", "inboundAuthConfig": [{"type": "oauth2", "config": {"jwks": {"keys": [
			{"kty": "OKP", "crv": "Ed25519", "kid": "a", "alg": "EdDSA", "use": "sig", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
			{"kty": "EC", "crv": "P-256", "kid": "b", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}}}]}`)
		before := len(h.events(t))
		for _, r := range h.Resources() {
			page, err := r.List(t.Context(), SystemCall(), Query{Limit: 100})
			must(t, err)
			for _, item := range page.Items {
				text, err := json.Marshal(item.Value)
				must(t, err)
				again, err := r.Replace(t.Context(), SystemCall(), item.ID, item.ETag, doc(t, string(text)))
				if err != nil {
					t.Errorf("%s: %v", text, err)
				} else if again.ETag != item.ETag {
					t.Errorf("%s changed by being written back", text)
				}
				one, err := r.Get(t.Context(), SystemCall(), item.ID)
				must(t, err)
				if single, err := json.Marshal(one.Value); err != nil || string(single) != string(text) {
					t.Errorf("alone it is\n%s\nand in the list\n%s", single, text)
				}
			}
		}
		if after := len(h.events(t)); after != before {
			t.Errorf("%d events of nothing", after-before)
		}
	})
}

func TestCustomizationsAreBounded(t *testing.T) {
	h := furnished(t, newFixture(t))
	_, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, object(t, "name", "App", "customizations", map[string]any{"logo": strings.Repeat("x", 70000)})))
	refused(t, err, schemas.CodeInvalidRequest, "customizations: expected at most 65536 bytes, got 70011")
}

// An application of an older release may have a client id without a configuration.
func TestClientIDsWithoutConfigurationAreKept(t *testing.T) {
	h := furnished(t, newFixture(t))
	now := h.now()
	old := schemas.Application{ID: schemas.NewID(), Name: "Old", OUID: h.unit, ClientID: "OLD", AuthFlowID: h.ids["signin"],
		RegistrationFlowID: h.ids["signup"], CreatedAt: now, UpdatedAt: now}
	must(t, h.store.Update(t.Context(), func(tx *store.Tx) error { return store.Applications().Insert(tx, &old) }))
	item, err := h.Applications.Replace(t.Context(), SystemCall(), old.ID, "", doc(t, `{"name": "Older", "clientId": "OLD"}`))
	must(t, err)
	if client(item).ClientID != "OLD" {
		t.Errorf("the client id became %q", client(item).ClientID)
	}
	_, err = h.Applications.Replace(t.Context(), SystemCall(), old.ID, "", doc(t, `{"name": "Older", "clientId": "NEW"}`))
	refused(t, err, schemas.CodeInvalidRequest, "clientId: only an OAuth client has one")
}

// Without the default resources, the error names what is missing.
func TestApplicationsNeedTheirDefaults(t *testing.T) {
	w := newFixture(t)
	_, err := w.Applications.Create(t.Context(), SystemCall(), doc(t, `{"name": "App"}`))
	refused(t, err, schemas.CodeInvalidRequest,
		`authFlowId: there is no default AUTHENTICATION flow "sign-in"`, `registrationFlowId: there is no default REGISTRATION flow "passkey-sign-up"`)
}
