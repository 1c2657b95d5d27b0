package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/postern-id/postern/schemas"
)

// Once is a flow that ends with the answer to its first question, for protocols that carry the
// question and the answer themselves.
type Once struct {
	Graph *Graph
	// Asked is the state of the first node with its question: Decision.NodeState.
	Asked json.RawMessage
	// Inputs are the answer.
	Inputs map[string]string
	// Commit applies all changes or none. The run itself is not stored: it cannot be continued.
	Commit func(ctx context.Context, changes []schemas.Change) error
}

// RunOnce runs a flow for no application, by the rules of any other run. A failed attempt is an
// error and changes nothing.
func (e *Engine) RunOnce(ctx context.Context, o Once, req Request) (*schemas.Step, error) {
	r := newRun(schemas.NewID(), o.Graph, nil, e.now())
	r.authorizeRequest(req)
	r.state.NodeState = o.Asked
	if err := e.advance(ctx, r, &Answer{Inputs: o.Inputs}); err != nil {
		return nil, err
	}
	switch {
	case r.state.Failures > 0 && r.state.Notice != nil:
		return nil, r.state.Notice
	case r.rec.Status == schemas.Incomplete:
		return nil, errors.New("the flow asks a second question")
	}
	return e.commitBy(ctx, r, func() error { return o.Commit(ctx, r.changesToCommit()) })
}
