package flowtest

import (
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// checkErrorCodes finds expected error codes that no node of the flow reports.
func (f *File) checkErrorCodes(g *engine.Graph) []schemas.Problem {
	known, kinds := append(engine.CommonCodes(), none), nodes.Kinds(nodes.Deps{})
	for _, n := range g.Nodes() {
		known = append(known, kinds[n.Kind].Codes...)
	}
	return slices.Concat(
		f.checkReferences("no node of the flow reports the error", known, "scenarios.steps.expect.error", "scenarios.steps.expect.refused"),
		f.checkReferences("no authorization request is rejected with", []string{schemas.RefusedAccessDenied, schemas.RefusedConsentRequired, schemas.RefusedLoginRequired, schemas.RefusedClass},
			"scenarios.steps.expect.refusal"))
}

// checkAttributes finds attributes of the users that the user types do not have. Without types it
// warns about names that resemble standard claims, unless the flow uses them too.
func (f *File) checkAttributes(g *engine.Graph, types []schemas.UserType) (problems []schemas.Problem) {
	used := attributesOf(g)
	for _, user := range slices.Sorted(maps.Keys(f.Users)) {
		at := schemas.MemberPath("users", user) + ".attributes"
		for _, attribute := range slices.Sorted(maps.Keys(f.Users[user].Attributes)) {
			if len(types) == 0 && slices.Contains(used, attribute) {
				continue
			}
			if p := schemas.CheckAttribute(schemas.MemberPath(at, attribute), attribute, types); p != nil {
				problems = append(problems, p.OnName())
			}
		}
	}
	return problems
}

// attributesOf returns the attributes that the nodes of a flow set or ask for.
func attributesOf(g *engine.Graph) (names []string) {
	uses := g.AttributeUses()
	for _, c := range uses.Creations {
		names = slices.AppendSeq(names, maps.Keys(c.Inputs))
	}
	for _, q := range uses.Questions {
		names = append(names, q.Attributes...)
	}
	return names
}
