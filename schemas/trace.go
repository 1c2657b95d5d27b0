package schemas

import "strings"

// Trace is a run that breaks a rule: the nodes it passes, from the entry to
// where it is broken. There is no shorter one.
type Trace []TraceStep

// TraceStep is one node of a Trace and how the run leaves it.
type TraceStep struct {
	Node string `json:"node"`
	// Outcome is the outcome with which the run leaves the node; empty at the last step.
	Outcome string `json:"outcome,omitempty"`
	// Note says what the run gained or lost here that bears on the rule, if
	// anything.
	Note string `json:"note,omitempty"`
	// Path is that of the part of the definition that leads on, Line where it
	// stands, counted from 1; 0 when the text has no lines.
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// String writes the way on one line: "who —usernameless→ key —failure→ done".
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
			t[i].Line, _ = d.place(Problem{Path: t[i].Path})
		}
	}
}
