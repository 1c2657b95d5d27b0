package findings

import (
	"encoding/json"
	"io"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/rules"
	"github.com/postern-id/postern/schemas"
)

// report is the JSON report on files.
type report struct {
	Files    int       `json:"files"`
	Refused  int       `json:"refused"` // files with an error
	Flows    []flow    `json:"flows"`
	Findings []finding `json:"findings"`
}

// flow is the JSON report on a valid flow. Guarantees contains what is proven of it: {} if
// nothing is.
type flow struct {
	File       string             `json:"file"`
	Handle     string             `json:"handle"`
	Nodes      int                `json:"nodes"`
	Guarantees schemas.Guarantees `json:"guarantees"`
	// Sessions contains the demands of its nodes of earlier sign-ins.
	Sessions []engine.SessionDemand `json:"sessions,omitempty"`
}

// finding is the JSON report on a finding.
type finding struct {
	File     string `json:"file"`
	Severity string `json:"severity"`
	schemas.Problem
	// Help is the remedy for findings of the rule.
	Help string `json:"help,omitempty"`
}

// WriteJSON writes the results as one JSON object: the number of files, the number of rejected
// files, the proven guarantees of each valid flow, and every finding.
func WriteJSON(w io.Writer, list []File) error {
	r := report{Files: len(list), Flows: []flow{}, Findings: []finding{}}
	for i := range list {
		if list[i].Refused() {
			r.Refused++
		}
		if f := &list[i]; f.Runs() {
			r.Flows = append(r.Flows, flow{f.Name, f.Handle, f.Nodes, f.Guarantees, f.Sessions})
		}
		for _, p := range list[i].Findings {
			f := finding{File: list[i].Name, Severity: severity(p), Problem: p}
			if rule, err := rules.Find(p.Rule); err == nil {
				f.Help = rule.Fix
			}
			r.Findings = append(r.Findings, f)
		}
	}
	return encode(w, r)
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
