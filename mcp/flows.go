package mcp

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// maxFlows is the maximum number of flows on a page of the list.
const maxFlows = 100

func (s *Server) flowTools() []tool {
	raw, err := flows.Schema(s.Kinds)
	if err != nil {
		panic(err) // the schema of our own kinds
	}
	flow := shapeOf(raw)
	whole := flow.outline("id", "handle", "name", "flowType", "nodes")
	kind := map[string]any{"type": "string", "enum": schemas.FlowTypeNames()}
	return []tool{
		typedCall(tool{
			name: "service_list_flows", title: "List flows",
			description: "Lists the flows, oldest first, without their nodes. Get a flow for its definition.",
			input: object(map[string]any{
				"limit":     map[string]any{"type": "integer", "minimum": 1, "default": 30, "description": "The maximum number of results. More than 100 means 100."},
				"offset":    map[string]any{"type": "integer", "minimum": 0, "maximum": 10_000, "default": 0, "description": "The number of results to skip."},
				"flow_type": withDescription(kind, "List only flows for sign-in, flows for registration, or sub-flows."),
			}),
			output: listOf("flows", flow.of(flowSummary()...).outline("id", "handle", "name", "flowType")),
		}, s.listFlows),
		typedCall(tool{
			name: "service_get_flow_by_handle", title: "Get a flow by its handle",
			description: "Returns the definition of a flow. Two flows of different types may have the same handle. service_update_flow accepts the result.",
			input: object(map[string]any{
				"handle":    text("The handle of the flow, such as sign-in."),
				"flow_type": withDescription(kind, "The type of the flow: sign-in, registration or sub-flow."),
			}, "handle", "flow_type"),
			output: whole,
		}, s.flowByHandle),
		getTool(tool{
			name: "service_get_flow_by_id", title: "Get a flow by its id",
			description: "Returns the definition of a flow. service_update_flow accepts the result.",
			input:       object(map[string]any{"id": text("The id of the flow: a UUID.")}, "id"), output: whole,
		}, s.Directory.Flows),
		{
			name: "service_create_flow", title: "Create a flow", effect: adds,
			description: "Proves a flow and stores it. A flow that violates a rule is not stored: the result has every finding with its rule, its path, the error and its fix. Use dry_run first. The resource postern://kinds describes what each kind of node does, needs and establishes.",
			input:       flow.with(map[string]any{"dry_run": dryRun()}, "handle", "name", "flowType", "nodes"), output: whole,
			call: writeCall(map[string]any{"dry_run": dryRun()}, createIn(s.Directory.Flows)),
		},
		{
			name: "service_update_flow", title: "Replace a flow", effect: replaces,
			description: "Proves a definition and stores it as the next version of a flow. The definition is replaced as a whole; only an omitted handle or type stays. Active runs continue with the version that they started with. With expected_version, nothing is stored if the flow has changed since you read it.",
			input:       flow.with(updateParameters(), "id", "name", "nodes"), output: whole,
			call: writeCall(updateParameters(), s.replaceFlow, "id"),
		},
	}
}

// updateParameters are the parameters of service_update_flow that are not part of a flow, and its
// id.
func updateParameters() map[string]any {
	return map[string]any{
		"id":      text("The id of the flow."),
		"dry_run": dryRun(),
		"expected_version": map[string]any{"type": "integer", "minimum": 1,
			"description": "The activeVersion that the change is based on. If the flow has a newer one, nothing is stored."},
		"reason": text("The reason for the change: one line of at most 200 characters, without secrets. The new version and its audit event have it."),
	}
}

func withDescription(schema map[string]any, description string) map[string]any {
	return map[string]any{"type": schema["type"], "enum": schema["enum"], "description": description}
}

// flowSummary are the members of a flow in a list.
func flowSummary() []string {
	return []string{"id", "handle", "name", "flowType", "activeVersion", "isReadOnly", "updatedAt"}
}

type listFlows struct {
	Limit    *float64         `json:"limit"`
	Offset   int              `json:"offset"`
	FlowType schemas.FlowType `json:"flow_type"`
}

func (s *Server) listFlows(ctx context.Context, c directory.Call, in *listFlows) (*toolAnswer, error) {
	q := directory.Query{Limit: 30, Offset: in.Offset}
	if in.Limit != nil {
		q.Limit = int(min(*in.Limit, maxFlows))
	}
	if in.FlowType != "" {
		q.Filter, q.Value = "flowType", string(in.FlowType)
	}
	page, err := s.Directory.Flows.List(ctx, c, q)
	if err != nil {
		return nil, err
	}
	return listAnswer(page, "flows", flowSummary())
}

type byHandle struct {
	Handle   string           `json:"handle"`
	FlowType schemas.FlowType `json:"flow_type"`
}

func (s *Server) flowByHandle(ctx context.Context, c directory.Call, in *byHandle) (*toolAnswer, error) {
	item, err := s.findFlow(ctx, c, in.FlowType, in.Handle)
	if err != nil {
		return nil, err
	}
	return itemAnswer(item), nil
}

// findFlow fails with the code flow_not_found.
func (s *Server) findFlow(ctx context.Context, c directory.Call, t schemas.FlowType, handle string) (*directory.Item, error) {
	item, err := s.Directory.Flows.Find(ctx, c, string(t)+"/"+handle)
	if err == nil && item == nil {
		err = schemas.Errorf(schemas.NotFound, schemas.CodeFlowNotFound, "there is no %s flow with the handle %.64q", t, handle)
	}
	return item, err
}

// replaceFlow stores the next version of a flow if it has not changed since it was read. The proof
// runs outside of a transaction, which would block others.
func (s *Server) replaceFlow(ctx context.Context, c directory.Call, w *writeArguments) (*directory.Item, error) {
	old, err := s.Directory.Flows.Get(ctx, c, w.how.ID)
	if err != nil {
		return nil, err
	}
	f := old.Value.(*schemas.Flow)
	if expected := w.how.ExpectedVersion; expected != 0 && expected != f.ActiveVersion {
		return nil, errChanged(fmt.Sprintf("it is at version %d, not at the expected version %d", f.ActiveVersion, expected))
	}
	d, err := w.completed(map[string]any{"handle": f.Handle, "flowType": f.FlowType})
	if err != nil {
		return nil, err
	}
	item, err := s.Directory.Flows.Replace(ctx, c, w.how.ID, old.ETag, d)
	if schemas.HasClass(err, schemas.Precondition) {
		return nil, errChanged("it was changed concurrently")
	}
	return item, err
}

func errChanged(how string) error {
	return schemas.Errorf(schemas.Precondition, schemas.CodePreconditionFailed,
		"the flow has been changed meanwhile: %s. Get it again, and apply the change to the current version", how)
}
