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
