package lsp

import (
	"path/filepath"
	"strings"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/syntax"
)

// use is a place that names a node, or an outcome of a sub-flow.
type use struct {
	syntax.Span        // without quotes
	name        string // in a scenario file it can name a node of a sub-flow: second.ask
	defines     bool
}

// node is a node of a flow.
type node struct {
	id, kind, subflow string
	item, name        *syntax.Node // name is nil if the node has no id
}

// index is what a file defines and uses.
type index struct {
	nodes []node
	uses  []use
}

// indexOf returns the index of a flow or scenario file; an empty one if it cannot be parsed.
func indexOf(o *opened) (x index) {
	if o.tree == nil {
		return x
	}
	if flows.IsScenarios(o.path) {
		x.addSteps(o.tree.Root)
		return x
	}
	root := o.tree.Root
	if list := root.Entry("nodes"); list != nil {
		for _, item := range list.Items {
			x.addNode(item)
		}
	}
	if list := root.Entry("waive"); list != nil {
		for _, item := range list.Items {
			x.add(item.Entry("node"), false)
		}
	}
	if outcomes := root.Entry("outcomes"); outcomes != nil {
		for _, e := range outcomes.Entries {
			x.add(e.Key, true)
		}
	}
	return x
}

func (x *index) addNode(item *syntax.Node) {
	n := node{item: item, name: item.Entry("id")}
	if n.name != nil {
		n.id = n.name.Value
	}
	if e := item.Entry("use"); e != nil {
		n.kind = e.Value
	}
	if e := item.Entry("with").Entry("flow"); e != nil && n.kind == "flow" {
		n.subflow = e.Value
	}
	x.nodes = append(x.nodes, n)
	x.add(n.name, true)
	switch next := item.Entry("next"); {
	case next == nil:
	case next.Kind == syntax.Scalar:
		x.add(next, false)
	default:
		for _, e := range next.Entries {
			x.add(e, false)
		}
	}
}

// addSteps adds the nodes that the steps of scenarios expect.
func (x *index) addSteps(n *syntax.Node) {
	for _, e := range n.Entries {
		if e.Key.Value == "step" && n.Key != nil && n.Key.Value == "expect" {
			x.add(e, false)
		}
		x.addSteps(e)
	}
	for _, item := range n.Items {
		x.addSteps(item)
	}
}

func (x *index) add(n *syntax.Node, defines bool) {
	if n == nil || n.Kind != syntax.Scalar || n.Style == syntax.Block || n.Value == "" {
		return
	}
	span := n.Span
	if n.Style != syntax.Plain {
		span = syntax.Span{Start: span.Start + 1, End: span.End - 1}
	}
	x.uses = append(x.uses, use{span, n.Value, defines})
}

// useAt returns the use at an offset.
func (x *index) useAt(offset int) (use, bool) {
	for _, u := range x.uses {
		if u.Contains(offset) {
			return u, true
		}
	}
	return use{}, false
}

// find returns the place that defines a name.
func (x *index) find(name string) (use, bool) {
	for _, u := range x.uses {
		if u.defines && u.name == name {
			return u, true
		}
	}
	return use{}, false
}

// flowOf returns the flow that a scenario file tests; nil if it cannot be read.
func (s *server) flowOf(o *opened) *opened {
	name := ""
	if o.tree != nil && o.tree.Root.Entry("flow") != nil {
		name = o.tree.Root.Entry("flow").Value
	} else {
		name, _ = flows.FlowOf(o.files, o.path)
	}
	if name == "" {
		return nil
	}
	return s.other(o.files, filepath.Join(filepath.Dir(o.path), name))
}

// neighbors returns the files in the folder of a file and the open ones, except itself.
func (s *server) neighbors(o *opened) (list []*opened) {
	paths := map[string]bool{}
	entries, _ := o.files.ReadDir(filepath.Dir(o.path)) // an unreadable folder contains none
	for _, e := range entries {
		if !e.IsDir() {
			paths[filepath.Join(filepath.Dir(o.path), e.Name())] = true
		}
	}
	for path := range o.files {
		paths[path] = true
	}
	delete(paths, o.path)
	for path := range paths {
		if !flows.IsFlow(path) && !flows.IsScenarios(path) {
			continue
		}
		if f := s.other(o.files, path); f != nil {
			list = append(list, f)
		}
	}
	return list
}

// subflow returns the flow of a handle among files.
func subflow(files []*opened, handle string) *opened {
	for _, f := range files {
		if f.tree == nil || flows.IsScenarios(f.path) {
			continue
		}
		root := f.tree.Root
		if h, t := root.Entry("handle"), root.Entry("flowType"); h != nil && t != nil && h.Value == handle && t.Value == "SUBFLOW" {
			return f
		}
	}
	return nil
}

// maxDepth limits how deep sub-flows are followed, which can use each other by mistake.
const maxDepth = 8

// prefixes returns what comes before the id of a node of the target in the runs of a flow: "" in the
// target itself, and second. where the node second uses it.
func prefixes(flow, target *opened, files []*opened, depth int) (list []string) {
	if flow.path == target.path {
		return []string{""}
	}
	if depth == maxDepth {
		return nil
	}
	x := indexOf(flow)
	for _, n := range x.nodes {
		if n.subflow == "" {
			continue
		}
		if inner := subflow(files, n.subflow); inner != nil {
			for _, p := range prefixes(inner, target, files, depth+1) {
				list = append(list, n.id+"."+p)
			}
		}
	}
	return list
}

// usesOf returns the uses of a node of a flow in a file: its own, or those of the steps of scenarios.
func (s *server) usesOf(in, flow *opened, name string, files []*opened) (list []use) {
	x := indexOf(in)
	befores := []string{""}
	if in.path != flow.path {
		tested := (*opened)(nil)
		if flows.IsScenarios(in.path) {
			tested = s.flowOf(in)
		}
		if tested == nil {
			return nil
		}
		befores = prefixes(tested, flow, files, 0)
	}
	for _, u := range x.uses {
		for _, before := range befores {
			rest, found := strings.CutPrefix(u.name, before+name)
			if found && (rest == "" || rest[0] == '.' && in.path != flow.path) {
				start := u.Start + len(before)
				list = append(list, use{syntax.Span{Start: start, End: start + len(name)}, name, u.defines})
				break
			}
		}
	}
	return list
}
