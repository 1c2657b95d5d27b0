package schemas

import (
	"encoding/json"
	"fmt"
	"sort"
	"time"
)

// FlowType is the purpose of the runs of a flow.
type FlowType string

// The flow types.
const (
	Authentication FlowType = "AUTHENTICATION"
	Registration   FlowType = "REGISTRATION"
	// Subflow is a flow that runs only as a part of other flows.
	Subflow FlowType = "SUBFLOW"
)

// FlowTypes lists the flow types.
func FlowTypes() []FlowType { return []FlowType{Authentication, Registration, Subflow} }

// FlowTypeNames lists the flow types as they are written.
func FlowTypeNames() (names []string) {
	for _, t := range FlowTypes() {
		names = append(names, string(t))
	}
	return names
}

// End is the reserved node id that completes a run.
const End = "end"

// Flow is the definition of a flow: a graph whose first node is the entry. Guarantees are the
// properties that the author wants to be proven. ActiveVersion and the times belong to the stored
// flow; a file has none.
//
// A sub-flow has Requires, its assumptions, and Outcomes, with a sentence about each outcome. Uses
// are the sub-flows that a stored flow uses, and Parts their definitions by handle: a flow with its
// Parts is complete. UsedBy are the flows that use a stored sub-flow.
type Flow struct {
	ID            string            `json:"id,omitempty"`
	Handle        string            `json:"handle"`
	Name          string            `json:"name"`
	FlowType      FlowType          `json:"flowType"`
	Guarantees    Guarantees        `json:"guarantees,omitzero"`
	Requires      Requires          `json:"requires,omitzero"`
	Outcomes      map[string]string `json:"outcomes,omitempty"`
	Waive         []Waiver          `json:"waive,omitempty"`
	Nodes         []Node            `json:"nodes"`
	Uses          []Use             `json:"uses,omitempty"`
	UsedBy        []SubflowUser     `json:"usedBy,omitempty"`
	Parts         map[string]*Flow  `json:"-"`
	ActiveVersion int               `json:"activeVersion,omitempty"`
	CreatedAt     *time.Time        `json:"createdAt,omitempty"`
	UpdatedAt     *time.Time        `json:"updatedAt,omitempty"`
	IsReadOnly    bool              `json:"isReadOnly,omitempty"`
}

// Waiver accepts one finding of one rule at one node, with the reason. Only
// the rules "takeover", "session" and "chain" can be waived; the finding stays visible as a warning.
type Waiver struct {
	Rule   string `json:"rule"`
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// Node is one node of a flow. Use names its kind, With is its configuration, and Next maps each
// outcome to its target.
type Node struct {
	ID   string          `json:"id"`
	Use  string          `json:"use"`
	With json.RawMessage `json:"with,omitempty"`
	Next Next            `json:"next,omitzero"`
}

// Next contains the targets of a node: one target for every outcome without a default, or a target
// for each outcome. Its JSON is a string or an object.
type Next struct {
	To string            // the single target; empty when By is used
	By map[string]string // outcome → target
}

// IsZero reports whether there are no targets.
func (n Next) IsZero() bool { return n.To == "" && len(n.By) == 0 }

// Outcomes returns the names of the outcomes in By, sorted.
func (n Next) Outcomes() []string {
	names := make([]string, 0, len(n.By))
	for name := range n.By {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// MarshalJSON writes the form the author used.
func (n Next) MarshalJSON() ([]byte, error) {
	if n.By != nil {
		return json.Marshal(n.By)
	}
	return json.Marshal(n.To)
}

// UnmarshalJSON reads a node id or an object of outcome → node id.
func (n *Next) UnmarshalJSON(data []byte) error {
	*n = Next{}
	into := any(&n.To)
	if len(data) > 0 && data[0] == '{' {
		into = &n.By
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("expected a node id or an object {outcome: node id}, got %s", data)
	}
	return nil
}
