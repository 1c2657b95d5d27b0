package lsp

import (
	"context"
	"regexp"
	"strings"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/syntax"
	"github.com/postern-id/postern/schemas"
)

// definition finds the node of a target, the file of a sub-flow, and from scenarios the node of a step
// and the flow.
func (s *server) definition(_ context.Context, p positionParams) (*Location, error) {
	o, err := s.open(p.TextDocument.URI)
	if err != nil || o.tree == nil {
		return nil, err
	}
	offset := o.text.offset(p.Position)
	x := indexOf(o)
	u, found := x.useAt(offset)
	switch {
	case found && flows.IsScenarios(o.path):
		return s.stepDefinition(o, u.name), nil
	case found:
		return o.locate(u.name), nil
	}
	path := o.tree.At(offset)
	last := path[len(path)-1]
	if last.Key == nil || last.Key.Value != "flow" {
		return nil, nil
	}
	target := (*opened)(nil)
	if flows.IsScenarios(o.path) && len(path) == 2 {
		target = s.flowOf(o)
	} else if len(path) > 2 && path[len(path)-2].Key != nil && path[len(path)-2].Key.Value == "with" {
		target = subflow(append(s.neighbors(o), o), last.Value)
	}
	if target == nil {
		return nil, nil
	}
	return &Location{URI: target.uri}, nil
}

// stepDefinition finds the node of a step, which can be in a sub-flow: second.ask.
func (s *server) stepDefinition(o *opened, name string) *Location {
	flow, files := s.flowOf(o), s.neighbors(o)
	for flow != nil {
		id, inner, deeper := strings.Cut(name, ".")
		if !deeper {
			return flow.locate(name)
		}
		handle := ""
		x := indexOf(flow)
		for _, n := range x.nodes {
			if n.id == id {
				handle = n.subflow
			}
		}
		flow, name = subflow(files, handle), inner
	}
	return nil
}

// locate returns the place that defines a name in a flow; nil if there is none.
func (o *opened) locate(name string) *Location {
	x := indexOf(o)
	u, found := x.find(name)
	if !found {
		return nil
	}
	return &Location{o.uri, o.text.rangeOf(u.Span)}
}

// named is the node at a position: its name in the flow that defines it, and the part of the text.
type named struct {
	flow *opened
	name string
	span syntax.Span
}

// namedAt returns the node of the flow that a position names; nil for no node, and for the node of a
// sub-flow.
func (s *server) namedAt(o *opened, p Position) *named {
	offset := o.text.offset(p)
	x := indexOf(o)
	u, found := x.useAt(offset)
	if !found {
		return nil
	}
	n := &named{o, u.name, u.Span}
	if flows.IsScenarios(o.path) {
		n.flow = s.flowOf(o)
		n.name, _, _ = strings.Cut(u.name, ".")
		n.span.End = u.Start + len(n.name)
	}
	if n.flow == nil || !n.span.Contains(offset) {
		return nil
	}
	defines := indexOf(n.flow)
	for _, d := range defines.nodes {
		if d.id == n.name && d.id != "" {
			return n
		}
	}
	return nil
}

// references finds the uses of a node in its flow, and in scenarios.
func (s *server) references(_ context.Context, p referenceParams) ([]Location, error) {
	list := []Location{}
	o, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	n := s.namedAt(o, p.Position)
	if n == nil {
		return list, nil
	}
	s.eachUse(n, func(in *opened, u use) {
		if !u.defines || p.Context.IncludeDeclaration {
			list = append(list, Location{in.uri, in.text.rangeOf(u.Span)})
		}
	})
	return list, nil
}

func (s *server) eachUse(n *named, visit func(in *opened, u use)) {
	files := append([]*opened{n.flow}, s.neighbors(n.flow)...)
	for _, f := range files {
		for _, u := range s.usesOf(f, n.flow, n.name, files) {
			visit(f, u)
		}
	}
}

func (s *server) prepareRename(_ context.Context, p positionParams) (object, error) {
	o, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	n := s.namedAt(o, p.Position)
	if n == nil {
		return nil, failed("only the id of a node of the flow can be renamed here")
	}
	return object{"range": o.text.rangeOf(n.span), "placeholder": n.name}, nil
}

// nodeID matches the ids that the schema of flows permits.
var nodeID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// rename renames a node everywhere: in its flow, and in the scenarios of the flows that contain it.
func (s *server) rename(_ context.Context, p renameParams) (*workspaceEdit, error) {
	o, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	n := s.namedAt(o, p.Position)
	if n == nil {
		return nil, failed("only the id of a node of the flow can be renamed here")
	}
	x := indexOf(n.flow)
	switch _, taken := x.find(p.NewName); {
	case !nodeID.MatchString(p.NewName):
		return nil, failed("%q is not a node id; expected a letter, then up to 63 letters, digits, - and _", p.NewName)
	case p.NewName == schemas.End:
		return nil, failed("%q is reserved: it completes the run; choose another id", p.NewName)
	case taken && p.NewName != n.name:
		return nil, failed("the flow already defines %q; choose another id", p.NewName)
	}
	edit := &workspaceEdit{Changes: map[string][]TextEdit{}}
	s.eachUse(n, func(in *opened, u use) {
		edit.Changes[in.uri] = append(edit.Changes[in.uri], TextEdit{in.text.rangeOf(u.Span), p.NewName})
	})
	for _, list := range edit.Changes {
		sortEdits(list)
	}
	return edit, nil
}
