package schemas

// CheckedSystem contains the data on which the check of a flow depends, in addition to the flow.
type CheckedSystem struct {
	// Subflows contains the active versions of the sub-flows, and Parts the older versions that these
	// use, by the id and version in their member uses.
	Subflows []Flow `json:"subflows"`
	Parts    []Flow `json:"parts"`
	// Targets lists the services that flows can call.
	Targets []string `json:"targets"`
	// SendsMail states that the server can send mail.
	SendsMail bool `json:"sendsMail"`
}
