package schemas

// SignInSystem contains the flows and applications for a proof across runs: see package chains.
type SignInSystem struct {
	Applications []SystemApplication
	// Flows are the active versions of the flows that the applications start, by id, with their
	// Parts.
	Flows map[string]*Flow
	// Former are deleted applications in their last state, for a comparison with a system that has
	// an application of the same id.
	Former []FormerApplication
	// Claims are those that users can set. A proof does not need them, and a report lists them.
	Claims []SettableClaim
	// Grants are what accounts at identity providers can get without an administrator.
	Grants []ProviderGrant
}

// ProviderGrant states that an identity provider can make its users members of groups with permissions, because
// its mapping declares them.
type ProviderGrant struct {
	Provider    string   `json:"provider"` // the handle
	Permissions []string `json:"permissions"`
	// Addresses states that the provider can verify addresses, with which users recover their accounts.
	Addresses bool `json:"addresses,omitempty"`
}

// GrantsOf returns what the mapping of a provider lets its accounts get; nil for nothing.
func GrantsOf(p *IdentityProvider) *ProviderGrant {
	if p.Mapping == nil {
		return nil
	}
	g := &ProviderGrant{Provider: p.Handle, Permissions: append([]string{}, p.Mapping.Permissions...)}
	for _, a := range p.Mapping.Attributes {
		g.Addresses = g.Addresses || a.VerifiedBy != ""
	}
	if len(g.Permissions) == 0 && !g.Addresses {
		return nil
	}
	return g
}

// SystemApplication is an application with the flows that it can start.
type SystemApplication struct {
	ID, Name string
	FlowIDs  []string
	// Account states that tokens of the application can change the account of their user.
	Account bool
	// ManagesUsers states that the application can get tokens of its own that manage users, Unlimited
	// that these have the permission system.
	ManagesUsers, Unlimited bool
}

// FormerApplication is a deleted application with the flows that it could start, as they were.
type FormerApplication struct {
	SystemApplication
	Flows []*Flow
}
