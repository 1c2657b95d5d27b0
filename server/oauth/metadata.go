package oauth

import (
	"encoding/json"
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// metadata is what the documents say, as JSON.
type metadata struct{ server, resource []byte }

// serverMetadata is the document of RFC 8414 §2. It tells what is there, and
// nothing else. The members about the authorization endpoint are left out as
// long as no grant uses one, and so are lists that would be empty (§3.2).
type serverMetadata struct {
	Issuer        string   `json:"issuer"`
	TokenEndpoint string   `json:"token_endpoint"`
	JWKSURI       string   `json:"jwks_uri"`
	Scopes        []string `json:"scopes_supported"`
	GrantTypes    []string `json:"grant_types_supported"`
	AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
}

// resourceMetadata is the document of RFC 9728 §2: that of the tools.
type resourceMetadata struct {
	Resource      string   `json:"resource"`
	Servers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	BearerMethods []string `json:"bearer_methods_supported"`
}

func newMetadata(issuer string) metadata {
	return metadata{
		server: mustJSON(serverMetadata{
			Issuer: issuer, TokenEndpoint: issuer + TokenPath, JWKSURI: issuer + KeysPath,
			Scopes:      []string{systemScope},
			GrantTypes:  grantTypes(),
			AuthMethods: []string{schemas.AuthMethodBasic, schemas.AuthMethodPost},
		}),
		resource: mustJSON(resourceMetadata{
			Resource: issuer + ToolsPath, Servers: []string{issuer},
			Scopes: []string{systemScope}, BearerMethods: []string{"header"},
		}),
	}
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and lists of them
	}
	return text
}

// Server is GET /.well-known/oauth-authorization-server: RFC 8414.
func (p *Provider) Server(w http.ResponseWriter, _ *http.Request) error {
	return writeDocument(w, p.metadata.server)
}

// Resource is GET /.well-known/oauth-protected-resource, also with /mcp behind
// it: RFC 9728.
func (p *Provider) Resource(w http.ResponseWriter, _ *http.Request) error {
	return writeDocument(w, p.metadata.resource)
}

// Keys is GET /oauth2/jwks: RFC 7517 §5.
func (p *Provider) Keys(w http.ResponseWriter, _ *http.Request) error {
	return writeDocument(w, p.Tokens.JWKS())
}

// writeDocument answers with a document that changes seldom. A key is published
// well before it signs, so caches may keep it for a while.
func writeDocument(w http.ResponseWriter, text []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(text) // whoever does not read it is gone
	return nil
}
