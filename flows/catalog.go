package flows

import (
	"context"
	"fmt"
	"sync"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Source stores flow definitions and their versions.
type Source interface {
	// ActiveVersion returns the version that new runs start with.
	ActiveVersion(ctx context.Context, id string) (int, error)
	// FlowVersion returns one version, with ActiveVersion set to its number.
	FlowVersion(ctx context.Context, id string, version int) (*schemas.Flow, error)
}

// Catalog returns compiled flows by ID and version. Compiled versions are cached, because a
// version never changes. The active version is read from the source each time. It is safe for
// concurrent use.
type Catalog struct {
	source Source
	kinds  engine.Kinds

	mu     sync.RWMutex
	graphs map[version]*engine.Graph
}

type version struct {
	flowID string
	number int
}

// NewCatalog returns an empty catalog over the source.
func NewCatalog(source Source, kinds engine.Kinds) *Catalog {
	return &Catalog{source: source, kinds: kinds, graphs: map[version]*engine.Graph{}}
}

// Active returns the graph of the flow's active version. For a missing flow it returns the
// source's error.
func (c *Catalog) Active(ctx context.Context, flowID string) (*engine.Graph, error) {
	number, err := c.source.ActiveVersion(ctx, flowID)
	if err != nil {
		return nil, err
	}
	return c.Graph(ctx, flowID, number)
}

// Graph returns the graph of one version of a flow.
func (c *Catalog) Graph(ctx context.Context, flowID string, number int) (*engine.Graph, error) {
	if g := c.cachedGraph(version{flowID, number}); g != nil {
		return g, nil
	}
	f, err := c.source.FlowVersion(ctx, flowID, number)
	if err != nil {
		return nil, err
	}
	return c.compile(f)
}

func (c *Catalog) cachedGraph(v version) *engine.Graph {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.graphs[v]
}

// compile compiles a stored flow. Flows are checked when they are stored. One that no longer
// compiles was stored without the checks, or for another release, and must not run.
func (c *Catalog) compile(f *schemas.Flow) (*engine.Graph, error) {
	g, problems := engine.CompileStored(f, c.kinds)
	if g == nil {
		return nil, Faults(fmt.Sprintf("flow %s (%s) version %d does not compile", f.Handle, f.ID, f.ActiveVersion), problems)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.graphs[version{f.ID, f.ActiveVersion}] = g
	return g, nil
}
