package flows

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/postern-id/postern/schemas"
)

// SubflowResolver finds sub-flows among files. A flow may use those in its own folder, and
// those in other files that it is named together with. It is safe for use by many
// goroutines, and reads nothing before a flow uses a sub-flow.
type SubflowResolver struct {
	mu      sync.Mutex
	folders map[string]subflowsByHandle
	others  func() subflowsByHandle
}

// subflowsByHandle are sub-flows by handle.
type subflowsByHandle map[string]*checkedSubflow

// checkedSubflow is a sub-flow, or what is wrong with its form.
type checkedSubflow struct {
	flow     *schemas.Flow
	problems []schemas.Problem
}

// NewSubflowResolver returns the shelf of flows that are named together.
func NewSubflowResolver(files ...string) *SubflowResolver {
	s := &SubflowResolver{folders: map[string]subflowsByHandle{}}
	s.others = sync.OnceValue(func() subflowsByHandle { return readSubflows(files) })
	return s
}

// ForFile returns the sub-flows that the flow of a file may use.
func (s *SubflowResolver) ForFile(file string) schemas.Subflows {
	return &folderSubflows{s, filepath.Dir(file)}
}

// folder returns the sub-flows of a folder.
func (s *SubflowResolver) folder(name string) subflowsByHandle {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, read := s.folders[name]; read {
		return known
	}
	var files []string
	entries, _ := os.ReadDir(name) // of a folder that cannot be read nothing is found
	for _, e := range entries {
		if !e.IsDir() && IsFlow(e.Name()) {
			files = append(files, filepath.Join(name, e.Name()))
		}
	}
	s.folders[name] = readSubflows(files)
	return s.folders[name]
}

// readSubflows reads the sub-flows among files. ForFile two with one handle the first is
// taken; what is none is left alone.
func readSubflows(files []string) subflowsByHandle {
	found := subflowsByHandle{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(schemas.Subflow)) {
			continue
		}
		flow, doc, problems := schemas.ParseFlow(text, !IsJSON(file))
		if flow == nil && doc != nil {
			flow = new(schemas.Flow)
			doc.DecodeLoosely(schemas.FlowSchema(), flow) // to know whose problems these are
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
