package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Check reads a definition, in YAML or JSON, and reports everything that is
// wrong with it, each finding with its rule and its place in the text. The flow
// and the graph are nil if anything is more than a warning.
//
// A definition whose shape is wrong is compiled as far as it can be understood,
// so that an author who misspelt a member learns in the same go that somebody
// could get in unauthenticated.
func Check(text []byte, yaml bool, kinds Kinds) (*schemas.Flow, *Graph, []schemas.Problem) {
	flow, doc, misshapen := schemas.ParseFlow(text, yaml)
	for i := range misshapen {
		misshapen[i].Rule = orRule(misshapen[i].Rule, RuleShape)
	}
	if len(misshapen) == 0 {
		g, problems := Compile(flow, kinds)
		if g == nil {
			flow = nil
		}
		return flow, g, doc.Locate(problems)
	}
	if doc == nil {
		return nil, nil, misshapen
	}
	var rough schemas.Flow
	if err := json.Unmarshal(doc.JSON(), &rough); err != nil || len(rough.Nodes) == 0 {
		return nil, nil, misshapen
	}
	problems := append(misshapen, besides(misshapen, &rough, kinds)...)
	return nil, nil, doc.Locate(problems)
}

// besides are the findings about a misshapen definition that do not follow from
// its shape: none at or about a node whose shape is wrong, and none of the rules
// that say how nodes hang together.
func besides(misshapen []schemas.Problem, flow *schemas.Flow, kinds Kinds) []schemas.Problem {
	c := newCompiler(flow, kinds)
	for i := range flow.Nodes {
		c.misshapen[i] = slices.ContainsFunc(misshapen, func(p schemas.Problem) bool {
			return p.Path == at(i, "") || strings.HasPrefix(p.Path, at(i, "")+".")
		})
	}
	c.compile()
	return slices.DeleteFunc(c.problems, func(p schemas.Problem) bool {
		if slices.Contains([]string{RuleReach, RuleEnd, RuleWaive, RuleID}, p.Rule) {
			return true
		}
		for i, is := range c.misshapen {
			if is && (p.Path == at(i, "") || strings.HasPrefix(p.Path, fmt.Sprintf("nodes[%d].", i))) {
				return true
			}
		}
		return false
	})
}
