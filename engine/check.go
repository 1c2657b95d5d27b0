package engine

import (
	"encoding/json"
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
	return CheckUsing(text, yaml, kinds, schemas.SubflowsOf{})
}

// CheckUsing is Check for a definition that may use the sub-flows of the shelf. Each
// that it uses is checked too, and becomes one of the flow's Parts.
func CheckUsing(text []byte, yaml bool, kinds Kinds, subflows schemas.Subflows) (*schemas.Flow, *Graph, []schemas.Problem) {
	flow, doc, misshapen := schemas.ParseFlow(text, yaml)
	for i := range misshapen {
		misshapen[i].Rule = orRule(misshapen[i].Rule, RuleShape)
	}
	if len(misshapen) == 0 {
		flow.Uses, flow.UsedBy = nil, nil // it is for the store to say
		c := newCompiler(flow, kinds)
		c.find(subflows)
		g, problems := c.result()
		if len(flow.Parts) == 0 {
			flow.Parts = nil
		}
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
	problems := append(misshapen, otherFindings(misshapen, &rough, kinds, subflows)...)
	return nil, nil, doc.Locate(problems)
}

// otherFindings are the findings about a misshapen definition that do not follow from
// its shape: none at or about a node whose shape is wrong, and none of the rules
// that say how nodes hang together.
func otherFindings(misshapen []schemas.Problem, flow *schemas.Flow, kinds Kinds, subflows schemas.Subflows) []schemas.Problem {
	c := newCompiler(flow, kinds)
	c.find(subflows)
	for i := range flow.Nodes {
		c.misshapen[i] = slices.ContainsFunc(misshapen, func(p schemas.Problem) bool { return aboutNode(p, i) })
	}
	c.compile()
	return slices.DeleteFunc(c.problems, func(p schemas.Problem) bool {
		if slices.Contains([]string{RuleReach, RuleEnd, RuleWaive, RuleID, RuleGuarantee}, p.Rule) {
			return true
		}
		for i, is := range c.misshapen {
			if is && aboutNode(p, i) {
				return true
			}
		}
		return false
	})
}

// aboutNode reports whether a finding is about node i or a part of it.
func aboutNode(p schemas.Problem, i int) bool {
	return p.Path == nodePath(i, "") || strings.HasPrefix(p.Path, nodePath(i, "")+".")
}
