package findings

import (
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/schemas"
)

// Handles notes which file has the flow of a type and handle: a server has one flow of
// each, and a flow names a sub-flow by its handle.
type Handles map[schemas.FlowType]map[string]string

// Register notes the flow of a file, and returns the problem that another file has one of
// the same type and handle, or nil.
func (h Handles) Register(file string, t schemas.FlowType, handle string) []schemas.Problem {
	if other, taken := h[t][handle]; taken {
		return []schemas.Problem{{Rule: engine.RuleShape, Path: "handle", Message: fmt.Sprintf(
			"the %s flow in %s has the handle %q too: choose another for one of them", t, other, handle)}}
	}
	if h[t] == nil {
		h[t] = map[string]string{}
	}
	h[t][handle] = file
	return nil
}

// ReportHandleConflicts adds to what was found in files that several of them have a flow of one
// type and handle, where within says the same of both. Flows that may not run anyhow
// are passed over.
func ReportHandleConflicts(list []File, within func(file string) string) {
	taken := map[string]Handles{}
	for i := range list {
		f := &list[i]
		if f.Handle == "" {
			continue
		}
		where := within(f.Name)
		if taken[where] == nil {
			taken[where] = Handles{}
		}
		if clash := taken[where].Register(f.Name, f.FlowType, f.Handle); clash != nil {
			f.Findings = f.Locate(append(f.Findings, clash...))
		}
	}
}

// Locate fills in where problems of the file stand, those that do not say it yet, and
// returns them in the order of their places.
func (s Source) Locate(problems []schemas.Problem) []schemas.Problem {
	read := schemas.ParseYAML
	if s.JSON || flows.IsJSON(s.Name) {
		read = schemas.ParseJSON
	}
	if d, _ := read(s.Text); d != nil {
		return d.Locate(problems)
	}
	return problems
}
