package schemas

import (
	"slices"
	"strings"
)

// Claim is a statement about a user in the tokens of an application. It has a name or a path, and a source
// with the members that configure it. docs/claims.md describes the members.
type Claim struct {
	// Name is nested by its dots, unless it is a URL. Path has the names of all levels instead.
	Name   string   `json:"name,omitempty"`
	Path   []string `json:"path,omitempty"`
	Source string   `json:"source"`

	Attribute      string `json:"attribute,omitempty"`
	ResourceServer string `json:"resourceServer,omitempty"` // the handle
	Ancestor       string `json:"ancestor,omitempty"`       // the name of a group
	Direct         bool   `json:"direct,omitempty"`         // only groups that the user is a direct member of
	Filter         string `json:"filter,omitempty"`         // a regular expression for whole names
	Exclude        string `json:"exclude,omitempty"`        // a regular expression for whole names to leave out
	Prefix         string `json:"prefix,omitempty"`
	RemovePrefix   bool   `json:"removePrefix,omitempty"`
	Remove         string `json:"remove,omitempty"` // a regular expression for parts of names
	AddPrefix      string `json:"addPrefix,omitempty"`
	Format         string `json:"format,omitempty"`
	Value          string `json:"value,omitempty"`
	Expression     string `json:"expression,omitempty"` // in CEL
	Variable       string `json:"variable,omitempty"`   // of a run, such as inputs.department: see RunValues

	Type      string `json:"type,omitempty"`
	Separator string `json:"separator,omitempty"`
	// First reduces a list to its first item, before the type is applied. OmitEmpty leaves out an empty list.
	First     bool `json:"first,omitempty"`
	OmitEmpty bool `json:"omitEmpty,omitempty"`
	// Scopes are the scopes that release the claim: one of them must be granted. Nil: every token has it.
	Scopes []string `json:"scopes,omitempty"`
	// Targets are the documents that contain the claim. Nil: ID tokens and userinfo.
	Targets []string `json:"targets,omitempty"`
	// Authoritative states that users must not be able to set the value.
	Authoritative bool `json:"authoritative,omitempty"`
}

// Levels returns the names of the claim from the outermost to its own.
func (c *Claim) Levels() []string {
	switch {
	case len(c.Path) > 0:
		return c.Path
	case strings.Contains(c.Name, "://"):
		return []string{c.Name}
	}
	return strings.Split(c.Name, ".")
}

// IdentityScope is a scope about the user who signs in. It needs no permission.
type IdentityScope struct {
	Name string
	Text string // for the question of consent
	// Registered states that only a client that is registered with the scope can request it.
	Registered bool
	// Claims are the names of the standard claims that the scope releases.
	Claims []string
	// Newer states that a permission of a resource server may have the name: the scope was added later.
	Newer bool
}

// AllIdentityScopes are the scopes of OpenID Connect Core §5.4 and §11, and those of this server.
func AllIdentityScopes() []IdentityScope {
	return []IdentityScope{
		{Name: "openid", Text: "Know who you are"},
		{Name: "profile", Text: "See your name and profile", Claims: []string{
			"username", "preferred_username", "name", "given_name", "family_name", "middle_name", "nickname", "profile",
			"picture", "website", "gender", "birthdate", "zoneinfo", "locale", UpdatedAt,
		}},
		{Name: "email", Text: "See your email address", Claims: []string{"email", EmailVerified}},
		{Name: "address", Text: "See your postal address", Claims: []string{"address"}},
		{Name: "phone", Text: "See your phone number", Claims: []string{"phone_number", PhoneNumberVerified}},
		{Name: "offline_access", Text: "Stay connected while you are away"},
		{Name: AccountScope, Text: "Manage your passkeys and sessions", Registered: true},
		{Name: "groups", Text: "See your groups", Claims: []string{GroupsClaim}, Newer: true},
		{Name: "roles", Text: "See your roles", Claims: []string{RolesClaim}, Newer: true},
		{Name: "organization", Text: "See your part of the organization", Claims: []string{UnitIDClaim, UnitNameClaim, UnitHandleClaim, UserTypeClaim}, Newer: true},
	}
}

// Standard claims with a value that is no attribute.
const (
	UpdatedAt       = "updated_at" // when the user was last changed: OpenID Connect Core §5.1
	GroupsClaim     = "groups"
	RolesClaim      = "roles"
	UnitIDClaim     = "ouId"
	UnitNameClaim   = "ouName"
	UnitHandleClaim = "ouHandle"
	UserTypeClaim   = "userType"
)

// ComputedClaims are the standard claims about the memberships of a user.
func ComputedClaims() []string {
	return []string{GroupsClaim, RolesClaim, UnitIDClaim, UnitNameClaim, UnitHandleClaim, UserTypeClaim}
}

// IdentityScopes are the names of AllIdentityScopes. All other scopes are permissions, or scopes of one
// application: see OwnScopes.
func IdentityScopes() (names []string) {
	for _, s := range AllIdentityScopes() {
		names = append(names, s.Name)
	}
	return names
}

// StandardClaims returns the names of the standard claims that a scope releases.
func StandardClaims(scope string) []string {
	for _, s := range AllIdentityScopes() {
		if s.Name == scope {
			return s.Claims
		}
	}
	return nil
}

// NewerScopes are the names of the scopes that are permissions instead if a resource server has them.
func NewerScopes() (names []string) {
	for _, s := range AllIdentityScopes() {
		if s.Newer {
			names = append(names, s.Name)
		}
	}
	return names
}

// OwnScopes returns the scopes that exist for this client only: they release its claims.
func (o *OAuthProfile) OwnScopes() (names []string) {
	if o == nil {
		return nil
	}
	for scope := range o.ScopeClaims {
		if !slices.Contains(IdentityScopes(), scope) {
			names = append(names, scope)
		}
	}
	slices.Sort(names)
	return names
}

// IsProtocolClaim reports whether a claim belongs to the protocols: it states what the issuer knows about the
// token, and readers rely on it. Letter case does not count, because some readers ignore it. (ToUpper before
// ToLower also normalizes letters such as the long s.)
func IsProtocolClaim(name string) bool {
	switch strings.ToLower(strings.ToUpper(name)) {
	case "iss", "sub", "aud", "exp", "nbf", "iat", "jti", // RFC 7519 §4.1
		"auth_time", "nonce", "acr", "amr", "azp", "at_hash", "c_hash", "s_hash", "sid", // OpenID Connect
		"_claim_names", "_claim_sources", // OpenID Connect Core §5.6.2
		"scope", "scp", "client_id", "act", "may_act", "cnf", "authorization_details", // RFC 8693, RFC 7800, RFC 9396
		"events", "txn", "toe", // RFC 8417
		"tgen", "authid", "claims_request":
		return true
	}
	return false
}

// IsAssertedClaim reports whether a claim is a member of every assertion, in any letter case: the type and the unit
// of its user.
func IsAssertedClaim(name string) bool {
	folded := strings.ToLower(strings.ToUpper(name))
	return folded == "usertype" || folded == "ouid"
}

// IsAuthorizationClaim reports whether readers decide by a claim what a user may do, in any letter case. Only a
// declared claim sets it, never an attribute with the name: RFC 9068 §2.2.3.1.
func IsAuthorizationClaim(name string) bool {
	switch strings.ToLower(strings.ToUpper(name)) {
	case "roles", "groups", "entitlements", "permissions", "usertype", "ouid":
		return true
	}
	return false
}

// AttributeClaim returns the value of a standard claim or of an attribute of the user, and whether there is
// one. The claim updated_at is the time of the last change, name is composed of the given name and the family
// name, and preferred_username is the username, if the user has no such attribute. For unverified see Profile.
func (u *User) AttributeClaim(name string, unverified bool) (value any, found bool) {
	if (name == "email" || name == EmailVerified) && !unverified && !u.Verified(EmailVerified) {
		return nil, false
	}
	if attested := VerificationAttributes()[name]; attested != "" {
		return u.Verified(name), u.Text(attested) != ""
	}
	value, found = u.Attributes[name]
	if found && (name != "name" || value != nil) {
		return value, true
	}
	switch name {
	case "name":
		full := u.fullName()
		return full, full != ""
	case "preferred_username":
		value, found = u.Attributes["username"]
	case UpdatedAt:
		return u.UpdatedAt.Unix(), true
	}
	return value, found
}

// ComposedOf returns the attributes from which AttributeClaim composes a claim if the user has no attribute with its name.
func ComposedOf(name string) []string {
	switch name {
	case "name":
		return []string{"given_name", "family_name"}
	case "preferred_username":
		return []string{"username"}
	}
	return nil
}

// ClaimFacts are what claims state about a user besides the attributes.
type ClaimFacts struct {
	Groups []ClaimGroup // direct and nested ones, sorted by name
	// TooManyGroups states that there are more than MaxClaimGroups, and Groups is empty: a part of them could be taken
	// for all.
	TooManyGroups bool
	Roles         []ClaimRole // also those of groups, sorted by name
	Units         []ClaimUnit // of the user: its own unit first, the root last
}

// MaxClaimGroups is the number of groups of a user up to which claims are computed from them.
const MaxClaimGroups = 10_000

// ClaimGroup is a group of a user. Direct states that the user is a member of the group itself, and Above are the ids
// of the groups that the group is a direct member of.
type ClaimGroup struct {
	ID, Name string
	Direct   bool
	Above    []string
}

// ClaimRole is a role of a user.
type ClaimRole struct {
	ID, Name    string
	Permissions []string // sorted
}

// ClaimUnit is an organization unit.
type ClaimUnit struct{ ID, Handle, Name string }
