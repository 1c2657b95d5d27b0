package engine

import "encoding/json"

// Identity is a person's identity at another provider. The person proved it in this run, and it
// was linked to no user at that time. No client sees it.
type Identity struct {
	ProviderID string `json:"providerId"`
	Subject    string `json:"subject"`
	Issuer     string `json:"issuer"`
	// Name is the display name of the identity. It proves nothing.
	Name string `json:"name,omitempty"`
	// Handle is that of the provider, and Statement what it states about the person, if the provider has a mapping.
	Handle    string          `json:"handle,omitempty"`
	Statement json.RawMessage `json:"statement,omitempty"`
}
