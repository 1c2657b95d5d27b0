package studio

import (
	"errors"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Source is the text of a flow.
type Source struct {
	Text string `json:"text"`
	JSON bool   `json:"json"` // otherwise the text is YAML
}

// CheckResult is the result of a check: what POST /flows/check answers.
type CheckResult struct {
	// Valid means that the flow may run; its findings are warnings.
	Valid    bool              `json:"valid"`
	Findings []schemas.Problem `json:"findings"`
}

// checked is a text that was checked.
type checked struct {
	source Source
	graph  *engine.Graph // nil if the flow has errors
	result CheckResult
}

// Check checks the text of a flow as POST /flows/check does.
func (s *Studio) Check(source Source) (CheckResult, error) {
	return s.check(source).result, nil
}

// check returns the last result if the text is the same: the functions about a flow follow its check.
func (s *Studio) check(source Source) checked {
	if s.last.result.Findings != nil && s.last.source == source {
		return s.last
	}
	c := checked{source: source}
	problems := schemas.CheckFlowText([]byte(source.Text), !source.JSON, func(text []byte, yaml bool) (found []schemas.Problem) {
		_, c.graph, found = engine.CheckUsing(text, yaml, s.kinds, s.subflows)
		return found
	})
	c.result = CheckResult{c.graph != nil, append([]schemas.Problem{}, problems...)}
	s.last = c
	return c
}

// errNotProven is the error of functions about what is proven of a flow.
var errNotProven = errors.New("nothing is proven about a flow with errors; fix its findings first")

// graph returns the graph of a flow without errors.
func (s *Studio) graph(source Source) (*engine.Graph, error) {
	if c := s.check(source); c.graph != nil {
		return c.graph, nil
	}
	return nil, errNotProven
}
