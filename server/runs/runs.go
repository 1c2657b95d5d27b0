// Package runs starts runs of the flows of applications, for POST /flow/execute and for the
// authorization endpoint.
package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Error codes of applications without the requested flow.
const (
	codeRegistrationDisabled = "registration_disabled"
	codeFlowNotConfigured    = "flow_not_configured"
)

// Catalog finds the flow of a new run.
type Catalog interface {
	engine.Graphs
	// Active returns the graph of the flow's active version.
	Active(ctx context.Context, flowID string) (*engine.Graph, error)
}

// Starter starts runs.
type Starter struct {
	Engine       *engine.Engine
	Catalog      Catalog
	Applications engine.Applications
}

// Begin starts a run of the application's flow of a type.
func (s *Starter) Begin(ctx context.Context, applicationID string, t schemas.FlowType, inputs map[string]string, req engine.Request) (*schemas.Step, error) {
	app, err := s.Applications.Application(ctx, applicationID)
	if err != nil {
		return nil, err
	}
	flowID, err := flowOf(app, t)
	if err != nil {
		return nil, err
	}
	graph, err := s.graph(ctx, app, flowID)
	if schemas.HasClass(err, schemas.NotFound) || schemas.HasClass(err, schemas.Invalid) {
		err = errors.New(err.Error()) // about the server's own data
	}
	if err != nil {
		return nil, fmt.Errorf("the flow of application %s: %w", app.ID, err)
	}
	req.FlowType = t
	return s.Engine.Start(ctx, graph, app, inputs, req)
}

// Published returns an application and the published version of its flow of a type; nil if there is
// no such application or flow.
func (s *Starter) Published(ctx context.Context, applicationID string, t schemas.FlowType) (*schemas.Application, *engine.Graph, error) {
	app, err := s.Applications.Application(ctx, applicationID)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	graph, err := Published(s.Catalog)(ctx, app, t)
	return app, graph, err
}

// Published returns the function that finds the published version of an application's flow of a type:
// see engine.Engine.
func Published(c Catalog) func(context.Context, *schemas.Application, schemas.FlowType) (*engine.Graph, error) {
	return func(ctx context.Context, app *schemas.Application, t schemas.FlowType) (*engine.Graph, error) {
		flowID, err := flowOf(app, t)
		if err != nil { // it has no flow of this type
			return nil, nil
		}
		graph, err := (&Starter{Catalog: c}).graph(ctx, app, flowID)
		if schemas.HasClass(err, schemas.NotFound) {
			return nil, nil
		}
		return graph, err
	}
}

// graph returns the active version of a flow of an application.
func (s *Starter) graph(ctx context.Context, app *schemas.Application, flowID string) (*engine.Graph, error) {
	version := 0
	switch flowID {
	case app.AuthFlowID:
		version = app.AuthFlowVersion
	case app.RegistrationFlowID:
		version = app.RegistrationFlowVersion
	}
	if version != 0 {
		return s.Catalog.Graph(ctx, flowID, version)
	}
	return s.Catalog.Active(ctx, flowID)
}

// flowOf returns the id of the application's flow of a type.
func flowOf(app *schemas.Application, t schemas.FlowType) (string, error) {
	member, id := "authFlowId", app.AuthFlowID
	switch {
	case t == schemas.Registration && !app.IsRegistrationFlowEnabled:
		return "", schemas.Errorf(schemas.Invalid, codeRegistrationDisabled,
			"the application %q has no self-registration: set its isRegistrationFlowEnabled to allow it", app.Name)
	case t == schemas.Registration:
		member, id = "registrationFlowId", app.RegistrationFlowID
	}
	for _, f := range app.OptionalFlows() {
		if f.Type == t {
			member, id = f.Path, *f.ID
		}
	}
	if id == "" {
		return "", schemas.Errorf(schemas.Invalid, codeFlowNotConfigured, "the application %q has no flow for runs of the type %s: set its %s", app.Name, t, member)
	}
	return id, nil
}
