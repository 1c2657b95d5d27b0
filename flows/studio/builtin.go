package studio

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/diff"
	"github.com/postern-id/postern/schemas"
)

// Builtin is the built-in flow of this release with the type and handle of a flow, and how its meaning differs.
type Builtin struct {
	// Text is in YAML; "" if there is no such built-in flow.
	Text        string       `json:"text"`
	Differences []Difference `json:"differences"`
}

// CompareBuiltin compares a flow with the built-in flow of this release.
func (s *Studio) CompareBuiltin(source Source) (Builtin, error) {
	none := Builtin{Differences: []Difference{}}
	document, _ := s.parse(source)
	if document == nil {
		return none, nil
	}
	text, err := flows.ReadFile(strings.ReplaceAll(document.TextAt("handle"), "-", "_") + ".yaml")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	shipped, _, problems := schemas.ParseFlow(text, true)
	if len(problems) > 0 || string(shipped.FlowType) != document.TextAt("flowType") || shipped.Handle != document.TextAt("handle") {
		return none, nil
	}
	before, err := s.graph(source)
	if err != nil {
		return none, fmt.Errorf("the flow: %w", err)
	}
	after, err := s.graph(Source{Text: string(text)})
	if err != nil {
		return none, fmt.Errorf("the built-in flow: %w", err)
	}
	found := Builtin{Text: string(text), Differences: []Difference{}}
	for _, c := range diff.Compare(before, after) {
		found.Differences = append(found.Differences, Difference{c, c.String()})
	}
	return found, nil
}
