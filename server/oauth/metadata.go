package oauth

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/postern-id/postern/internal/jwtverify"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// metadata contains the documents as JSON.
type metadata struct{ server, resource []byte }

// serverMetadata is the document of RFC 8414 §2. It lists what exists; empty lists are left out
// (§3.2).
type serverMetadata struct {
	Issuer        string   `json:"issuer"`
	TokenEndpoint string   `json:"token_endpoint"`
	JWKSURI       string   `json:"jwks_uri"`
	Scopes        []string `json:"scopes_supported"`
	GrantTypes    []string `json:"grant_types_supported"`
	AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
	SigningAlgs   []string `json:"token_endpoint_auth_signing_alg_values_supported,omitempty"`
	Registration  string   `json:"registration_endpoint,omitempty"`
	*authorizationMetadata
}

// authorizationMetadata adds the authorization endpoint, and OpenID Connect Discovery §3: clients
// of either specification read both documents, so they are one.
type authorizationMetadata struct {
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	UserInfoEndpoint      string   `json:"userinfo_endpoint"`
	EndSessionEndpoint    string   `json:"end_session_endpoint"`
	BackchannelLogout     bool     `json:"backchannel_logout_supported"`
	BackchannelSession    bool     `json:"backchannel_logout_session_supported"`
	IntrospectionEndpoint string   `json:"introspection_endpoint"`
	IntrospectionMethods  []string `json:"introspection_endpoint_auth_methods_supported"`
	IntrospectionAlgs     []string `json:"introspection_endpoint_auth_signing_alg_values_supported,omitempty"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	RevocationMethods     []string `json:"revocation_endpoint_auth_methods_supported"`
	RevocationAlgs        []string `json:"revocation_endpoint_auth_signing_alg_values_supported,omitempty"`
	ResponseTypes         []string `json:"response_types_supported"`
	ResponseModes         []string `json:"response_modes_supported"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	IssParameter          bool     `json:"authorization_response_iss_parameter_supported"`
	SubjectTypes          []string `json:"subject_types_supported"`
	IDTokenAlgorithms     []string `json:"id_token_signing_alg_values_supported"`
	ACRValues             []string `json:"acr_values_supported"`
	Prompts               []string `json:"prompt_values_supported"`
	ClaimTypes            []string `json:"claim_types_supported"`
	Claims                []string `json:"claims_supported"`
	ClaimsParameter       bool     `json:"claims_parameter_supported"`
	RequestParameter      bool     `json:"request_parameter_supported"`
	RequestURIParameter   bool     `json:"request_uri_parameter_supported"`
	ClientDocuments       bool     `json:"client_id_metadata_document_supported"`
}

// resourceMetadata is the document of RFC 9728 §2 for the tools.
type resourceMetadata struct {
	Resource      string   `json:"resource"`
	Servers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	BearerMethods []string `json:"bearer_methods_supported"`
}

func (p *Provider) newMetadata() metadata {
	issuer := p.Issuer
	server := serverMetadata{
		Issuer: issuer, TokenEndpoint: issuer + TokenPath, JWKSURI: issuer + KeysPath,
		Scopes:      []string{systemScope},
		GrantTypes:  p.grantTypes(),
		AuthMethods: []string{schemas.AuthMethodBasic, schemas.AuthMethodPost},
	}
	if p.Registration != nil {
		server.Registration = issuer + RegisterPath
	}
	if p.KeyAuthentication != nil {
		server.AuthMethods = append(server.AuthMethods, schemas.AuthMethodPrivateKeyJWT)
		server.SigningAlgs = jwtverify.Algorithms()
	}
	if p.hasAuthorizationEndpoint() {
		server.authorizationMetadata = newAuthorizationMetadata(issuer, server.AuthMethods, server.SigningAlgs)
		server.ClientDocuments = p.Registration != nil && !p.Documents.Disabled
		server.Scopes = append(schemas.IdentityScopes(), systemScope)
		server.AuthMethods = append(slices.Clone(server.AuthMethods), schemas.AuthMethodNone)
	}
	return metadata{
		server: mustJSON(server),
		resource: mustJSON(resourceMetadata{
			Resource: issuer + ToolsPath, Servers: []string{issuer},
			Scopes: []string{systemScope}, BearerMethods: []string{"header"},
		}),
	}
}

// newAuthorizationMetadata lists the methods and algorithms of client authentication.
func newAuthorizationMetadata(issuer string, methods, algorithms []string) *authorizationMetadata {
	claims := []string{"iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid", "at_hash"}
	for _, scope := range schemas.IdentityScopes() {
		claims = append(claims, scopeClaims(scope)...)
	}
	return &authorizationMetadata{
		AuthorizationEndpoint: issuer + AuthorizePath, UserInfoEndpoint: issuer + UserInfoPath,
		EndSessionEndpoint: issuer + LogoutPath, BackchannelLogout: true, BackchannelSession: true,
		IntrospectionEndpoint: issuer + IntrospectPath, IntrospectionMethods: methods, IntrospectionAlgs: algorithms,
		RevocationEndpoint: issuer + RevokePath, RevocationMethods: append(slices.Clone(methods), schemas.AuthMethodNone), RevocationAlgs: algorithms,
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query", "form_post"}, ChallengeMethods: []string{"S256"},
		IssParameter: true, SubjectTypes: []string{"public"}, IDTokenAlgorithms: []string{token.RS256, token.ES256},
		ACRValues: schemas.ACRs(), Prompts: promptValues(), ClaimTypes: []string{"normal"}, Claims: claims,
	}
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, and lists of strings
	}
	return text
}

// Server is GET /.well-known/oauth-authorization-server: RFC 8414.
func (p *Provider) Server(w http.ResponseWriter, _ *http.Request) error {
	return writeDocument(w, p.metadata.server)
}

// OpenID is GET /.well-known/openid-configuration: OpenID Connect Discovery §4.
func (p *Provider) OpenID(w http.ResponseWriter, _ *http.Request) error {
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

// writeDocument writes a document that rarely changes. A key is published well before it signs, so
// caching is possible.
func writeDocument(w http.ResponseWriter, text []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(text) // fails only if the client has gone
	return nil
}
