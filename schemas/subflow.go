package schemas

import (
	"fmt"
	"maps"
	"slices"
)

// Requires contains the assumptions of a sub-flow: facts about the run, and the types of inputs
// that have been collected.
type Requires struct {
	Facts  []string             `json:"facts,omitempty"`
	Inputs map[string]InputType `json:"inputs,omitempty"`
}

// IsZero reports whether there are no assumptions.
func (r Requires) IsZero() bool { return len(r.Facts) == 0 && len(r.Inputs) == 0 }

// Use is a sub-flow that a stored flow uses, and the version of it that was active when the flow
// was stored. The flow stays on that version.
type Use struct {
	Handle  string `json:"handle"`
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// SubflowUser is a flow whose active version uses a sub-flow, with the version of the sub-flow that
// it uses.
type SubflowUser struct {
	FlowType FlowType `json:"flowType"`
	Handle   string   `json:"handle"`
	ID       string   `json:"id"`
	Version  int      `json:"version"`
}

// Subflows finds the sub-flows that a definition may use.
type Subflows interface {
	// Subflow returns the sub-flow of the handle, nil if there is none, or the problems of its
	// form. If it uses other sub-flows, it has either all its Parts or none; without Parts, these
	// sub-flows are found here too. Callers do not change it.
	Subflow(handle string) (*Flow, []Problem)
	// Handles lists the existing sub-flows, for suggestions.
	Handles() []string
}

// SubflowsOf finds the sub-flows of a stored flow in its Parts.
type SubflowsOf map[string]*Flow

// Subflow implements Subflows.
func (s SubflowsOf) Subflow(handle string) (*Flow, []Problem) { return s[handle], nil }

// Handles implements Subflows.
func (s SubflowsOf) Handles() []string { return slices.Sorted(maps.Keys(s)) }

// Waivers returns the waivers of the flow and of its sub-flows.
func (f *Flow) Waivers() []Waiver {
	all := slices.Clone(f.Waive)
	for _, handle := range slices.Sorted(maps.Keys(f.Parts)) {
		all = append(all, f.Parts[handle].Waivers()...)
	}
	return all
}

// UsesOf returns the versions of the sub-flows of a stored flow, by handle.
func UsesOf(parts map[string]*Flow) []Use {
	var uses []Use
	for _, handle := range slices.Sorted(maps.Keys(parts)) {
		uses = append(uses, Use{Handle: handle, ID: parts[handle].ID, Version: parts[handle].ActiveVersion})
	}
	return uses
}

// SubflowKind is the kind of node that stands for a sub-flow.
const SubflowKind = "flow"

// SubflowMention is a place at which a flow names a sub-flow.
type SubflowMention struct{ Path, Handle string }

// SubflowMentions lists the places at which the document of a flow names sub-flows. It skips
// malformed values.
func SubflowMentions(d *Document) (list []SubflowMention) {
	for i, item := range d.ItemsAt("nodes") {
		if item.TextAt("use") != SubflowKind {
			continue
		}
		if handle := item.TextAt("with.flow"); handle != "" {
			list = append(list, SubflowMention{fmt.Sprintf("nodes[%d].with.flow", i), handle})
		}
	}
	return list
}

// SubflowHandle returns the handle of a sub-flow's document; ok is false if the document is not a
// sub-flow.
func SubflowHandle(d *Document) (handle string, ok bool) {
	return d.TextAt("handle"), d.TextAt("flowType") == string(Subflow)
}
