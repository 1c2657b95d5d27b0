package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/postern-id/postern/internal/jwtverify"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// clientMetadata is a client's own description: the members of RFC 7591 §2 and OpenID Connect Dynamic
// Client Registration §2 that take effect, or are returned. See registeredMembers for the others.
type clientMetadata struct {
	ClientID            string               `json:"client_id,omitempty"` // of a document; a registration gets one
	RedirectURIs        []string             `json:"redirect_uris,omitempty"`
	LogoutRedirects     []string             `json:"post_logout_redirect_uris,omitempty"`
	GrantTypes          []string             `json:"grant_types"`
	ResponseTypes       []string             `json:"response_types"`
	AuthMethod          string               `json:"token_endpoint_auth_method"`
	AuthAlg             string               `json:"token_endpoint_auth_signing_alg,omitempty"`
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
	DefaultMaxAge       *int64               `json:"default_max_age,omitempty"`
	RequireAuthTime     bool                 `json:"require_auth_time,omitempty"` // ID tokens always have it
	DefaultACRValues    []string             `json:"default_acr_values,omitempty"`
	InitiateLogin       string               `json:"initiate_login_uri,omitempty"`     // Core §4
	BackchannelLogout   string               `json:"backchannel_logout_uri,omitempty"` // Back-Channel Logout §2.2
	BackchannelSession  bool                 `json:"backchannel_logout_session_required,omitempty"`
	SoftwareID          string               `json:"software_id,omitempty"`
	SoftwareVersion     string               `json:"software_version,omitempty"`
	SoftwareStatement   string               `json:"software_statement,omitempty"`
	ClientSecret        string               `json:"client_secret,omitempty"`
	ClientSecretExpires *int64               `json:"client_secret_expires_at,omitempty"`

	ignored     []string // the names of members without effect
	unprotected []string // the names of members that ask for protection that the server does not give
	refused     []string // the redirect URIs that were left out, with the reasons
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
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value := document.At(schemas.MemberPath("", name))
		if value == nil || !value.HasNullItem() && json.Unmarshal(value.JSON(), into.FieldByIndex(f.Index).Addr().Interface()) == nil {
			continue
		}
		if name == "redirect_uris" {
			return nil, errorf(codeInvalidRedirect, "redirect_uris must be a list of strings").refusing(name, "")
		}
		return nil, errorf(codeInvalidMetadata, "the member %s is of another type than expected", name).refusing(name, "")
	}
	m.sortMembers(document)
	return &m, nil
}

// check rejects metadata that no client can have on this server. Rules of all applications, such as
// those for redirect URIs, are not checked twice.
func (m *clientMetadata) check() error {
	switch {
	case m.SoftwareStatement != "" && strings.Count(m.SoftwareStatement, ".") != 2:
		return errorf(codeInvalidStatement, "software_statement must be a JWT").refusing("software_statement", "")
	case m.SoftwareStatement != "":
		return errorf(codeUnapprovedStatement, "software statements are not supported: omit software_statement").refusing("software_statement", "")
	case m.ApplicationType != "" && m.ApplicationType != "web" && m.ApplicationType != "native":
		return errorf(codeInvalidMetadata, "application_type must be web or native").refusing("application_type", m.ApplicationType)
	case m.SubjectType != "" && m.SubjectType != "public" && m.SubjectType != pairwise:
		return errorf(codeInvalidMetadata, "subject_type must be public").refusing("subject_type", m.SubjectType)
	case m.IDTokenAlg != "" && m.IDTokenAlg != token.RS256 && m.IDTokenAlg != token.ES256:
		return errorf(codeInvalidMetadata, "id_token_signed_response_alg must be %s or %s", token.RS256, token.ES256).refusing("id_token_signed_response_alg", m.IDTokenAlg)
	case m.JWKS != nil && m.JWKSURI != "":
		return errorf(codeInvalidMetadata, "expected jwks or jwks_uri, got both (RFC 7591 section 2)").refusing("jwks_uri", m.JWKSURI)
	case m.DefaultMaxAge != nil && *m.DefaultMaxAge < 0:
		return errorf(codeInvalidMetadata, "default_max_age must be a number of seconds").refusing("default_max_age", strconv.FormatInt(*m.DefaultMaxAge, 10))
	case len(m.DefaultACRValues) > maxACRValues:
		return errorf(codeInvalidMetadata, "there are more than %d default_acr_values", maxACRValues).refusing("default_acr_values", "")
	}
	if err := m.checkRedirects(); err != nil {
		return err
	}
	return m.checkAddresses()
}

func (m *clientMetadata) checkRedirects() error {
	for member, list := range map[string][]string{"redirect_uris": m.RedirectURIs, "post_logout_redirect_uris": m.LogoutRedirects} {
		if len(list) > maxRedirectURIs {
			return errorf(codeInvalidRedirect, "expected at most %d %s, got %d", maxRedirectURIs, member, len(list)).refusing(member, "")
		}
	}
	if uri := m.BackchannelLogout; len(uri) > maxRedirectLength {
		return errorf(codeInvalidMetadata, "expected a backchannel_logout_uri of at most %d characters", maxRedirectLength).refusing("backchannel_logout_uri", uri)
	}
	return nil
}

// checkAddresses checks the URLs that users see or follow.
func (m *clientMetadata) checkAddresses() error {
	for _, member := range []struct{ name, uri string }{{"client_uri", m.ClientURI}, {"logo_uri", m.LogoURI}, {"tos_uri", m.TosURI},
		{"policy_uri", m.PolicyURI}, {"jwks_uri", m.JWKSURI}, {"sector_identifier_uri", m.SectorURI}, {"initiate_login_uri", m.InitiateLogin}} {
		if u, err := url.Parse(member.uri); member.uri != "" && (err != nil || u.Scheme != "https" && !isFetchedHere(member.name, member.uri) || u.Host == "" || u.User != nil) {
			return errorf(codeInvalidMetadata, "%s must be an https URL", member.name).refusing(member.name, member.uri)
		}
	}
	return nil
}

// isFetchedHere reports whether the server itself, and no user, follows an address of this machine over plain
// http. outbound.allow decides whether it may: see outbound.Rules.
func isFetchedHere(member, uri string) bool {
	_, loopback := withoutPort(uri)
	return loopback && (member == "jwks_uri" || member == "sector_identifier_uri")
}

// settle checks the requested metadata and reduces it to the permitted values, as RFC 7591 §2
// allows: the grants in may, the response types for them, and keys only if the client authenticates
// with them.
func (m *clientMetadata) settle(may []string) error {
	if err := m.check(); err != nil {
		return err
	}
	if err := m.settleGrants(may); err != nil {
		return err
	}
	if !slices.Contains([]string{schemas.AuthMethodEither, schemas.AuthMethodNone, schemas.AuthMethodBasic, schemas.AuthMethodPost, schemas.AuthMethodPrivateKeyJWT}, m.AuthMethod) {
		return errorf(codeInvalidMetadata, "the token_endpoint_auth_method %.40s is not supported", shownValue(m.AuthMethod)).refusing("token_endpoint_auth_method", m.AuthMethod)
	}
	m.settleDefaults()
	return m.settleKeys()
}

func (m *clientMetadata) settleGrants(may []string) error {
	if m.GrantTypes == nil {
		m.GrantTypes = []string{schemas.GrantAuthorizationCode}
	}
	asked := m.GrantTypes
	m.GrantTypes = intersect(asked, may)
	if len(m.GrantTypes) == 0 {
		if len(asked) == 0 {
			return errorf(codeInvalidMetadata, "grant_types is empty: name at least one of %s, or leave the member out", strings.Join(may, " ")).refusing("grant_types", "")
		}
		return errorf(codeInvalidMetadata, "the grant_types %.100s are not available to this client: use %s", shownValue(strings.Join(asked, " ")), strings.Join(may, " ")).
			refusing("grant_types", strings.Join(asked, " "))
	}
	if m.ResponseTypes != nil && slices.Contains(m.GrantTypes, schemas.GrantAuthorizationCode) && !slices.Contains(m.ResponseTypes, "code") {
		return errorf(codeInvalidMetadata, "expected code among the response_types: there is no other").refusing("response_types", strings.Join(m.ResponseTypes, " "))
	}
	m.ResponseTypes = []string{}
	if slices.Contains(m.GrantTypes, schemas.GrantAuthorizationCode) {
		m.ResponseTypes = []string{"code"}
	}
	return nil
}

// settleDefaults keeps the classes that there are: like acr_values they are a preference. An older sign-in than
// MaxInt32 seconds does not exist.
func (m *clientMetadata) settleDefaults() {
	if asked := len(m.DefaultACRValues); asked > 0 {
		m.DefaultACRValues = intersect(m.DefaultACRValues, schemas.ACRs())
		if len(m.DefaultACRValues) < asked {
			m.ignored = append(m.ignored, "default_acr_values")
		}
	}
	if m.DefaultMaxAge != nil {
		limit := min(*m.DefaultMaxAge, math.MaxInt32)
		m.DefaultMaxAge = &limit
	}
}

// settleKeys keeps the keys, and the algorithm of their signatures, only if the client authenticates with them.
func (m *clientMetadata) settleKeys() error {
	if m.AuthMethod == schemas.AuthMethodPrivateKeyJWT {
		if algorithms := jwtverify.Algorithms(); m.AuthAlg != "" && !slices.Contains(algorithms, m.AuthAlg) {
			return errorf(codeInvalidMetadata, "token_endpoint_auth_signing_alg must be one of %s", strings.Join(algorithms, " ")).refusing("token_endpoint_auth_signing_alg", m.AuthAlg)
		}
		return nil
	}
	for name, unused := range map[string]bool{"jwks": m.JWKS != nil, "jwks_uri": m.JWKSURI != "", "token_endpoint_auth_signing_alg": m.AuthAlg != ""} {
		if unused {
			m.ignored = append(m.ignored, name)
		}
	}
	m.JWKS, m.JWKSURI, m.AuthAlg = nil, "", ""
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
		identity, err := p.Clients.IdentityScopes(ctx, nil)
		return append(slices.DeleteFunc(slices.Clone(identity), isAccountScope), systemScope), err
	}
	asked := strings.Fields(m.Scope)
	if len(asked) > maxScopes {
		return nil, errorf(codeInvalidMetadata, "there are more than %d scopes", maxScopes).refusing("scope", "")
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
	o.TokenEndpointAuthSigningAlg, o.DefaultACRValues, o.InitiateLoginURI = m.AuthAlg, m.DefaultACRValues, m.InitiateLogin
	if m.DefaultMaxAge != nil {
		limit := int(*m.DefaultMaxAge)
		o.DefaultMaxAge = &limit
	}
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
