package flows

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/postern-id/postern/schemas"
)

// SubflowResolver finds sub-flows in files. A flow may use those in its own folder and those in
// the files that are checked together with it. It is safe for concurrent use, and reads nothing
// before a flow uses a sub-flow.
type SubflowResolver struct {
	files   Files
	mu      sync.Mutex
	folders map[string]subflowsByHandle
	others  func() subflowsByHandle
}

type subflowsByHandle map[string]*checkedSubflow

// checkedSubflow is a sub-flow and the problems of its shape.
type checkedSubflow struct {
	flow     *schemas.Flow
	problems []schemas.Problem
}

// NewSubflowResolver returns a resolver for flow files that are checked together.
func NewSubflowResolver(files ...string) *SubflowResolver {
	return NewSubflowResolverIn(Disk{}, files...)
}

// NewSubflowResolverIn is NewSubflowResolver for other files than those of the disk.
func NewSubflowResolverIn(in Files, files ...string) *SubflowResolver {
	s := &SubflowResolver{files: in, folders: map[string]subflowsByHandle{}}
	s.others = sync.OnceValue(func() subflowsByHandle { return readSubflows(in, files) })
	return s
}

// ForFile returns the sub-flows that the flow in a file may use.
func (s *SubflowResolver) ForFile(file string) schemas.Subflows {
	return &folderSubflows{s, filepath.Dir(file)}
}

// folder returns the sub-flows in a folder.
func (s *SubflowResolver) folder(name string) subflowsByHandle {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, read := s.folders[name]; read {
		return known
	}
	var files []string
	entries, _ := s.files.ReadDir(name) // an unreadable folder contains none
	for _, e := range entries {
		if !e.IsDir() && IsFlow(e.Name()) {
			files = append(files, filepath.Join(name, e.Name()))
		}
	}
	s.folders[name] = readSubflows(s.files, files)
	return s.folders[name]
}

// readSubflows parses the sub-flows among files. Of two with the same handle it returns the
// first. It ignores files that are not sub-flows.
func readSubflows(in Files, files []string) subflowsByHandle {
	found := subflowsByHandle{}
	for _, file := range files {
		text, err := in.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(schemas.Subflow)) {
			continue
		}
		flow, doc, problems := schemas.ParseFlow(text, !IsJSON(file))
		if flow == nil && doc != nil {
			flow = new(schemas.Flow)
			doc.DecodeLoosely(schemas.FlowSchema(), flow) // for its type and handle
		}
		if flow == nil || flow.FlowType != schemas.Subflow || found[flow.Handle] != nil {
			continue
		}
		found[flow.Handle] = &checkedSubflow{flow, problems}
	}
	return found
}

// folderSubflows are the sub-flows for the flows of one folder.
type folderSubflows struct {
	resolver *SubflowResolver
	dir      string
}

// Subflow implements schemas.Subflows.
func (b *folderSubflows) Subflow(handle string) (*schemas.Flow, []schemas.Problem) {
	for _, where := range []func() subflowsByHandle{func() subflowsByHandle { return b.resolver.folder(b.dir) }, b.resolver.others} {
		if f := where()[handle]; f != nil {
			return f.flow, f.problems
		}
	}
	return nil, nil
}

// Handles implements schemas.Subflows.
func (b *folderSubflows) Handles() []string {
	all := maps.Clone(b.resolver.folder(b.dir))
	maps.Copy(all, b.resolver.others())
	return slices.Sorted(maps.Keys(all))
}
