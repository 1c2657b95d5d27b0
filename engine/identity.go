package engine

// Identity is a person's identity at another provider. The person proved it in this run, and it
// was linked to no user at that time. No client sees it.
type Identity struct {
	ProviderID string `json:"providerId"`
	Subject    string `json:"subject"`
	Issuer     string `json:"issuer"`
	// Name is the display name of the identity. It proves nothing.
	Name string `json:"name,omitempty"`
}
