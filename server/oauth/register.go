package oauth

import (
	"cmp"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
)

// ClosedRegistration describes to a client that may not register what it can do instead.
func (p *Provider) ClosedRegistration() string {
	ways := "registration requires a token with the permission system:applications:write; without one, have an administrator register the client, and use its client_id"
	switch {
	case p.Documents.Disabled:
		return ways
	case p.Documents.Restricts():
		return ways + "; or publish a client metadata document at a host that oauth.client_metadata_documents.allowed_hosts lists, and use its https address as the client_id"
	}
	return ways + "; or publish a client metadata document, and use its https address as the client_id"
}

// maxRegistration is the maximum size of a registration, in bytes.
const maxRegistration = 16 << 10

// registered is the reply: RFC 7591 §3.2.1. A client is also an application, with the id app_id.
type registered struct {
	ClientID      string `json:"client_id"`
	ClientSecret  string `json:"client_secret,omitempty"`
	SecretExpires int64  `json:"client_secret_expires_at"` // 0: never
	IssuedAt      int64  `json:"client_id_issued_at"`
	AppID         string `json:"app_id"`
	clientMetadata
}

// Register handles POST /oauth2/dcr/register. The call is that of the token's caller; nil for an
// anonymous one, where registration is open. An anonymous caller's client gets only the grants with
// which users sign in to it.
func (p *Provider) Register(w http.ResponseWriter, r *http.Request, by *directory.Call) error {
	return p.recordRefusal(r.Context(), "registration.refused", nil, p.answerRegistration(w, r, by))
}

func (p *Provider) answerRegistration(w http.ResponseWriter, r *http.Request, by *directory.Call) error {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	text, err := readJSON(w, r, maxRegistration)
	if err != nil {
		return err
	}
	m, err := readMetadata(text)
	if err != nil {
		return err
	}
	m.ClientID, m.ClientSecret, m.ClientSecretExpires = "", "", nil // the server chooses it
	made, err := p.register(r.Context(), m, by)
	if err != nil {
		return err
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	return json.NewEncoder(w).Encode(echo(made, m))
}

// readJSON reads a body of at most limit bytes. Pages of other origins cannot send this media type
// without a preflight.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || r.Header.Get("Content-Encoding") != "" {
		return nil, errorf(codeInvalidRequest, "expected the body as application/json, and a matching Content-Type header")
	}
	return readLimited(w, r, limit)
}

func (p *Provider) register(ctx context.Context, m *clientMetadata, by *directory.Call) (*schemas.Application, error) {
	may := untrustedClientGrants()
	if by != nil {
		may = grantTypes()
	}
	if err := m.settle(may); err != nil {
		return nil, err
	}
	if err := p.reduce(m, false); err != nil {
		return nil, err
	}
	scopes, err := p.scopes(ctx, m, by != nil)
	if err != nil {
		return nil, err
	}
	if err := p.checkSector(ctx, m, by == nil); err != nil {
		return nil, err
	}
	registration := directory.Registration{By: schemas.RegisteredDynamically, Detail: m.detail()}
	call := directory.UntrustedCall()
	if by != nil {
		call = *by
	} else {
		if err := p.checkOwnAddresses(m); err != nil {
			return nil, err
		}
		registration.Lease = &schemas.ClientExpiry{ExpiresAt: p.now().Add(unusedClientTTL)}
	}
	if by != nil && m.Scope == "" {
		scopes = slices.DeleteFunc(scopes, func(s string) bool { return !slices.Contains(schemas.IdentityScopes(), s) && !call.Permits(s) })
	}
	m.describeIn(&registration.Application, scopes)
	made, err := p.Clients.Register(ctx, call, registration)
	return made, explainRegistration(err)
}

// untrustedClientGrants are the grant types of untrusted clients.
func untrustedClientGrants() []string {
	return []string{schemas.GrantAuthorizationCode, schemas.GrantRefreshToken}
}

// checkSector checks that all redirect URIs are on the list that the client names: OpenID Connect
// Dynamic Client Registration §5. Subjects are the same for all clients here, so the list has no
// other effect. The list of an anonymous caller must be at a public address: see ClientAddresses.
func (p *Provider) checkSector(ctx context.Context, m *clientMetadata, anonymous bool) error {
	if m.SectorURI == "" {
		return nil
	}
	public := anonymous && !p.Documents.lists(m.SectorURI)
	if public {
		ctx = outbound.OnlyPublic(ctx)
	}
	published, err := p.FetchDocument(ctx, m.SectorURI)
	if public && refusesAddress(err) {
		return notPublic("sector_identifier_uri", err)
	}
	if err != nil {
		return errorf(codeInvalidMetadata, "the sector_identifier_uri cannot be read: %s", schemas.AsError(err).Description.DefaultValue).
			refusing("sector_identifier_uri", m.SectorURI)
	}
	var listed []string
	if published.Status != http.StatusOK || json.Unmarshal(published.Body, &listed) != nil {
		return errorf(codeInvalidMetadata, "expected at the sector_identifier_uri a JSON list of redirect URIs").refusing("sector_identifier_uri", m.SectorURI)
	}
	for _, uri := range m.RedirectURIs {
		if !slices.Contains(listed, uri) {
			return errorf(codeInvalidMetadata, "the list at the sector_identifier_uri lacks the redirect URI %s", shownValue(uri)).refusing("redirect_uris", uri)
		}
	}
	return nil
}

// echo returns the registered metadata.
func echo(a *schemas.Application, asked *clientMetadata) *registered {
	o := a.OAuth()
	m := *asked
	m.ClientName, m.RedirectURIs, m.LogoutRedirects, m.GrantTypes = a.Name, o.RedirectURIs, o.PostLogoutRedirectURIs, o.GrantTypes
	m.AuthMethod = cmp.Or(o.TokenEndpointAuthMethod, schemas.AuthMethodBasic) // the default of RFC 7591 §2
	m.Scope, m.JWKS, m.JWKSURI = strings.Join(o.Scopes, " "), o.JWKS, o.JWKSURI
	return &registered{ClientID: a.ClientID, ClientSecret: a.ClientSecret, IssuedAt: a.CreatedAt.Unix(), AppID: a.ID, clientMetadata: m}
}

// explainRegistration converts faults of the rules for applications to RFC 7591 §3.2.2.
func explainRegistration(err error) error {
	if err == nil {
		return nil
	}
	e := schemas.AsError(err)
	if e.Class == schemas.Forbidden {
		return errToken(http.StatusForbidden, codeInsufficientScope, "%s", cmp.Or(metadataFaults(e.Errors), e.Description.DefaultValue)).refusing(firstMember(e.Errors), "")
	}
	if e.Class != schemas.Invalid || len(e.Errors) == 0 {
		return err
	}
	code := codeInvalidMetadata
	if strings.HasPrefix(memberOf(e.Errors[0].Path), "redirect_uris") {
		code = codeInvalidRedirect
	}
	return errorf(code, "%s", metadataFaults(e.Errors)).refusing(firstMember(e.Errors), "")
}

// firstMember returns the metadata member of the first fault.
func firstMember(problems []schemas.Problem) string {
	if len(problems) == 0 {
		return "scope"
	}
	return cmp.Or(memberOf(problems[0].Path), "body")
}

// metadataFaults returns the faults of an application with the names of the metadata.
func metadataFaults(problems []schemas.Problem) string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = strings.TrimPrefix(memberOf(p.Path)+": "+p.Message, ": ")
	}
	return strings.Join(texts, "; ")
}

// memberOf returns the metadata member for a path of the application.
func memberOf(path string) string {
	path = strings.TrimPrefix(path, "inboundAuthConfig[0].config.")
	member := path[:len(path)-len(strings.TrimLeft(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))]
	names := map[string]string{
		"name": "client_name", "url": "client_uri", "logoUrl": "logo_uri", "tosUri": "tos_uri", "policyUri": "policy_uri", "scopes": "scope",
		"redirectUris": "redirect_uris", "postLogoutRedirectUris": "post_logout_redirect_uris", "grantTypes": "grant_types",
		"responseTypes": "response_types", "tokenEndpointAuthMethod": "token_endpoint_auth_method", "jwksUri": "jwks_uri",
		"backchannelLogoutUri": "backchannel_logout_uri", "initiateLoginUri": "initiate_login_uri",
		"defaultMaxAge": "default_max_age", "defaultAcrValues": "default_acr_values", "tokenEndpointAuthSigningAlg": "token_endpoint_auth_signing_alg",
	}
	if name := names[member]; name != "" {
		return name + path[len(member):]
	}
	return path
}
