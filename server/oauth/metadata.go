package oauth

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/postern-id/postern/internal/document"
	"github.com/postern-id/postern/internal/jwtverify"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// metadata contains the documents as JSON.
type metadata struct{ server, resource *document.Document }

// member is a member of a document.
type member struct {
	name  string
	value any
}

func (p *Provider) newMetadata() metadata {
	return metadata{server: encodeMembers(p.serverMembers()), resource: encodeMembers([]member{
		{"resource", p.Issuer + ToolsPath},
		{"authorization_servers", []string{p.Issuer}},
		{"scopes_supported", []string{systemScope}},
		{"bearer_methods_supported", []string{"header"}},
	})}
}

// serverMembers are those of RFC 8414 §2 and of OpenID Connect Discovery §3: clients of either
// specification read both documents, so they are one.
func (p *Provider) serverMembers() []member {
	secretOrKey := []string{schemas.AuthMethodBasic, schemas.AuthMethodPost, schemas.AuthMethodPrivateKeyJWT}
	anyMethod := append(secretOrKey[:3:3], schemas.AuthMethodNone)
	algorithms := jwtverify.Algorithms()
	return []member{
		{"issuer", p.Issuer},
		{"token_endpoint", p.Issuer + TokenPath},
		{"jwks_uri", p.Issuer + KeysPath},
		{"scopes_supported", append(schemas.IdentityScopes(), systemScope)},
		{"grant_types_supported", grantTypes()},
		{"token_endpoint_auth_methods_supported", anyMethod},
		{"token_endpoint_auth_signing_alg_values_supported", algorithms},
		{"registration_endpoint", p.Issuer + RegisterPath},
		{"authorization_endpoint", p.Issuer + AuthorizePath},
		{"userinfo_endpoint", p.Issuer + UserInfoPath},
		{"end_session_endpoint", p.Issuer + LogoutPath},
		{"backchannel_logout_supported", true},
		{"backchannel_logout_session_supported", true},
		{"introspection_endpoint", p.Issuer + IntrospectPath},
		{"introspection_endpoint_auth_methods_supported", secretOrKey},
		{"introspection_endpoint_auth_signing_alg_values_supported", algorithms},
		{"revocation_endpoint", p.Issuer + RevokePath},
		{"revocation_endpoint_auth_methods_supported", anyMethod},
		{"revocation_endpoint_auth_signing_alg_values_supported", algorithms},
		{"response_types_supported", []string{"code"}},
		{"response_modes_supported", []string{"query", "form_post"}},
		{"code_challenge_methods_supported", []string{"S256"}},
		{"authorization_response_iss_parameter_supported", true},
		{"subject_types_supported", []string{"public"}},
		{"id_token_signing_alg_values_supported", []string{token.RS256, token.ES256}},
		{"acr_values_supported", schemas.ACRs()},
		{"prompt_values_supported", promptValues()},
		{"claim_types_supported", []string{"normal", "distributed"}},
		{"claims_supported", supportedClaims()},
		{"claims_parameter_supported", true},
		{"request_parameter_supported", false},
		{"request_uri_parameter_supported", false},
		{"client_id_metadata_document_supported", !p.Documents.Disabled},
	}
}

// encodeMembers writes members as a JSON object, in their order.
func encodeMembers(members []member) *document.Document {
	var text []byte
	for _, m := range members {
		value, err := json.Marshal(m.value)
		if err != nil {
			panic(err) // texts and lists of texts
		}
		text = fmt.Appendf(text, ",%q:%s", m.name, value)
	}
	text[0] = '{'
	return document.New("application/json", append(text, '}'))
}

// Server is GET /.well-known/oauth-authorization-server: RFC 8414. It is also GET
// /.well-known/openid-configuration: OpenID Connect Discovery §4.
func (p *Provider) Server(w http.ResponseWriter, r *http.Request) error {
	p.metadata.server.Serve(w, r, documentCaching)
	return nil
}

// Resource is GET /.well-known/oauth-protected-resource, also with /mcp behind
// it: RFC 9728.
func (p *Provider) Resource(w http.ResponseWriter, r *http.Request) error {
	p.metadata.resource.Serve(w, r, documentCaching)
	return nil
}

// Keys is GET /oauth2/jwks: RFC 7517 §5.
func (p *Provider) Keys(w http.ResponseWriter, _ *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", documentCaching)
	_, _ = w.Write(p.Tokens.JWKS()) // fails only if the client has gone
	return nil
}

// documentCaching is the Cache-Control of documents that rarely change. A key is published well before
// it signs, so the keys can be cached too.
const documentCaching = "public, max-age=300"
