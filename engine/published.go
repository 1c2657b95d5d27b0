package engine

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// A run continues on the version of the flow that it started with. An administrator who publishes a
// stronger version, or assigns another flow, expects that each later sign-in proves as much. So
// a run of another version completes only if it has proved what the published one guarantees.

// refuseCompletion returns why a run may not complete, nil if it may.
func (e *Engine) refuseCompletion(ctx context.Context, r *run) (*schemas.Error, error) {
	if !r.keepsGuarantees() {
		return errLimited(), nil
	}
	if e.Published == nil || r.app == nil {
		return nil, nil
	}
	published, err := e.Published(ctx, r.app, r.flowType())
	if err != nil {
		return nil, err
	}
	if published != nil && (r.isOf(published) || r.proves(published)) {
		return nil, nil
	}
	return errChanged(), nil
}

// isOf reports whether the run is one of this version.
func (r *run) isOf(g *Graph) bool {
	return g.flow.ID == r.rec.FlowID && g.flow.ActiveVersion == r.rec.FlowVersion
}

// proves reports whether the run has proved what every run of the version proves, and what the version
// guarantees.
func (r *run) proves(g *Graph) bool {
	auth := r.state.Auth
	if auth == nil {
		auth = &Authentication{}
	}
	return auth.proves(g.guarantees) && auth.proves(g.flow.Guarantees)
}

// flowType returns the type of the application's flow that the run was started for. Runs of an
// earlier release have not stored it.
func (r *run) flowType() schemas.FlowType {
	if r.state.Type != "" {
		return r.state.Type
	}
	for _, f := range r.app.Flows() {
		if *f.ID == r.rec.FlowID {
			return f.Type
		}
	}
	return r.graph.flow.FlowType
}

// errChanged is the error of a run that has proved less than is needed now.
func errChanged() *schemas.Error {
	return schemas.Errorf(schemas.Conflict, schemas.CodeFlowChanged,
		"the application's flow was changed since this run started, and what was proved is not enough any more, or the application has no such flow now; start again")
}
