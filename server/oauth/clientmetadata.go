package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// clientMetadata is a client's own description: RFC 7591 §2, and the additional members of OpenID
// Connect Dynamic Client Registration §2. Other members are ignored, as are those in other
// languages (client_name#ja).
type clientMetadata struct {
	ClientID            string               `json:"client_id,omitempty"` // of a document; a registration gets one
	RedirectURIs        []string             `json:"redirect_uris,omitempty"`
	LogoutRedirects     []string             `json:"post_logout_redirect_uris,omitempty"`
	GrantTypes          []string             `json:"grant_types"`
	ResponseTypes       []string             `json:"response_types"`
	AuthMethod          string               `json:"token_endpoint_auth_method"`
	ClientName          string               `json:"client_name,omitempty"`
	ClientURI           string               `json:"client_uri,omitempty"`
	LogoURI             string               `json:"logo_uri,omitempty"`
	TosURI              string               `json:"tos_uri,omitempty"`
	PolicyURI           string               `json:"policy_uri,omitempty"`
	Contacts            []string             `json:"contacts,omitempty"`
	Scope               string               `json:"scope,omitempty"`
	JWKS                *schemas.JSONWebKeys `json:"jwks,omitempty"`
	JWKSURI             string               `json:"jwks_uri,omitempty"`
	ApplicationType     string               `json:"application_type,omitempty"`
	SubjectType         string               `json:"subject_type,omitempty"`
	SectorURI           string               `json:"sector_identifier_uri,omitempty"`
	IDTokenAlg          string               `json:"id_token_signed_response_alg,omitempty"`
	IDTokenEncryption   string               `json:"id_token_encrypted_response_alg,omitempty"`
	UserInfoAlg         string               `json:"userinfo_signed_response_alg,omitempty"`
	UserInfoEncryption  string               `json:"userinfo_encrypted_response_alg,omitempty"`
	BackchannelLogout   string               `json:"backchannel_logout_uri,omitempty"` // Back-Channel Logout §2.2
	BackchannelSession  bool                 `json:"backchannel_logout_session_required,omitempty"`
	SoftwareStatement   string               `json:"software_statement,omitempty"`
	ClientSecret        string               `json:"client_secret,omitempty"`
	ClientSecretExpires *int64               `json:"client_secret_expires_at,omitempty"`
}

// Error codes of RFC 7591 §3.2.2.
const (
	codeInvalidRedirect     = "invalid_redirect_uri"
	codeInvalidMetadata     = "invalid_client_metadata"
	codeInvalidStatement    = "invalid_software_statement"
	codeUnapprovedStatement = "unapproved_software_statement"
)

// Limits of stored metadata of untrusted clients. All redirect URIs are searched for the origins of
// pages.
const (
	maxRedirectURIs   = 10
	maxRedirectLength = 500
)

// readMetadata reads a document. Names are compared exactly: a member that other readers see as
// client_id must not be Client_ID here.
func readMetadata(text []byte) (*clientMetadata, error) {
	document, problems := schemas.ParseJSON(text)
	if len(problems) > 0 {
		return nil, errorf(codeInvalidMetadata, "expected a JSON object: %s", problems[0])
	}
	if !bytes.HasPrefix(document.JSON(), []byte("{")) {
		return nil, errorf(codeInvalidMetadata, "expected a JSON object")
	}
	document = document.WithoutNulls()
	var m clientMetadata
	into := reflect.ValueOf(&m).Elem()
	for _, f := range reflect.VisibleFields(into.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value := document.At(schemas.MemberPath("", name))
		if value == nil || !value.HasNullItem() && json.Unmarshal(value.JSON(), into.FieldByIndex(f.Index).Addr().Interface()) == nil {
			continue
		}
		if name == "redirect_uris" {
			return nil, errorf(codeInvalidRedirect, "redirect_uris must be a list of strings")
		}
		return nil, errorf(codeInvalidMetadata, "the member %s is of another type than expected", name)
	}
	return &m, nil
}

// check rejects metadata that no client can have on this server. Rules of all applications, such as
// those for redirect URIs, are not checked twice.
func (m *clientMetadata) check() error {
	switch {
	case m.SoftwareStatement != "" && strings.Count(m.SoftwareStatement, ".") != 2:
		return errorf(codeInvalidStatement, "software_statement must be a JWT")
	case m.SoftwareStatement != "":
		return errorf(codeUnapprovedStatement, "software statements are not supported: omit software_statement")
	case m.ApplicationType != "" && m.ApplicationType != "web" && m.ApplicationType != "native":
		return errorf(codeInvalidMetadata, "application_type must be web or native")
	case m.SubjectType != "" && m.SubjectType != "public":
		return errorf(codeInvalidMetadata, "subject_type must be public")
	case m.IDTokenAlg != "" && m.IDTokenAlg != token.RS256 && m.IDTokenAlg != token.ES256:
		return errorf(codeInvalidMetadata, "id_token_signed_response_alg must be %s or %s", token.RS256, token.ES256)
	case m.JWKS != nil && m.JWKSURI != "":
		return errorf(codeInvalidMetadata, "expected jwks or jwks_uri, got both (RFC 7591 section 2)")
	}
	if err := m.checkRedirects(); err != nil {
		return err
	}
	return m.checkAddresses()
}

// checkProtection rejects a client that requests unsupported signing or encryption of replies.
// Unknown metadata is ignored (RFC 7591 §2), but such a client would expect protected claims and
// get plain ones.
func (m *clientMetadata) checkProtection() error {
	for name, algorithm := range map[string]string{"id_token_encrypted_response_alg": m.IDTokenEncryption,
		"userinfo_signed_response_alg": m.UserInfoAlg, "userinfo_encrypted_response_alg": m.UserInfoEncryption} {
		if algorithm != "" {
			return errorf(codeInvalidMetadata, "%s is not supported: ID tokens are signed and not encrypted, and userinfo answers with JSON; leave it out", name)
		}
	}
	return nil
}

func (m *clientMetadata) checkRedirects() error {
	for _, list := range [][]string{m.RedirectURIs, m.LogoutRedirects, {m.BackchannelLogout}} {
		if len(list) > maxRedirectURIs {
			return errorf(codeInvalidRedirect, "expected at most %d redirect URIs, got %d", maxRedirectURIs, len(list))
		}
		if slices.ContainsFunc(list, func(uri string) bool { return len(uri) > maxRedirectLength }) {
			return errorf(codeInvalidRedirect, "expected redirect URIs of at most %d characters", maxRedirectLength)
		}
	}
	return nil
}

// checkAddresses checks the URLs that users see or follow.
func (m *clientMetadata) checkAddresses() error {
	for _, member := range []struct{ name, uri string }{{"client_uri", m.ClientURI}, {"logo_uri", m.LogoURI}, {"tos_uri", m.TosURI},
		{"policy_uri", m.PolicyURI}, {"jwks_uri", m.JWKSURI}, {"sector_identifier_uri", m.SectorURI}} {
		if u, err := url.Parse(member.uri); member.uri != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil) {
			return errorf(codeInvalidMetadata, "%s must be an https URL", member.name)
		}
	}
	return nil
}

// settle checks the requested metadata and reduces it to the permitted values, as RFC 7591 §2
// allows: the grants in may, the response types for them, and keys only if the client authenticates
// with them.
func (m *clientMetadata) settle(may []string) error {
	if err := m.check(); err != nil {
		return err
	}
	if m.GrantTypes == nil {
		m.GrantTypes = []string{schemas.GrantAuthorizationCode}
	}
	asked := m.GrantTypes
	m.GrantTypes = intersect(asked, may)
	if len(m.GrantTypes) == 0 {
		if len(asked) == 0 {
			return errorf(codeInvalidMetadata, "grant_types is empty: name at least one of %s, or leave the member out", strings.Join(may, " "))
		}
		return errorf(codeInvalidMetadata, "the grant_types %s are not available to this client: use %s", strings.Join(asked, " "), strings.Join(may, " "))
	}
	if m.ResponseTypes != nil && slices.Contains(m.GrantTypes, schemas.GrantAuthorizationCode) && !slices.Contains(m.ResponseTypes, "code") {
		return errorf(codeInvalidMetadata, "expected code among the response_types: there is no other")
	}
	m.ResponseTypes = []string{}
	if slices.Contains(m.GrantTypes, schemas.GrantAuthorizationCode) {
		m.ResponseTypes = []string{"code"}
	}
	if !slices.Contains([]string{schemas.AuthMethodEither, schemas.AuthMethodNone, schemas.AuthMethodBasic, schemas.AuthMethodPost, schemas.AuthMethodPrivateKeyJWT}, m.AuthMethod) {
		return errorf(codeInvalidMetadata, "the token_endpoint_auth_method %.40s is not supported", m.AuthMethod)
	}
	if m.AuthMethod != schemas.AuthMethodPrivateKeyJWT {
		m.JWKS, m.JWKSURI = nil, ""
	}
	return nil
}

// intersect returns the words of a list that are in others, each once.
func intersect(list, others []string) []string {
	kept := []string{}
	for _, word := range list {
		if slices.Contains(others, word) && !slices.Contains(kept, word) {
			kept = append(kept, word)
		}
	}
	return kept
}

// scopes returns the requested scopes that exist. A client that names none can request all that
// untrusted clients may; the user's roles and consent decide which permissions a token has. The
// scope account needs an administrator.
func (p *Provider) scopes(ctx context.Context, m *clientMetadata, trusted bool) ([]string, error) {
	if m.Scope == "" && slices.Contains(m.GrantTypes, schemas.GrantClientCredentials) {
		return nil, nil // registered scopes would be its own permissions
	}
	if m.Scope == "" {
		return append(slices.DeleteFunc(schemas.IdentityScopes(), isAccountScope), systemScope), nil
	}
	asked := strings.Fields(m.Scope)
	if len(asked) > maxScopes {
		return nil, errorf(codeInvalidMetadata, "there are more than %d scopes", maxScopes)
	}
	known, err := p.Clients.KnownScopes(ctx, asked)
	if err != nil {
		return nil, err
	}
	kept := intersect(asked, known)
	if !trusted {
		kept = slices.DeleteFunc(kept, isAccountScope)
	}
	return kept, nil
}

func isAccountScope(scope string) bool { return scope == schemas.AccountScope }

// describeIn copies the metadata into an application.
func (m *clientMetadata) describeIn(a *schemas.Application, scopes []string) {
	a.Name, a.URL, a.LogoURL, a.TosURI, a.PolicyURI, a.Contacts = m.name(), m.ClientURI, m.LogoURI, m.TosURI, m.PolicyURI, m.Contacts
	if m.ApplicationType == "native" {
		a.Type = schemas.MobileApp
	}
	var o schemas.OAuthProfile
	if old := a.OAuth(); old != nil {
		o.Token = old.Token
	}
	public := m.AuthMethod == schemas.AuthMethodNone
	o.ClientID, o.RedirectURIs, o.PostLogoutRedirectURIs, o.GrantTypes = a.ClientID, m.RedirectURIs, m.LogoutRedirects, m.GrantTypes
	o.ResponseTypes, o.TokenEndpointAuthMethod, o.PublicClient = m.ResponseTypes, m.AuthMethod, &public
	o.Scopes, o.JWKS, o.JWKSURI = scopes, m.JWKS, m.JWKSURI
	o.BackchannelLogoutURI, o.BackchannelLogoutSessionRequired = m.BackchannelLogout, m.BackchannelSession
	o.Token.IDToken.SignedResponseAlg = m.IDTokenAlg
	a.InboundAuthConfig = []schemas.InboundAuth{{Type: "oauth2", Config: o}}
}

// name returns the client's name, or the host of a redirect URI.
func (m *clientMetadata) name() string {
	if name := strings.TrimSpace(m.ClientName); name != "" {
		return name
	}
	for _, uri := range append([]string{m.ClientID}, m.RedirectURIs...) {
		if u, err := url.Parse(uri); err == nil && u.Hostname() != "" {
			return u.Hostname()
		}
	}
	return "Client"
}
