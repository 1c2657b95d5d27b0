package engine

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Check parses a definition in YAML or JSON and returns all findings, each with its rule and its
// position in the text. The flow and the graph are nil if any finding is an error.
//
// A definition with an invalid shape is compiled as far as possible. An author who misspelled a
// member learns in the same pass that the flow lets users in without authentication.
func Check(text []byte, yaml bool, kinds Kinds) (*schemas.Flow, *Graph, []schemas.Problem) {
	return CheckUsing(text, yaml, kinds, schemas.SubflowsOf{})
}

// CheckUsing is Check for a definition that may use the given sub-flows. Each sub-flow in use is
// checked as well and becomes one of the flow's Parts.
func CheckUsing(text []byte, yaml bool, kinds Kinds, subflows schemas.Subflows) (*schemas.Flow, *Graph, []schemas.Problem) {
	flow, doc, misshapen := schemas.ParseFlow(text, yaml)
	return checkParsed(flow, doc, misshapen, kinds, subflows)
}

// CheckDocument is CheckUsing for a definition that is parsed.
func CheckDocument(doc *schemas.Document, kinds Kinds, subflows schemas.Subflows) (*schemas.Flow, *Graph, []schemas.Problem) {
	flow, misshapen := schemas.ReadFlow(doc)
	return checkParsed(flow, doc.WithoutNulls(), misshapen, kinds, subflows)
}

// checkParsed checks a flow, or what can be read of a misshapen one.
func checkParsed(flow *schemas.Flow, doc *schemas.Document, misshapen []schemas.Problem, kinds Kinds, subflows schemas.Subflows) (*schemas.Flow, *Graph, []schemas.Problem) {
	for i := range misshapen {
		misshapen[i].Rule = cmp.Or(misshapen[i].Rule, ruleOfMember(misshapen[i].Path))
	}
	if len(misshapen) == 0 {
		flow.Uses, flow.UsedBy = nil, nil // only the store sets these
		c := newCompiler(flow, kinds)
		c.setSubflows(subflows)
		c.forAuthor = true
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
	if err := json.Unmarshal(doc.JSON(), &rough); err != nil || len(rough.Nodes) == 0 || len(rough.Nodes) > maxNodes {
		return nil, nil, misshapen
	}
	problems := append(misshapen, otherFindings(misshapen, &rough, kinds, subflows)...)
	return nil, nil, doc.Locate(problems)
}

// waiverRule is the path of the member of a waiver that names a rule.
var waiverRule = regexp.MustCompile(`^waive\[\d+\]\.rule$`)

// ruleOfMember returns the rule that a member breaks if it does not match its schema. The schema
// also rejects waivers of rules that cannot be waived.
func ruleOfMember(path string) string {
	if waiverRule.MatchString(path) {
		return RuleWaive
	}
	return RuleShape
}

// otherFindings returns the findings about a misshapen definition that are independent of its
// shape. It drops findings about misshapen nodes and findings of rules about the graph as a
// whole.
func otherFindings(misshapen []schemas.Problem, flow *schemas.Flow, kinds Kinds, subflows schemas.Subflows) []schemas.Problem {
	c := newCompiler(flow, kinds)
	c.setSubflows(subflows)
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
