package schemas

// SignInSystem contains the flows and applications for a proof across runs: see package chains.
type SignInSystem struct {
	Applications []SystemApplication
	// Flows are the active versions of the flows that the applications start, by id, with their
	// Parts.
	Flows map[string]*Flow
}

// SystemApplication is an application with the flows that it can start.
type SystemApplication struct {
	ID, Name string
	FlowIDs  []string
	// Account states that tokens of the application can change the account of their user.
	Account bool
	// ManagesUsers states that the application can get tokens of its own that set passwords.
	ManagesUsers bool
}
