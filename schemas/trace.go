package schemas

import "strings"

// Trace is a shortest run that violates a rule: its nodes, from the first one to the violation.
type Trace []TraceStep

// TraceStep is one node of a Trace and how the run leaves it.
type TraceStep struct {
	Node string `json:"node"`
	// Outcome is the outcome with which the run leaves the node; empty at the last step.
	Outcome string `json:"outcome,omitempty"`
	// Note describes what the run gained or lost at the node that concerns the rule, if anything.
	Note string `json:"note,omitempty"`
	// Path is the path of the outcome in the definition, and Line its line, counted from 1; 0 if
	// the text has no lines.
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// String returns the trace on one line: "who —usernameless→ key —failure→ done".
func (t Trace) String() string {
	var b strings.Builder
	for i, step := range t {
		b.WriteString(step.Node)
		if i < len(t)-1 {
			b.WriteString(" —" + step.Outcome + "→ ")
		}
	}
	return b.String()
}

// locate fills in the lines.
func (t Trace) locate(d *Document) {
	for i := range t {
		if t[i].Line == 0 {
			t[i].Line, _ = d.Place(Problem{Path: t[i].Path})
		}
	}
}
