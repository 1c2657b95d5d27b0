package schemas

import (
	"encoding/json"
	"fmt"
	"sort"
	"time"
)

// FlowType says what a run of a flow is for.
type FlowType string

// The flow types.
const (
	Authentication FlowType = "AUTHENTICATION"
	Registration   FlowType = "REGISTRATION"
	// Subflow is a part that other flows are made of. It is never run by itself.
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

// Flow is the definition of a flow: a graph whose first node is the entry.
// Guarantees are what its author wants proven of it. ActiveVersion and the times
// belong to the stored flow; a file has none.
//
// Requires and Outcomes are a sub-flow's: what it relies on, and by what names it
// is left, each with a sentence about it. Uses are the sub-flows that a stored
// flow uses, and Parts their definitions by handle: what a flow means is known
// from these alone. UsedBy are the flows that use a stored sub-flow.
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

// Node is one step of a flow. Use names its kind, With is that kind's own
// configuration, Next says where each outcome leads.
type Node struct {
	ID   string          `json:"id"`
	Use  string          `json:"use"`
	With json.RawMessage `json:"with,omitempty"`
	Next Next            `json:"next,omitzero"`
}

// Next is where a node leads: one target for every outcome that has no default
// of its own, or a target for each outcome. Its JSON is a string or an object.
type Next struct {
	To string            // the single target; empty when By is used
	By map[string]string // outcome → target
}

// IsZero reports whether nothing is wired.
func (n Next) IsZero() bool { return n.To == "" && len(n.By) == 0 }

// Outcomes returns the outcome names wired by name, sorted.
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
	if err := json.Unmarshal(data, &n.To); err == nil {
		return nil
	}
	if err := json.Unmarshal(data, &n.By); err != nil {
		return fmt.Errorf("expected a node id or an object {outcome: node id}, got %s", data)
	}
	return nil
}
