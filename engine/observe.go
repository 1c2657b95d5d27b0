package engine

import (
	"context"
	"log/slog"

	"github.com/postern-id/postern/schemas"
)

// Observer observes runs. Its methods must not block, and must not read the run.
type Observer interface {
	// EnterNode is called before a node decides. The node gets the returned context; leave is
	// called with the decision.
	EnterNode(ctx context.Context, at Place) (inner context.Context, leave func(Exit))
	// StoreStep is called after a step of a run is stored.
	StoreStep(ctx context.Context, s StoredStep)
}

// Place is a node of a flow.
type Place struct {
	Flow, Node, Kind string // the handle of the flow, the id of the node and its kind
}

// The results of a decision.
const (
	ExitLeft      = "left" // by an outcome
	ExitAsked     = "asked"
	ExitCompleted = "completed" // the run
	ExitFailed    = "failed"    // the run
	ExitRefused   = "refused"   // the run, with a reply for the client
	ExitError     = "error"     // the node could not decide
)

// Exit is the decision of a node.
type Exit struct {
	Result  string
	Outcome string // of ExitLeft, otherwise ""
}

// StoredStep is a step of a run that is stored.
type StoredStep struct {
	Place         // the node at which the step ended
	Started       bool
	Status        schemas.RunStatus
	Error         string // the error code of a failed run
	UserID        string // "" if unknown, or not stored
	ApplicationID string
	Execution     string // the digest of the id of the run, which is secret
}

// noObserver ignores everything.
type noObserver struct{}

func (noObserver) EnterNode(ctx context.Context, _ Place) (context.Context, func(Exit)) {
	return ctx, func(Exit) {}
}

func (noObserver) StoreStep(context.Context, StoredStep) {}

// decide calls the executor of the current node.
func (e *Engine) decide(ctx context.Context, r *run, answer *Answer) (*Decision, error) {
	n := &r.graph.nodes[r.at]
	inner, leave := e.Observer.EnterNode(ctx, r.place())
	d, err := n.exec.Execute(inner, r.newVisit(answer))
	leave(exitOf(n, d, err))
	if err != nil {
		return nil, nodeError(n, err)
	}
	return d, nil
}

func exitOf(n *node, d *Decision, err error) Exit {
	switch {
	case err != nil:
		return Exit{Result: ExitError}
	case d.Fail != nil:
		return Exit{Result: ExitFailed}
	case d.Refuse != nil:
		return Exit{Result: ExitRefused}
	case d.Ask != nil:
		return Exit{Result: ExitAsked}
	case n.kind.Terminal:
		return Exit{Result: ExitCompleted}
	}
	if edge, ok := n.edge(d.Outcome); ok {
		return Exit{Result: ExitLeft, Outcome: edge.name}
	}
	return Exit{Result: ExitError}
}

// place returns the place of a run. A run that completed by an edge has left its last node.
func (r *run) place() Place {
	p := Place{Flow: r.graph.flow.Handle}
	if r.at != endNode {
		n := &r.graph.nodes[r.at]
		p.Node, p.Kind = n.id, n.kind.Name
	}
	return p
}

// reportStep reports a stored step to the observer, and a failed run to the log. A fault of the flow
// is in the log already: recordFault.
func (e *Engine) reportStep(ctx context.Context, r *run) {
	s := StoredStep{Place: r.place(), Started: r.rec.Revision == 0, Status: r.rec.Status, UserID: r.state.Subject.UserID, ApplicationID: r.rec.ApplicationID, Execution: r.rec.Digest()}
	if r.state.Subject.Draft != nil && s.Status != schemas.Complete {
		s.UserID = ""
	}
	if r.failure != nil {
		s.Error = r.failure.Code
	}
	e.Observer.StoreStep(ctx, s)
	if r.rec.Status != schemas.Failed || s.Error == schemas.CodeExpressionFailed {
		return
	}
	e.Log.LogAttrs(ctx, slog.LevelWarn, "a run failed",
		slog.String("flow", s.Flow), slog.Int("version", r.rec.FlowVersion), slog.String("node", s.Node), slog.String("kind", s.Kind),
		slog.String("error", s.Error), slog.String("application", s.ApplicationID), slog.String("user", s.UserID),
		slog.String("execution", s.Execution), slog.String("traceId", r.request.TraceID))
}
