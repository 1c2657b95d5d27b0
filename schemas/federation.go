package schemas

import "time"

// IdentityProvider is another OpenID provider with which users sign in (OpenID Connect Core 1.0).
// Flows name it by its handle. A caller who changes it decides which identities the server accepts,
// and therefore needs the permissions of the linked users.
type IdentityProvider struct {
	ID     string `json:"id,omitempty"`
	Handle string `json:"handle"`
	// Name is the name that users see, such as "Example Corp".
	Name string `json:"name"`
	// Issuer is compared octet by octet with the issuer in the provider's metadata (OpenID Connect
	// Discovery 1.0 §4.3).
	Issuer   string `json:"issuer"`
	ClientID string `json:"clientId"`
	// ClientSecret is never shown; only SealedSecret is stored. Both are empty for a client without
	// a secret.
	ClientSecret string `json:"clientSecret,omitempty"`
	SealedSecret Bytes  `json:"-"`
	// TokenEndpointAuthMethod is client_secret_basic, client_secret_post or none.
	TokenEndpointAuthMethod string `json:"tokenEndpointAuthMethod,omitempty"`
	// Scopes are the requested scopes, which always include openid.
	Scopes []string `json:"scopes,omitempty"`
	// Mapping is what becomes of the provider's statements about users; nil for nothing.
	Mapping   *ProviderMapping `json:"mapping,omitempty"`
	CreatedAt time.Time        `json:"createdAt"`
	UpdatedAt time.Time        `json:"updatedAt"`
}

// Identity is a user's identity at a provider, with which the user can sign in: no two users have
// the same one. Subject is the provider's identifier (OpenID Connect Core 1.0 §2, sub), which it
// never reassigns. Name is the user's name there, for display only.
type Identity struct {
	ID         string     `json:"id"`
	UserID     string     `json:"userId"`
	ProviderID string     `json:"providerId"`
	Subject    string     `json:"subject"`
	Name       string     `json:"name,omitempty"`
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt,omitempty"`
	AddedBy    Provenance `json:"-"`
}

// LinkIdentity links an identity with which the user can sign in. If the user already has it, it
// keeps its id. If another user has it, the whole commit fails with identity_taken. If the user
// does not exist, it fails with user_not_found; if the provider does not exist, with
// identity_provider_not_found.
type LinkIdentity struct {
	Identity Identity
	// Issuer is the issuer of the ID token; "" if there was none. It must equal the provider's
	// issuer: a provider that was deleted and created again with the same id may be another one,
	// where the subject is another user.
	Issuer string
}

// UseIdentity records a sign-in with an identity. If the identity no longer exists, the commit
// fails with identity_not_found.
type UseIdentity struct {
	ID string
	At time.Time
}

// UnlinkIdentity unlinks an identity from its user, and ends the sessions that started with it. If the
// user has none with the id, it does nothing.
type UnlinkIdentity struct {
	UserID string
	ID     string
	At     time.Time
}

// Codes of errors about signing in with identity providers.
const (
	CodeFederationDeclined    = "federation_declined"    // never used
	CodeFederationFailed      = "federation_failed"      // the provider's response is not valid
	CodeFederationUnavailable = "federation_unavailable" // it does not answer
	CodeFederationRedirect    = "federation_redirect"    // the application has no redirect URI for the return
)

func (c LinkIdentity) change() lock   { return writes(c.Identity.UserID) }
func (UseIdentity) change() lock      { return noLock() }
func (c UnlinkIdentity) change() lock { return writes(c.UserID) }
