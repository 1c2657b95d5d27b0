package lsp

import (
	"context"
	"time"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/studio"
	"github.com/postern-id/postern/flows/syntax"
)

func (s *server) didOpen(_ context.Context, p didOpenParams) (none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := pathOf(p.TextDocument.URI)
	s.docs[path] = newDocument(p.TextDocument.URI, path, p.TextDocument.Version, newText(p.TextDocument.Text, s.utf8))
	s.checkSoon()
	return nil, nil
}

// didChange applies changes in order. A change of a file that is not open has no effect.
func (s *server) didChange(_ context.Context, p didChangeParams) (none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := pathOf(p.TextDocument.URI)
	before := s.docs[path]
	if before == nil {
		return nil, nil
	}
	content, known := before.text, !before.tooLong
	for _, c := range p.ContentChanges {
		if known = known || c.Range == nil; known { // a change within a text that was not kept has no meaning
			content = content.replaced(c)
		}
		if len(content.content) > maxDocument {
			break
		}
	}
	s.docs[path] = newDocument(before.uri, path, p.TextDocument.Version, content)
	s.docs[path].tooLong = s.docs[path].tooLong || !known
	s.checkSoon()
	return nil, nil
}

// didClose removes the findings of the file: they are shown for open files only.
func (s *server) didClose(ctx context.Context, p documentParams) (none, error) {
	s.mu.Lock()
	delete(s.docs, pathOf(p.TextDocument.URI))
	delete(s.published, p.TextDocument.URI)
	s.checkSoon() // others may depend on it
	s.mu.Unlock()
	return nil, s.rpc.Notify(ctx, "textDocument/publishDiagnostics", publishDiagnosticsParams{URI: p.TextDocument.URI, Diagnostics: []Diagnostic{}})
}

func (s *server) filesChanged(context.Context, struct{}) (none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkSoon()
	return nil, nil
}

// checkSoon checks the open files after the delay, which begins again with each change. The caller
// holds the lock.
func (s *server) checkSoon() {
	if s.timer == nil {
		s.timer = time.AfterFunc(s.Delay, s.checkAll)
		return
	}
	s.timer.Reset(s.Delay)
}

// opened is an open file with all that it can refer to.
type opened struct {
	*document
	files openFiles
	tree  *syntax.Tree // nil if the text cannot be parsed
}

// open returns an open file.
func (s *server) open(uri string) (*opened, error) {
	files := s.snapshot()
	d := files[pathOf(uri)]
	if d == nil {
		return nil, failed("the file %s is not open; expected the notification textDocument/didOpen first", uri)
	}
	tree, _ := syntax.Parse([]byte(d.text.content)) // features that need it have no result
	return &opened{d, files, tree}, nil
}

// other returns a file that need not be open; nil if it cannot be read.
func (s *server) other(files openFiles, path string) *opened {
	d := files[path]
	if d == nil {
		content, err := files.ReadFile(path)
		if err != nil {
			return nil
		}
		d = newDocument(files.uriOf(path), path, 0, newText(string(content), s.utf8))
	}
	tree, _ := syntax.Parse([]byte(d.text.content))
	return &opened{d, files, tree}
}

// resolver returns the resolver of sub-flows: a flow can use those in its folder and the open ones.
func (o openFiles) resolver() *flows.SubflowResolver {
	var names []string
	for path := range o {
		if flows.IsFlow(path) {
			names = append(names, path)
		}
	}
	return flows.NewSubflowResolverIn(o, names...)
}

// studioFor returns the functions of flow editors for a file.
func (s *server) studioFor(o *opened) *studio.Studio {
	types := flows.UserTypes{Files: o.files}
	return studio.NewForFile(s.kinds, o.files.resolver().ForFile(o.path), types.ForFile(o.path))
}

// source returns the text for package studio.
func (d *document) source() studio.Source {
	return studio.Source{Text: d.text.content, JSON: flows.IsJSON(d.path)}
}

// cursor returns a position for package studio.
func (d *document) cursor(p Position) studio.Cursor {
	line, column := d.text.runeColumn(d.text.offset(p))
	return studio.Cursor{Text: d.text.content, Line: line, Column: column}
}
