package directory

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// The schema and the server accept the same periods.
func TestSchemaAndServerAgreeOnValidityPeriods(t *testing.T) {
	h := furnished(t, newFixture(t))
	for _, token := range []string{"accessToken", "idToken", "refreshToken"} {
		for seconds, fine := range map[int]bool{-1: false, 0: true, 1: false, 9: false, 10: true, 31536000: true, 31536001: false} {
			body := fmt.Sprintf(`{"name": %q, "inboundAuthConfig": [{"type": "oauth2", "config": {"redirectUris": ["https://app.example.com/"],
				"token": {%q: {"validityPeriod": %d}}}}]}`, schemas.NewID(), token, seconds)
			if problems := doc(t, body).Decode(schemas.ApplicationSchema(), new(schemas.Application)); (len(problems) == 0) != fine {
				t.Errorf("%s of %d: the schema finds %v", token, seconds, problems)
			}
			if _, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, body)); (err == nil) != fine {
				t.Errorf("%s of %d: the server answers %v", token, seconds, err)
			}
		}
	}
}

// A set may contain an encryption key, also without a kid.
func TestEncryptionKeyMayStandNextToTheSigningKey(t *testing.T) {
	h := furnished(t, newFixture(t))
	const signing = `{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	const point = `"crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"`
	for encryption, fine := range map[string]bool{
		`{"kty": "EC", "use": "enc", "alg": "ECDH-ES+A256KW", ` + point + `}`:                                             true,
		`{"kty": "OKP", "use": "enc", "crv": "X25519", "x": "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"}`:               true,
		`{"kty": "EC", "use": "enc", "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI", ` + point + `}`:                  false,
		`{"kty": "oct", "use": "enc", "k": "GawgguFyGrWKav7AX4VKUg"}`:                                                     false,
		`{"kty": "RSA", "use": "enc", "n": "AQAB", "e": "AQAB"}`:                                                          false,
		`{"kty": "OKP", "use": "other", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`:            false,
		`{"kty": "EC", "use": "enc", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "AAAAAAA"}`: false,
	} {
		item, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, fmt.Sprintf(`{"name": %q, "type": "M2M", "inboundAuthConfig": [{"type": "oauth2",
			"config": {"jwks": {"keys": [%s, %s]}}}]}`, schemas.NewID(), signing, encryption)))
		if (err == nil) != fine {
			t.Errorf("%s: %v", encryption, err)
		}
		if err == nil && len(client(item).OAuth().JWKS.Keys) != 2 {
			t.Errorf("%s: the key is gone", encryption)
		}
	}
}

// An administrator may register any private-use scheme for a public client on devices,
// except schemes that browsers and systems handle themselves, and plain http.
func TestAdministratorsRegisterPrivateUseSchemes(t *testing.T) {
	h := furnished(t, newFixture(t))
	register := func(appType, uri string) error {
		uris, err := json.Marshal([]string{uri})
		must(t, err)
		_, err = h.Applications.Create(t.Context(), SystemCall(), doc(t, fmt.Sprintf(`{"name": %q, "type": %q, "inboundAuthConfig": [{"type": "oauth2", "config": {"redirectUris": %s, "postLogoutRedirectUris": %s}}]}`,
			schemas.NewID(), appType, uris, uris)))
		return err
	}
	for _, uri := range []string{"myapp://callback", "myapp:/callback", "cursor://anysphere.cursor-mcp/oauth/callback", "vscode://x/y", "com.example.app:/callback"} {
		if err := register(schemas.MobileApp, uri); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
		for _, appType := range []string{schemas.SinglePageApp, schemas.ServerApp} {
			if register(appType, uri) == nil {
				t.Errorf("%s is accepted of a client of the type %s", uri, appType)
			}
		}
	}
	for _, uri := range []string{"javascript:alert(1)", "JavaScript://x/%0aalert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:x", "blob:https://x.example/",
		"intent://x", "about:blank", "mailto:a@example.com", "ftp://x.example/", "http://app.example.com/callback", "ws://x.example/", "myapp://callback#x", "myapp://*"} {
		if register(schemas.MobileApp, uri) == nil {
			t.Errorf("%s is accepted", uri)
		}
	}
}
