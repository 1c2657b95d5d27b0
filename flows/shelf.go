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

// Shelf finds sub-flows among files. A flow may use those in its own folder, and
// those in other files that it is named together with. It is safe for use by many
// goroutines, and reads nothing before a flow uses a sub-flow.
type Shelf struct {
	mu      sync.Mutex
	folders map[string]shelved
	others  func() shelved
}

// shelved are sub-flows by handle.
type shelved map[string]*shelvedFlow

// shelvedFlow is a sub-flow, or what is wrong with its form.
type shelvedFlow struct {
	flow     *schemas.Flow
	problems []schemas.Problem
}

// NewShelf returns the shelf of flows that are named together.
func NewShelf(files ...string) *Shelf {
	s := &Shelf{folders: map[string]shelved{}}
	s.others = sync.OnceValue(func() shelved { return readSubflows(files) })
	return s
}

// Of returns the sub-flows that the flow of a file may use.
func (s *Shelf) Of(file string) schemas.Subflows { return &beside{s, filepath.Dir(file)} }

// folder returns the sub-flows of a folder.
func (s *Shelf) folder(name string) shelved {
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

// readSubflows reads the sub-flows among files. Of two with one handle the first is
// taken; what is none is left alone.
func readSubflows(files []string) shelved {
	found := shelved{}
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
		found[flow.Handle] = &shelvedFlow{flow, problems}
	}
	return found
}

// beside are the sub-flows for the flows of one folder.
type beside struct {
	shelf *Shelf
	dir   string
}

// Subflow implements schemas.Subflows.
func (b *beside) Subflow(handle string) (*schemas.Flow, []schemas.Problem) {
	for _, where := range []func() shelved{func() shelved { return b.shelf.folder(b.dir) }, b.shelf.others} {
		if f := where()[handle]; f != nil {
			return f.flow, f.problems
		}
	}
	return nil, nil
}

// Handles implements schemas.Subflows.
func (b *beside) Handles() []string {
	all := maps.Clone(b.shelf.folder(b.dir))
	maps.Copy(all, b.shelf.others())
	return slices.Sorted(maps.Keys(all))
}
