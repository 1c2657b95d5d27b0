package findings

import (
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/schemas"
)

// Handles maps the type and handle of flows to their files. A server has one flow for each, and
// a flow refers to a sub-flow by its handle.
type Handles map[[2]string]string

// Register adds the flow of a file. If another file has a flow of the same type and handle it
// returns that problem.
func (h Handles) Register(file string, t schemas.FlowType, handle string) []schemas.Problem {
	key := [2]string{string(t), handle}
	if other, taken := h[key]; taken {
		return []schemas.Problem{{Rule: engine.RuleShape, Path: "handle", Message: fmt.Sprintf(
			"the %s flow in %s also has the handle %q; change one of them", t, other, handle)}}
	}
	h[key] = file
	return nil
}

// ReportHandleConflicts adds findings for files with flows of the same type and handle, if
// within returns the same group for both. Invalid flows are skipped.
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

// Locate adds the positions of problems in the file where they are missing, and returns them in
// the order of their positions.
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
