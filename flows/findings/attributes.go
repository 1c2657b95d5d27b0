package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// checkAttributes reports attributes that the configurations of a flow's nodes misspell. A
// sub-flow's own file has the findings about its nodes. Inputs that are named like attributes are not
// checked: they can have other purposes.
func checkAttributes(g *engine.Graph, types []schemas.UserType) (problems []schemas.Problem) {
	uses, own := g.AttributeUses(), ownNodes(g.Flow())
	add := func(node, path, attribute string, of []schemas.UserType) {
		if p := schemas.CheckAttribute(path, attribute, of); p != nil && own[node] {
			p.Rule, p.Node = engine.RuleShape, node
			problems = append(problems, p.OnName())
		}
	}
	for _, c := range uses.Creations {
		if !c.Listed {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(types), func(t schemas.UserType) bool { return t.Name != cmp.Or(c.Type, schemas.PersonName) })
		if c.Type == "" && len(of) > 0 {
			of = types // the application decides
		}
		for _, attribute := range slices.Sorted(maps.Keys(c.Inputs)) {
			add(c.Node, schemas.MemberPath(c.Path+".with.attributes", attribute), attribute, of)
		}
	}
	for _, q := range uses.Questions {
		for i, attribute := range q.Attributes {
			add(q.Node, fmt.Sprintf("%s.with.attributes[%d]", q.Path, i), attribute, types)
		}
	}
	return problems
}

// ownNodes returns the ids of the nodes of the flow itself.
func ownNodes(f *schemas.Flow) map[string]bool {
	own := map[string]bool{}
	for _, n := range f.Nodes {
		own[n.ID] = true
	}
	return own
}
