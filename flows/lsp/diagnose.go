package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/findings"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/flows/rules"
	"github.com/postern-id/postern/flows/syntax"
	"github.com/postern-id/postern/schemas"
)

// maxDocument is the length in bytes up to which the server keeps the text of a document: that of the
// longest flow that a server accepts.
const maxDocument = 1 << 20

// checkAll checks the open files and publishes their findings, where these have changed.
func (s *server) checkAll() {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.Log, "postern lsp: the check failed: %v\n%s", p, debug.Stack())
		}
	}()
	s.checking.Lock()
	defer s.checking.Unlock()
	files := s.snapshot()
	checker := s.checker(files)
	for _, d := range files {
		if s.isCurrent(d) {
			s.publish(d, s.diagnose(checker, files, d))
		}
	}
}

// isCurrent reports whether a document is still the newest of its file.
func (s *server) isCurrent(d *document) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.docs[d.path] == d && s.phase == initialized
}

func (s *server) publish(d *document, list []Diagnostic) {
	params := publishDiagnosticsParams{URI: d.uri, Version: &d.version, Diagnostics: list}
	text, err := json.Marshal(params)
	if err != nil {
		panic(err) // its type is the program's own
	}
	s.mu.Lock()
	if s.docs[d.path] != d || s.published[d.uri] == string(text) {
		s.mu.Unlock()
		return
	}
	s.published[d.uri] = string(text)
	s.mu.Unlock()
	if err := s.rpc.Notify(context.Background(), "textDocument/publishDiagnostics", params); err != nil {
		fmt.Fprintln(s.Log, "postern lsp: findings cannot be sent:", err)
	}
}

// checker returns the checker of `postern flow check` for the open files.
func (s *server) checker(files openFiles) findings.Checker {
	types := flows.UserTypes{Files: files}
	return findings.Checker{
		Kinds: s.kinds, Subflows: files.resolver().ForFile, UserTypes: types.ForFile, ScenarioRule: rules.Scenario,
		Scenarios: func(path string, text []byte) (int, []schemas.Problem) { return flowtest.CheckIn(files, path, text) },
	}
}

// flowMembers is in every flow, also in one that cannot be parsed yet. A YAML file without it that is
// not named *.flow.yaml is not a flow.
var flowMembers = regexp.MustCompile(`(?m)^[ {]*"?(nodes|flowType)"?[ ]*:`)

func isFlow(d *document) bool {
	stem := strings.TrimSuffix(d.path, filepath.Ext(d.path))
	return strings.HasSuffix(stem, ".flow") || flowMembers.MatchString(d.text.content)
}

// diagnose returns the findings about an open file.
func (s *server) diagnose(checker findings.Checker, files openFiles, d *document) []Diagnostic {
	list := []Diagnostic{}
	if d.tooLong {
		return append(list, Diagnostic{Severity: 1, Source: "postern", Message: fmt.Sprintf("the file is too long to be a flow; expected at most %d bytes. Close it and open it again after it is shortened", maxDocument)})
	}
	tree, _ := syntax.Parse([]byte(d.text.content))
	o := &opened{d, files, tree}
	for _, p := range problems(checker, files, d) {
		list = append(list, s.diagnostic(o, p))
	}
	return list
}

// problems returns the findings of `postern flow check` about an open file; none if it is not a flow.
func problems(checker findings.Checker, files openFiles, d *document) []schemas.Problem {
	if !flows.IsScenarios(d.path) && !isFlow(d) {
		return nil
	}
	checked, err := checker.Check(1, func(int) (findings.Source, error) {
		return findings.Source{Name: d.path, Text: []byte(d.text.content)}, nil
	})
	if err != nil {
		panic(err) // nothing is read
	}
	checked = append(siblings(files, d.path), checked...)
	findings.ReportHandleConflicts(checked, filepath.Dir)
	return checked[len(checked)-1].Findings
}

// siblings returns the types and handles of the other flows in the folder of a file.
func siblings(files openFiles, path string) (list []findings.File) {
	if flows.IsScenarios(path) {
		return nil
	}
	entries, _ := files.ReadDir(filepath.Dir(path)) // an unreadable folder contains none
	for _, e := range entries {
		name := filepath.Join(filepath.Dir(path), e.Name())
		if name == path || e.IsDir() || !flows.IsFlow(name) {
			continue
		}
		content, err := files.ReadFile(name)
		if err != nil || !strings.Contains(string(content), "flowType") {
			continue
		}
		if doc, _ := schemas.ParseYAML(content); doc != nil { // JSON is YAML
			list = append(list, findings.File{Source: findings.Source{Name: name}, Handle: doc.TextAt("handle"), FlowType: schemas.FlowType(doc.TextAt("flowType"))})
		}
	}
	return list
}

// diagnostic converts a finding.
func (s *server) diagnostic(o *opened, p schemas.Problem) Diagnostic {
	d := Diagnostic{Range: o.text.rangeOf(o.spanAt(p.Line, p.Column)), Severity: 1, Code: p.Rule, Source: "postern", Message: p.Message}
	if p.Warning {
		d.Severity = 2
	}
	if rule, err := rules.Find(p.Rule); err == nil {
		d.CodeDescription = &codeDescription{s.RulesPage + "#" + rule.ID}
		d.Message += "\n" + rule.Fix
	}
	for i, step := range p.Trace {
		at := o.spanAt(step.Line, 0)
		d.RelatedInformation = append(d.RelatedInformation, relatedInformation{
			Location{o.uri, o.text.rangeOf(at)}, fmt.Sprintf("%d. %s", i+1, findings.StepText(step)),
		})
	}
	return d
}

// spanAt returns the part of the text at a line and column from 1: a value or name, of a value of several
// lines the first. Without a column it is the line, without a line the first.
func (o *opened) spanAt(line, column int) syntax.Span {
	line = max(line, 1)
	if column > 0 {
		at := o.text.runeOffset(line, column)
		if span, found := o.partAt(at); found {
			return o.text.firstLine(span)
		}
	}
	content := o.text.line(line - 1)
	start := len(content) - len(strings.TrimLeft(content, " "))
	if column > 0 {
		start = max(start, o.text.runeOffset(line, column)-o.text.runeOffset(line, 1))
	}
	offset := o.text.runeOffset(line, 1)
	return syntax.Span{Start: offset + min(start, len(content)), End: offset + max(min(start, len(content)), len(strings.TrimRight(content, " ")))}
}

// partAt returns the key or value that begins at an offset: the outermost value, or else a key.
func (o *opened) partAt(at int) (syntax.Span, bool) {
	if o.tree == nil {
		return syntax.Span{}, false
	}
	path := o.tree.At(at)
	if i := slices.IndexFunc(path, func(n *syntax.Node) bool { return n.Start == at && n.Kind != syntax.Mapping }); i >= 0 {
		return path[i].Span, path[i].End > at
	}
	for _, n := range path {
		switch {
		case n.Start == at && n.Flow:
			return n.Span, true
		case n.Key != nil && n.Key.Start == at:
			return n.Key.Span, true
		}
	}
	return syntax.Span{}, false
}

// sortEdits sorts edits by their positions.
func sortEdits(list []TextEdit) {
	slices.SortFunc(list, func(a, b TextEdit) int {
		return cmp.Or(cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Range.Start.Character, b.Range.Start.Character))
	})
}
