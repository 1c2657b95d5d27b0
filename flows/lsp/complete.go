package lsp

import (
	"context"
	"fmt"
	"strings"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/findings"
	"github.com/postern-id/postern/flows/studio"
	"github.com/postern-id/postern/flows/syntax"
)

// The kinds of completions.
const (
	memberKind = 5
	valueKind  = 12
)

func (s *server) complete(_ context.Context, p positionParams) (*completionList, error) {
	o, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	found, err := s.completions(o, p.Position)
	if err != nil {
		return nil, err
	}
	at := o.text.offset(p.Position)
	start := max(at-len(found.Typed), 0)
	if !strings.HasSuffix(o.text.content[:at], found.Typed) { // what is typed has quotes or spaces in it
		start = at
	}
	replaced := o.text.rangeOf(syntax.Span{Start: start, End: at})
	list := &completionList{Items: []completionItem{}}
	for i, option := range found.Options {
		item := completionItem{
			Label: option.Label, Kind: valueKind, Detail: option.Detail, Documentation: option.Doc,
			SortText: fmt.Sprintf("%04d", i), FilterText: option.Label, TextEdit: TextEdit{replaced, option.Insert},
		}
		if strings.HasSuffix(option.Insert, ": ") {
			item.Kind = memberKind
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

func (s *server) completions(o *opened, at Position) (*studio.Completions, error) {
	if !flows.IsScenarios(o.path) {
		return s.studioFor(o).Complete(o.cursor(at))
	}
	var flow studio.Source
	if f := s.flowOf(o); f != nil {
		flow = f.source()
	}
	return s.studioFor(o).CompleteScenarios(o.cursor(at), flow)
}

// hover describes the kind, member or node at a position, the facts that hold on every path to the node,
// and at the members at the top of a flow what is proven of it.
func (s *server) hover(_ context.Context, p positionParams) (*hover, error) {
	o, err := s.open(p.TextDocument.URI)
	if err != nil || flows.IsScenarios(o.path) {
		return nil, err
	}
	st := s.studioFor(o)
	d, err := st.Describe(o.cursor(p.Position))
	if err != nil {
		return nil, err
	}
	var parts []string
	if d.Text != "" {
		title := "**" + d.Title + "**"
		if d.Node != "" && d.Node != d.Title {
			title += " (node `" + d.Node + "`)"
		}
		parts = append(parts, title, strings.ReplaceAll(d.Text, "\n", "\n\n"))
	}
	if d.Node != "" && len(d.Facts) > 0 {
		parts = append(parts, "On every path to `"+d.Node+"`:\n\n- "+strings.Join(d.Facts, "\n- "))
	}
	if proven := s.provenAt(o, st, p.Position); proven != "" {
		parts = append(parts, "Proven: "+proven)
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return &hover{Contents: markupContent{"markdown", strings.Join(parts, "\n\n")}}, nil
}

// provenAt returns what is proven of a flow without errors, at its members but not in its nodes.
func (s *server) provenAt(o *opened, st *studio.Studio, p Position) string {
	if o.tree == nil {
		return ""
	}
	path := o.tree.At(o.text.offset(p))
	if len(path) < 2 || path[1].Key == nil || path[1].Key.Value == "nodes" {
		return ""
	}
	proof, err := st.Prove(o.source())
	if err != nil {
		return ""
	}
	f := findings.File{Guarantees: proof.Guarantees, Sessions: proof.Sessions}
	return f.Proven()
}
