package schemas

import (
	"slices"
	"time"
)

// ProviderMapping is what becomes of the statements of an identity provider about a user: attributes and
// memberships in groups. They are applied in the transaction of the sign-in.
type ProviderMapping struct {
	// Userinfo states that the claims of the provider's userinfo endpoint are read too.
	Userinfo   bool               `json:"userinfo,omitempty"`
	Attributes []AttributeMapping `json:"attributes,omitempty"`
	Groups     []GroupMapping     `json:"groups,omitempty"`
	// Permissions are those that users can get through the groups. A group with any other permission
	// cannot be one of Groups, and a group of Groups cannot get another permission.
	Permissions []string `json:"permissions,omitempty"`
}

// When a mapping is applied.
const (
	EverySignIn = "everySignIn" // the default
	FirstSignIn = "firstSignIn" // when the identity is linked
)

// AttributeMapping takes the value of an attribute from a claim. A value that is refreshed belongs to the
// provider: see AttributeOwner.
type AttributeMapping struct {
	// From is the name of the claim, nested by its dots unless a claim has the whole name. "" states that
	// the attribute has the default.
	From string `json:"from,omitempty"`
	To   string `json:"to"`
	// Type is that of Claim, and so is Separator.
	Type      string `json:"type,omitempty"`
	Separator string `json:"separator,omitempty"`
	// AddPrefix is put before a text.
	AddPrefix string `json:"addPrefix,omitempty"`
	// Default is the value without the claim; nil for none.
	Default any `json:"default,omitempty"`
	// Required refuses a sign-in without a value.
	Required bool   `json:"required,omitempty"`
	Apply    string `json:"apply,omitempty"`
	// VerifiedBy is a claim that is true if the provider has verified the value, an address or a number. "" states
	// that the provider is not trusted to verify it.
	VerifiedBy string `json:"verifiedBy,omitempty"`
	// Domains limits the addresses that count as verified; empty for no limit.
	Domains []string `json:"domains,omitempty"`
}

// Refreshes reports whether the mapping is applied at every sign-in.
func (m *AttributeMapping) Refreshes() bool { return m.Apply != FirstSignIn }

// GroupMapping makes users members of groups by the names in a claim. Map, Below and Unit are the groups that
// the mapping manages; one of them is set.
type GroupMapping struct {
	From string `json:"from"`
	// Prefix and RemovePrefix are those of Claim.
	Prefix       string `json:"prefix,omitempty"`
	RemovePrefix bool   `json:"removePrefix,omitempty"`
	// Map has the id of a group for each name.
	Map map[string]string `json:"map,omitempty"`
	// Below is the id of a group: names are those of groups that it contains, at any depth.
	Below string `json:"below,omitempty"`
	// Unit is the id of an organization unit: names are those of its groups.
	Unit  string `json:"unit,omitempty"`
	Apply string `json:"apply,omitempty"`
}

// Refreshes reports whether the mapping is applied at every sign-in.
func (m *GroupMapping) Refreshes() bool { return m.Apply != FirstSignIn }

// ManagesGroups reports whether the provider makes users members of groups.
func (m *ProviderMapping) ManagesGroups() bool { return m != nil && len(m.Groups) > 0 }

// IsZero reports whether the mapping does nothing.
func (m *ProviderMapping) IsZero() bool {
	return m == nil || len(m.Attributes) == 0 && len(m.Groups) == 0
}

// Grants reports whether users can get a permission through the groups of the mapping.
func (m *ProviderMapping) Grants(permission string) bool {
	return slices.ContainsFunc(m.Permissions, func(p string) bool { return CoversPermission(p, permission) })
}

// MapIdentity applies the mapping of a provider to a user who signs in with an identity. It is part of the
// sign-in: what cannot be applied is left out and recorded, and the sign-in succeeds.
//
// An attribute of the mapping that the user has already and that has no owner stays as it is. What is
// refreshed belongs to the provider from then on.
type MapIdentity struct {
	UserID, ProviderID string
	// Values are the new values by attribute, Absent the attributes that the provider does not state any more, and
	// Once those of the values that are applied only when the identity is linked.
	Values map[string]any
	Absent []string
	Once   []string
	// Account are the attributes that identify, reach or recover the account: changing one needs By.
	Account []string
	// Groups are the names in the claims, by mapping.
	Groups []MappedGroups
	// Permissions are the most that the groups may give.
	Permissions []string
	// Linked states that this links the identity, and Created that the run has created the user, whose values
	// came from the provider.
	Linked, Created bool
	// Skipped are the reasons by attribute for which the mapping was not applied before the store saw it.
	Skipped map[string]string
	By      Authority
	AddedBy Provenance
	At      time.Time
	// Event is recorded if the mapping changes the user, or leaves something out; it has no action and no detail.
	Event Event
}

func (c MapIdentity) change() lock { return writes(c.UserID) }

// MappedGroups are the names that a provider states for a group mapping.
type MappedGroups struct {
	Mapping GroupMapping
	Names   []string
	// Unknown is why the names are not known, "" if they are. The memberships stay then.
	Unknown string
}

// Actions of events about mappings.
const (
	IdentityMapped   = "identity.mapped"
	GroupMemberGiven = "group.member_added_by_provider"
	GroupMemberTaken = "group.member_removed_by_provider"
)

// The reasons for which a mapping is not applied to an attribute or a group.
const (
	SkippedType          = "type"               // the claim cannot have the type
	SkippedTooLong       = "too_long"           // the value or the list is too long
	SkippedCharacters    = "characters"         // the value contains characters that cannot be stored
	SkippedMisfit        = "user_type"          // the user type does not accept the value
	SkippedOwned         = "owned"              // the attribute belongs to another owner
	SkippedTaken         = "taken"              // another user has the value
	SkippedUnverified    = "unverified"         // it would replace a verified address, or is an address as a username
	SkippedAuthority     = "needs_proof"        // the account needs a better sign-in for the change
	SkippedOverage       = "not_in_token"       // the provider states that the list is elsewhere
	SkippedPermissions   = "permissions"        // the group has permissions that the provider may not grant
	SkippedAdministrator = "last_administrator" // no administrator would be left
)
