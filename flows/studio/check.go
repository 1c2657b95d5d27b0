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
	source   Source
	document *schemas.Document // nil if it cannot be parsed
	graph    *engine.Graph     // nil if the flow has errors
	result   CheckResult
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
	var problems []schemas.Problem
	if c.document, _ = s.parse(source); c.document == nil {
		_, _, problems = engine.CheckUsing([]byte(source.Text), !source.JSON, s.kinds, s.subflows)
	} else {
		problems = schemas.CheckFlowDocument(c.document, func(stored *schemas.Document) (found []schemas.Problem) {
			_, c.graph, found = engine.CheckDocument(stored, s.kinds, s.subflows)
			return found
		})
	}
	c.result = CheckResult{c.graph != nil, append([]schemas.Problem{}, problems...)}
	s.last = c
	return c
}

// parse parses a text. It reuses what it has parsed of the last one.
func (s *Studio) parse(source Source) (*schemas.Document, []schemas.Problem) {
	if source.JSON {
		return schemas.ParseJSON([]byte(source.Text))
	}
	return s.parser.ParseYAML([]byte(source.Text))
}

// parsed returns what a text, in YAML or JSON, is parsed as; nil if it cannot be parsed.
func (s *Studio) parsed(text string) *schemas.Document {
	if s.last.source.Text == text {
		return s.last.document
	}
	document, _ := s.parser.ParseYAML([]byte(text))
	return document
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
