package lsp

import (
	"context"
	"slices"
	"strings"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/format"
	"github.com/postern-id/postern/flows/studio"
	"github.com/postern-id/postern/flows/syntax"
)

// The kinds of symbols.
const (
	symbolEvent  = 24 // a node
	symbolMethod = 6  // a scenario
)

// symbols lists the nodes of a flow, or the scenarios of a file.
func (s *server) symbols(_ context.Context, p documentParams) ([]documentSymbol, error) {
	list := []documentSymbol{}
	o, err := s.open(p.TextDocument.URI)
	if err != nil || o.tree == nil {
		return list, err
	}
	add := func(name, item *syntax.Node, detail string, kind int) {
		if name != nil && name.Kind == syntax.Scalar && name.Value != "" {
			list = append(list, documentSymbol{name.Value, detail, kind, o.text.rangeOf(item.Span), o.text.rangeOf(o.text.firstLine(name.Span))})
		}
	}
	if flows.IsScenarios(o.path) {
		if scenarios := o.tree.Root.Entry("scenarios"); scenarios != nil {
			for _, item := range scenarios.Items {
				add(item.Entry("name"), item, "", symbolMethod)
			}
		}
		return list, nil
	}
	x := indexOf(o)
	for _, n := range x.nodes {
		add(n.name, n.item, n.kind, symbolEvent)
	}
	return list, nil
}

// folding lists the values of several lines, and groups of comments.
func (s *server) folding(_ context.Context, p documentParams) ([]foldingRange, error) {
	list := []foldingRange{}
	o, err := s.open(p.TextDocument.URI)
	if err != nil || o.tree == nil {
		return list, err
	}
	var visit func(n *syntax.Node, from int)
	visit = func(n *syntax.Node, from int) {
		if end := o.tree.Line(max(n.End-1, n.Start)); end > from && n != o.tree.Root {
			list = append(list, foldingRange{StartLine: from, EndLine: end})
		}
		for _, e := range n.Entries {
			visit(e, o.tree.Line(e.Key.Start))
		}
		for _, item := range n.Items {
			visit(item, o.tree.Line(item.Start))
		}
	}
	visit(o.tree.Root, 0)
	first, last := -2, -2
	flush := func() {
		if last > first {
			list = append(list, foldingRange{first, last, "comment"})
		}
	}
	for _, c := range o.tree.Comments {
		line := o.tree.Line(c.Start)
		switch {
		case !c.Own:
		case line == last+1:
			last = line
		default:
			flush()
			first, last = line, line
		}
	}
	flush()
	slices.SortFunc(list, func(a, b foldingRange) int { return a.StartLine - b.StartLine })
	return slices.Compact(list), nil
}

// quickFix is the kind of code actions that fix findings.
const quickFix = "quickfix"

// codeActions returns the fixes of the findings in a range.
func (s *server) codeActions(_ context.Context, p codeActionParams) ([]codeAction, error) {
	list := []codeAction{}
	o, err := s.open(p.TextDocument.URI)
	if err != nil || len(p.Context.Only) > 0 && !slices.Contains(p.Context.Only, quickFix) {
		return list, err
	}
	for _, found := range problems(s.checker(o.files), o.files, o.document) {
		d := s.diagnostic(o, found)
		if d.Range.End.Line < p.Range.Start.Line || d.Range.Start.Line > p.Range.End.Line {
			continue
		}
		fix, ok := studio.FixOf(o.text.content, found)
		if !ok {
			continue
		}
		span := syntax.Span{Start: o.text.runeOffset(fix.Line, fix.Column), End: o.text.runeOffset(fix.Line, fix.EndColumn)}
		list = append(list, codeAction{
			Title: fix.Title, Kind: quickFix, Diagnostics: []Diagnostic{d}, IsPreferred: true,
			Edit: workspaceEdit{map[string][]TextEdit{o.uri: {{o.text.rangeOf(span), fix.Insert}}}},
		})
	}
	return list, nil
}

// format formats a file in YAML. A text that cannot be parsed stays as it is: its findings show why.
func (s *server) format(_ context.Context, p documentParams) ([]TextEdit, error) {
	o, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	if flows.IsJSON(o.path) {
		return nil, failed("the file is JSON; expected YAML. Format it with a tool for JSON")
	}
	formatted, err := format.Format([]byte(o.text.content))
	if err != nil {
		return nil, failed("the file cannot be formatted: %v", err)
	}
	return changedLines(&o.text, string(formatted)), nil
}

// changedLines returns an edit of the lines that differ, so that an editor keeps the cursor elsewhere.
func changedLines(before *text, after string) []TextEdit {
	if before.content == after {
		return []TextEdit{}
	}
	old, fresh := strings.SplitAfter(before.content, "\n"), strings.SplitAfter(after, "\n")
	head, tail := 0, 0
	for head < min(len(old), len(fresh)) && old[head] == fresh[head] {
		head++
	}
	for tail < min(len(old), len(fresh))-head && old[len(old)-1-tail] == fresh[len(fresh)-1-tail] {
		tail++
	}
	start := len(strings.Join(old[:head], ""))
	end := start + len(strings.Join(old[head:len(old)-tail], ""))
	return []TextEdit{{before.rangeOf(syntax.Span{Start: start, End: end}), strings.Join(fresh[head:len(fresh)-tail], "")}}
}
