package engine

// Identity is what another provider calls the person who answers. They have proved it
// in this run, and it was nobody's here when they did. No client is told of it.
type Identity struct {
	ProviderID string `json:"providerId"`
	Subject    string `json:"subject"`
	// Issuer is the provider's.
	Issuer string `json:"issuer"`
	// Name is how the person is called there, for people to recognize. It proves
	// nothing.
	Name string `json:"name,omitempty"`
}
