package flows_test

import (
	"encoding/json"

	"github.com/postern-id/postern/schemas"
)

// flat returns a flow without sub-flows: their nodes replace the node that used them. It shares
// no code with the engine. A node that names no sub-flow stays.
func flat(f *schemas.Flow) *schemas.Flow {
	whole := *f
	whole.Nodes, whole.Waive, whole.Parts = nil, nil, nil
	lay(&whole, f, "", map[string]string{schemas.End: schemas.End})
	return &whole
}

// lay adds the nodes of a flow or sub-flow, with a prefix to their IDs.
func lay(whole, f *schemas.Flow, prefix string, exits map[string]string) {
	to := func(target string) string {
		if out, is := exits[target]; is {
			return out
		}
		return entryOf(f, prefix, target)
	}
	for _, w := range f.Waive {
		w.Node = prefix + w.Node
		whole.Waive = append(whole.Waive, w)
	}
	for _, n := range f.Nodes {
		if part := partOf(f, n); part != nil {
			within := map[string]string{}
			for _, name := range leaving(part) {
				within[name] = to(pathsTo(n, name))
			}
			lay(whole, part, prefix+n.ID+"-", within)
			continue
		}
		n.ID = prefix + n.ID
		next := schemas.Next{}
		if n.Next.To != "" {
			next.To = to(n.Next.To)
		}
		for outcome, target := range n.Next.By {
			if next.By == nil {
				next.By = map[string]string{}
			}
			next.By[outcome] = to(target)
		}
		n.Next = next
		whole.Nodes = append(whole.Nodes, n)
	}
}

// pathsTo returns the target of an outcome of a node, "" if there is none.
func pathsTo(n schemas.Node, outcome string) string {
	if n.Next.By != nil {
		return n.Next.By[outcome]
	}
	return n.Next.To
}

// partOf returns the sub-flow that a node uses, nil if it uses none.
func partOf(f *schemas.Flow, n schemas.Node) *schemas.Flow {
	var with struct{ Flow string }
	if n.Use != "flow" || json.Unmarshal(n.With, &with) != nil {
		return nil
	}
	return f.Parts[with.Flow]
}

// leaving returns the names of the exits of a sub-flow.
func leaving(f *schemas.Flow) []string {
	if len(f.Outcomes) == 0 {
		return []string{schemas.End}
	}
	var names []string
	for name := range f.Outcomes {
		names = append(names, name)
	}
	return names
}

// entryOf returns the node at which a run arrives for a target.
func entryOf(f *schemas.Flow, prefix, target string) string {
	for _, n := range f.Nodes {
		if part := partOf(f, n); n.ID == target && part != nil {
			return entryOf(part, prefix+target+"-", part.Nodes[0].ID)
		}
	}
	if target == "" {
		return ""
	}
	return prefix + target
}
