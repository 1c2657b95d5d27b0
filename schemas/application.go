package schemas

import (
	"slices"
	"time"
)

// Application is an application that users sign in to, or that acts on its own behalf.
type Application struct {
	ID                        string   `json:"id"`
	Name                      string   `json:"name"` // unique
	Type                      string   `json:"type,omitempty"`
	Description               string   `json:"description,omitempty"`
	OUID                      string   `json:"ouId,omitempty"`
	URL                       string   `json:"url,omitempty"`
	LogoURL                   string   `json:"logoUrl,omitempty"`
	TosURI                    string   `json:"tosUri,omitempty"`
	PolicyURI                 string   `json:"policyUri,omitempty"`
	Contacts                  []string `json:"contacts,omitempty"`
	AuthFlowID                string   `json:"authFlowId"`
	RegistrationFlowID        string   `json:"registrationFlowId,omitempty"`
	IsRegistrationFlowEnabled bool     `json:"isRegistrationFlowEnabled"`
	// RecoveryFlowID is the AUTHENTICATION flow with which users regain access; "" for none.
	RecoveryFlowID string `json:"recoveryFlowId,omitempty"`
	// InvitationFlowID is the AUTHENTICATION flow in which invited users add their first credential;
	// "" for none.
	InvitationFlowID string `json:"invitationFlowId,omitempty"`
	// AddressFlowID is the AUTHENTICATION flow with which users change or verify their mail address;
	// "" for none.
	AddressFlowID    string   `json:"addressFlowId,omitempty"`
	AllowedUserTypes []string `json:"allowedUserTypes,omitempty"`
	// SessionLifetime and SessionIdleTimeout are for how many seconds the application accepts a session
	// after the sign-in, and after its last use by the application: see AcceptsSession. 0 sets no limit.
	SessionLifetime    int `json:"sessionLifetime,omitempty"`
	SessionIdleTimeout int `json:"sessionIdleTimeout,omitempty"`
	// RequireConsent requires consent before the application's client gets data of a user.
	RequireConsent bool `json:"requireConsent,omitempty"`
	// IdentifiesBy is the claim that identifies users in the application, IdentifiesBySub or IdentifiesByEmail.
	// "" means that it may use either.
	IdentifiesBy          string         `json:"identifiesBy,omitempty"`
	PasskeyAllowedOrigins []string       `json:"passkeyAllowedOrigins,omitempty"`
	Assertion             AssertionRules `json:"assertion,omitzero"`
	Customizations        map[string]any `json:"customizations,omitempty"`
	// ClientID is the client id of the OAuth configuration; "" if there is none.
	ClientID string `json:"clientId,omitempty"`
	// ClientSecret is the secret of the OAuth configuration, in the one reply that shows it.
	ClientSecret string `json:"clientSecret,omitempty"`
	// FormerSecretHash is the SHA-256 of the secret before the last rotation, which works until
	// FormerSecretExpiresAt; nil and zero if there is none.
	FormerSecretHash      []byte        `json:"-"`
	FormerSecretExpiresAt time.Time     `json:"formerSecretExpiresAt,omitzero"`
	InboundAuthConfig     []InboundAuth `json:"inboundAuthConfig,omitempty"` // one at most
	// Registration states who created the application: "" for an administrator, else
	// RegisteredDynamically or RegisteredByDocument. It never changes.
	Registration string `json:"registration,omitempty"`
	// Verified states that an administrator trusts a client that registered itself.
	Verified bool `json:"verified,omitempty"`
	// Claims are those of the OAuth configuration, which a sign-in reads without the rest of it.
	Claims []Claim `json:"-"`
	// TokenGeneration is a random text in every token of the application. A new one revokes all
	// earlier tokens. It is "" for an application from before generations whose tokens were never
	// revoked.
	TokenGeneration string `json:"-"`
	// AuthFlowVersion and RegistrationFlowVersion are the active versions of these flows, which a
	// sign-in reads along with the application; 0 if they were not read.
	AuthFlowVersion         int `json:"-"`
	RegistrationFlowVersion int `json:"-"`

	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// The ways in which clients register themselves.
const (
	RegisteredDynamically = "dynamic"           // at the registration endpoint (RFC 7591)
	RegisteredByDocument  = "metadata-document" // by publishing one, whose address is the client id
)

// IsTrusted reports whether an administrator created the application or marked it as verified. The
// name, logo and addresses of any other application are self-asserted, and it gets nothing without
// the user's consent.
func (a *Application) IsTrusted() bool { return a.Registration == "" || a.Verified }

// Types of runs whose flows have the type AUTHENTICATION.
const (
	Recovery      FlowType = "RECOVERY"       // users regain access to their account
	Invitation    FlowType = "INVITATION"     // invited users add their first credential
	AddressChange FlowType = "ADDRESS_CHANGE" // users change or verify their mail address
)

// AssignedFlow is a flow that an application names.
type AssignedFlow struct {
	Path string   // of the member with its id
	Type FlowType // of the runs that start it
	ID   *string  // "" for none
}

// FlowType returns the type of the flow. Only runs of the type REGISTRATION start a flow that has not
// the type AUTHENTICATION.
func (f AssignedFlow) FlowType() FlowType {
	if f.Type == Registration {
		return Registration
	}
	return Authentication
}

// Flows returns the flows for sign-in and registration, and then OptionalFlows.
func (a *Application) Flows() []AssignedFlow {
	return append([]AssignedFlow{
		{"authFlowId", Authentication, &a.AuthFlowID}, {"registrationFlowId", Registration, &a.RegistrationFlowID},
	}, a.OptionalFlows()...)
}

// OptionalFlows returns the flows of the application besides those for sign-in and registration. They
// have the type AUTHENTICATION.
func (a *Application) OptionalFlows() []AssignedFlow {
	return []AssignedFlow{
		{"recoveryFlowId", Recovery, &a.RecoveryFlowID}, {"invitationFlowId", Invitation, &a.InvitationFlowID}, {"addressFlowId", AddressChange, &a.AddressFlowID},
	}
}

// StartedFlows lists the ids of the flows that the application can start.
func (a *Application) StartedFlows() (ids []string) {
	ids = append(ids, a.AuthFlowID)
	for _, f := range a.OptionalFlows() {
		ids = append(ids, *f.ID)
	}
	if a.IsRegistrationFlowEnabled {
		ids = append(ids, a.RegistrationFlowID)
	}
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// ClientExpiry is the expiry of an untrusted client that registered itself. Times are UTC.
type ClientExpiry struct {
	ApplicationID string
	ExpiresAt     time.Time
	// FetchedAt is when the client's metadata document was last fetched. The document is not
	// fetched again before FreshUntil. Both are zero for a client without a document.
	FetchedAt, FreshUntil time.Time
}

// The types of applications. The type determines the defaults of the OAuth configuration.
const (
	SinglePageApp = "SPA"
	MobileApp     = "MOBILE"
	ServerApp     = "SERVER"
	MachineApp    = "M2M"
)

// InboundAuth is a protocol with which an application uses Postern. Type is "oauth2".
type InboundAuth struct {
	Type   string       `json:"type"`
	Config OAuthProfile `json:"config"`
}

// AsksConsent reports whether the application's client needs the consent of users.
func (a *Application) AsksConsent() bool { return a.RequireConsent || !a.IsTrusted() }

// TakesUnverified reports whether the application may get an address that is not verified from a server that sends no
// mail: one that identifies users by their addresses does not.
func (a *Application) TakesUnverified() bool { return a == nil || a.IdentifiesBy != IdentifiesByEmail }

// OAuth returns the application's OAuth configuration, nil if it has none.
func (a *Application) OAuth() *OAuthProfile {
	if len(a.InboundAuthConfig) == 0 {
		return nil
	}
	return &a.InboundAuthConfig[0].Config
}

// OAuthProfile is an application as an OAuth client: RFC 7591 §2.
type OAuthProfile struct {
	ClientID string `json:"clientId,omitempty"`
	// ClientSecret is shown in one reply and never again: only SecretHash, its SHA-256, is stored.
	ClientSecret           string   `json:"clientSecret,omitempty"`
	SecretHash             []byte   `json:"-"`
	RedirectURIs           []string `json:"redirectUris,omitempty"`
	PostLogoutRedirectURIs []string `json:"postLogoutRedirectUris,omitempty"`
	// BackchannelLogoutURI is notified when a session ends, "" for none: OpenID Connect
	// Back-Channel Logout 1.0 §2.2. Logout tokens always contain the session.
	BackchannelLogoutURI             string `json:"backchannelLogoutUri,omitempty"`
	BackchannelLogoutSessionRequired bool   `json:"backchannelLogoutSessionRequired,omitempty"`

	GrantTypes              []string     `json:"grantTypes,omitempty"`
	ResponseTypes           []string     `json:"responseTypes,omitempty"`
	TokenEndpointAuthMethod string       `json:"tokenEndpointAuthMethod,omitempty"`
	PKCERequired            *bool        `json:"pkceRequired,omitempty"`
	PublicClient            *bool        `json:"publicClient,omitempty"`
	Scopes                  []string     `json:"scopes,omitempty"`
	Scope                   string       `json:"scope,omitempty"` // an alternative to Scopes in requests; never in a reply
	Token                   TokenRules   `json:"token,omitzero"`
	JWKS                    *JSONWebKeys `json:"jwks,omitempty"`
	JWKSURI                 string       `json:"jwksUri,omitempty"`
	// TokenEndpointAuthSigningAlg is the algorithm of client assertions, "" for any of the key.
	TokenEndpointAuthSigningAlg string `json:"tokenEndpointAuthSigningAlg,omitempty"`

	// DefaultMaxAge and DefaultACRValues apply to authorization requests without max_age or acr_values:
	// OpenID Connect Dynamic Client Registration §2.
	DefaultMaxAge    *int     `json:"defaultMaxAge,omitempty"` // seconds; nil for none
	DefaultACRValues []string `json:"defaultAcrValues,omitempty"`
	// InitiateLoginURI starts a sign-in at the application: OpenID Connect Core §4.
	InitiateLoginURI string `json:"initiateLoginUri,omitempty"`

	// ScopeClaims maps scopes to the names of the claims that they release to this client. It replaces the
	// standard claims of a scope, and adds the OwnScopes.
	ScopeClaims map[string][]string `json:"scopeClaims,omitempty"`
	UserInfo    UserInfoRules       `json:"userInfo,omitzero"`
	// Claims are claims of this client. Each replaces the standard claim with its name.
	Claims []Claim `json:"claims,omitempty"`
}

// UserInfoRules limit the claims of userinfo to those with the names; nil does not limit them.
type UserInfoRules struct {
	UserAttributes []string `json:"userAttributes,omitzero"`
}

// JSONWebKeys is a JWK Set (RFC 7517 §5) of public keys.
type JSONWebKeys struct {
	Keys []map[string]any `json:"keys"`
}

// MaxClientTokenTTL is the longest lifetime of an access token that a client gets on its own behalf
// (client_credentials).
const MaxClientTokenTTL = 24 * time.Hour

// The grant types that a client may be registered for.
const (
	GrantAuthorizationCode = "authorization_code"
	GrantRefreshToken      = "refresh_token"
	GrantClientCredentials = "client_credentials"
)

// AccountScope allows a client to manage the passkeys and sessions of the user of its token. Only
// clients that are registered with this scope get it.
const AccountScope = "account"

// Client authentication methods of the token endpoint. AuthMethodEither is a client with a secret
// and no configured method: it uses client_secret_basic or client_secret_post.
const (
	AuthMethodEither        = ""
	AuthMethodNone          = "none"
	AuthMethodBasic         = "client_secret_basic"
	AuthMethodPost          = "client_secret_post"
	AuthMethodPrivateKeyJWT = "private_key_jwt"
)

// TokenRules contain the lifetimes of a client's tokens, in seconds (0: the server's default), the signature
// algorithm of its ID tokens, and the claims about the user.
type TokenRules struct {
	AccessToken  AccessTokenRule `json:"accessToken,omitzero"`
	IDToken      IDTokenRule     `json:"idToken,omitzero"`
	RefreshToken TokenRule       `json:"refreshToken,omitzero"`
}

// AccessTokenRule has the lifetime of an access token, in seconds, and the names of the claims that it
// contains besides those of the protocol.
type AccessTokenRule struct {
	ValidityPeriod int      `json:"validityPeriod,omitempty"`
	UserAttributes []string `json:"userAttributes,omitzero"`
	// UserConfig is an alternative to UserAttributes in requests; never in a reply.
	UserConfig *AccessTokenUser `json:"userConfig,omitempty"`
}

// AccessTokenUser contains the names of the claims about the user in an access token.
type AccessTokenUser struct {
	Attributes []string `json:"attributes,omitzero"`
}

// TokenRule contains the lifetime of a token, in seconds.
type TokenRule struct {
	ValidityPeriod int `json:"validityPeriod,omitempty"`
}

// IDTokenRule has the lifetime of an ID token, in seconds, its signature algorithm (RS256 or ES256), and the
// names of the claims to which it is limited; nil does not limit them.
type IDTokenRule struct {
	ValidityPeriod    int      `json:"validityPeriod,omitempty"`
	SignedResponseAlg string   `json:"signedResponseAlg,omitempty"`
	UserAttributes    []string `json:"userAttributes,omitzero"`
}

// AssertionRules contain the lifetime of an application's assertions, in seconds (0: the server's
// default), and the user attributes in them (nil: the profile attributes of the user).
type AssertionRules struct {
	ValidityPeriod int      `json:"validityPeriod,omitempty"`
	UserAttributes []string `json:"userAttributes,omitzero"` // [] is not nil: it means none
}

// Assertion describes the user and the authentication of a completed run, before it is signed as a
// JWT. Times are UTC; Validity 0 means the issuer's default.
type Assertion struct {
	Subject     string
	Audience    []string
	AuthTime    time.Time
	AMR         []string // RFC 8176
	ACR         string
	Permissions []string // become the scope claim
	UserType    string
	OUID        string
	Profile     map[string]any // username, email, given_name …
	Declared    map[string]any // claims that the application declares
	Validity    time.Duration
	Session     string // the id of the Session it belongs to; "" for none
	Generation  string // the TokenGeneration of the application it is for; "" for none
	// AuthRequest is the id of the authorization request that the run began for, ""
	// for none. The assertion answers that request and no other.
	AuthRequest string
}
