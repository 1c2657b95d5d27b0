package nodes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// begin is the outcome that leads to the first node of a sub-flow.
const begin = "begin"

func flowKind(d Deps) declared {
	return configured[subflow](d, engine.Kind{
		Name: schemas.SubflowKind,
		Doc: "Runs the nodes of a sub-flow, a part that flows share. A sub-flow has a definition of its own with the " +
			"flowType SUBFLOW. Its nodes get ids such as second.ask here. What the sub-flow requires must be certain.",
		Outcomes: []engine.Outcome{engine.On("<outcome>", engine.NoEffect(), engine.Outcome{Doc: "the sub-flow ends with its outcome of that name, or with end if it declares none"})},
		Inlines:  subflowNamed,
	}, errorCodes{},
		row{"the outcomes of the sub-flow", "what the nodes of the sub-flow establish"})
}

// subflow is the node before the first node of a sub-flow. It does nothing.
type subflow struct {
	node
	Flow string `json:"flow" min:"1" max:"64" pattern:"^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$" expect:"the handle of a sub-flow" doc:"The handle of the sub-flow. A stored flow keeps the version that is active when the flow is stored."`
}

// subflowNamed returns the handle in a configuration, "" if it is invalid.
func subflowNamed(with json.RawMessage) string {
	var x subflow
	if json.Unmarshal(with, &x) != nil {
		return ""
	}
	return x.Flow
}

// prepare declares what the sub-flow requires. The flow collects the required inputs.
func (x *subflow) prepare(c *engine.Config) []schemas.Problem {
	x.outcomes = []engine.Outcome{engine.On(begin, engine.NoEffect(), engine.Outcome{Doc: "the run continues at the first node of the sub-flow"})}
	x.collects = c.Subflow.Requires.Inputs
	for _, fact := range engine.Required(c.Subflow) {
		x.needs = append(x.needs, engine.Need{
			AnyOf: []engine.Fact{fact}, Path: "with.flow",
			Why: fmt.Sprintf("the sub-flow %q requires it", c.Subflow.Handle),
			Fix: "establish it on every path to this node",
		})
	}
	return nil
}

// Execute implements engine.Executor.
func (x *subflow) Execute(context.Context, *engine.Visit) (*engine.Decision, error) {
	return engine.LeaveBy(begin), nil
}
