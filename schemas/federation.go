package schemas

import "time"

// IdentityProvider is another OpenID provider with which users sign in (OpenID Connect Core 1.0).
// Flows name it by its handle. Its writer decides which identities the server accepts, and so needs
// the permissions of the linked users.
type IdentityProvider struct {
	ID     string `json:"id,omitempty"`
	Handle string `json:"handle"`
	// Name is what people call it: "Example Corp".
	Name string `json:"name"`
	// Issuer is compared with what the provider says of itself, octet by octet
	// (OpenID Connect Discovery 1.0 §4.3).
	Issuer   string `json:"issuer"`
	ClientID string `json:"clientId"`
	// ClientSecret is never shown, and kept as SealedSecret alone. Both are empty for
	// a client that has none.
	ClientSecret string `json:"clientSecret,omitempty"`
	SealedSecret Bytes  `json:"-"`
	// TokenEndpointAuthMethod is client_secret_basic, client_secret_post or none.
	TokenEndpointAuthMethod string `json:"tokenEndpointAuthMethod,omitempty"`
	// Scopes are what is asked for; openid is always among them.
	Scopes    []string  `json:"scopes,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
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
}

// LinkIdentity lets a user sign in by an identity. One that is the user's already
// stays, under the id it has. If it is another user's, the whole commit fails with
// identity_taken; without the user it fails with user_not_found, without the
// provider with identity_provider_not_found.
type LinkIdentity struct {
	Identity Identity
	// Issuer is the issuer of the ID token; "" if there was none. It must be the provider's: one
	// that was deleted and created again with the same id may be another provider, where this
	// subject is another user.
	Issuer string
}

// UseIdentity records a sign-in with an identity. If it is gone, the commit fails with
// identity_not_found.
type UseIdentity struct {
	ID string
	At time.Time
}

// UnlinkIdentity takes an identity from its user, and ends the sessions that rest on
// it; that there is none is no error.
type UnlinkIdentity struct {
	ID string
	At time.Time
}

// Codes of errors about signing in with identity providers.
const (
	CodeFederationDeclined    = "federation_declined"    // never used
	CodeFederationFailed      = "federation_failed"      // what came from there cannot be believed
	CodeFederationUnavailable = "federation_unavailable" // it does not answer
	CodeFederationRedirect    = "federation_redirect"    // there is nowhere to come back to
)

func (LinkIdentity) change()   {}
func (UseIdentity) change()    {}
func (UnlinkIdentity) change() {}
