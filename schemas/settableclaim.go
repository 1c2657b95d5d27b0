package schemas

// RuleClaim is the rule about claims that users can set: see SettableClaim.
const RuleClaim = "claim"

// The values of Application.IdentifiesBy: the claim that identifies users in the application.
const (
	IdentifiesBySub   = "sub"
	IdentifiesByEmail = "email"
)

// SettableClaim is a claim of an application that users can set, and one place where they can. Package claims finds them.
type SettableClaim struct {
	ApplicationID string `json:"applicationId"`
	Application   string `json:"application"`
	// Claim is the name, and Declared the member of the application that declares the claim.
	Claim    string `json:"claim"`
	Declared string `json:"declared"`
	// Reads is what users set: an attribute, a value of the run, "the user type", "the organization unit" or "the scope". It is "" for a claim
	// that states more than the server knows.
	Reads string `json:"reads,omitempty"`
	// Authoritative states that users must not be able to set the claim: changes that let them are refused.
	Authoritative bool  `json:"authoritative"`
	Place         Place `json:"place"`
	// Where describes the place, and Fix how to close it.
	Where string `json:"where"`
	Fix   string `json:"fix"`
}

// PlaceKind is how users set what a claim states.
type PlaceKind string

// The kinds of places.
const (
	OnAccountPage PlaceKind = "account-page" // of a user type; also PATCH /users/me/profile
	InFlow        PlaceKind = "flow"         // at a node of a flow
	ByScope       PlaceKind = "scope"        // that users grant themselves
	WithoutMail   PlaceKind = "no-mail"      // a node of a flow sets an address that the server cannot verify
	AtProvider    PlaceKind = "provider"     // whose users state it about themselves
	ByDeclaration PlaceKind = "declaration"  // the declaration of the claim itself
)

// Place is where users can set what a claim states.
type Place struct {
	Kind PlaceKind `json:"kind"`
	// UserType is that of the users who can.
	UserType string `json:"userType,omitempty"`
	// FlowID, Flow (its handle), Node and Path (in the flow) are those of a node.
	FlowID string `json:"flowId,omitempty"`
	Flow   string `json:"flow,omitempty"`
	Node   string `json:"node,omitempty"`
	Path   string `json:"path,omitempty"`
	// Scope is that of ByScope, and Provider the handle of the identity provider.
	Scope    string `json:"scope,omitempty"`
	Provider string `json:"provider,omitempty"`
}
