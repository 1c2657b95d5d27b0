package flows

import (
	"context"
	"fmt"
	"sync"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Source keeps flow definitions and their versions.
type Source interface {
	// ActiveVersion returns the number of the version new runs begin with.
	ActiveVersion(ctx context.Context, id string) (int, error)
	// FlowVersion returns one version, with ActiveVersion set to its number.
	FlowVersion(ctx context.Context, id string, version int) (*schemas.Flow, error)
}

// Catalogue finds compiled flows by id and version. A version never changes,
// so what is compiled once is kept; which version is active is asked of the
// source each time. It is safe for use by many goroutines.
type Catalogue struct {
	source Source
	kinds  engine.Kinds

	mu     sync.RWMutex
	graphs map[version]*engine.Graph
}

type version struct {
	flowID string
	number int
}

// NewCatalogue returns an empty catalogue over the source.
func NewCatalogue(source Source, kinds engine.Kinds) *Catalogue {
	return &Catalogue{source: source, kinds: kinds, graphs: map[version]*engine.Graph{}}
}

// Active returns the graph of the flow's active version. The error for a flow
// that does not exist is the source's.
func (c *Catalogue) Active(ctx context.Context, flowID string) (*engine.Graph, error) {
	number, err := c.source.ActiveVersion(ctx, flowID)
	if err != nil {
		return nil, err
	}
	return c.Graph(ctx, flowID, number)
}

// Graph returns the graph of one version of a flow.
func (c *Catalogue) Graph(ctx context.Context, flowID string, number int) (*engine.Graph, error) {
	if g := c.cachedGraph(version{flowID, number}); g != nil {
		return g, nil
	}
	f, err := c.source.FlowVersion(ctx, flowID, number)
	if err != nil {
		return nil, err
	}
	return c.compile(f)
}

func (c *Catalogue) cachedGraph(v version) *engine.Graph {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.graphs[v]
}

// compile compiles a stored flow. Stored flows were checked when they were
// stored; one that no longer compiles was written past the checks, or for
// another release, and must not run.
func (c *Catalogue) compile(f *schemas.Flow) (*engine.Graph, error) {
	g, problems := engine.Compile(f, c.kinds)
	if g == nil {
		return nil, Faults(fmt.Sprintf("flow %s (%s) version %d does not compile", f.Handle, f.ID, f.ActiveVersion), problems)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.graphs[version{f.ID, f.ActiveVersion}] = g
	return g, nil
}
