package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/draw"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// The URIs of the resources. A flow's URI contains its type, because flows of different types can
// have the same handle.
const (
	kindsURI             = "postern://kinds"
	flowSchemaURI        = "postern://schemas/flow"
	applicationSchemaURI = "postern://schemas/application"
	flowsURI             = "postern://flows/"
	flowTemplate         = flowsURI + "{flowType}/{handle}"
)

// Media types. A schema has that of JSON Schema 2020-12 §14.
const (
	jsonType    = "application/json"
	schemaType  = "application/schema+json"
	yamlType    = "application/yaml"
	mermaidType = "text/vnd.mermaid"
)

func (s *Server) addResources(server *sdk.Server) {
	fixed := func(uri, name, title, description, kind string, text func() (json.RawMessage, error)) {
		server.AddResource(&sdk.Resource{URI: uri, Name: name, Title: title, Description: description, MIMEType: kind},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				content, err := text()
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{Text: string(content)}}}, err
			})
	}
	fixed(kindsURI, "kinds", "Kinds of nodes", "What each kind of node does, how it is configured, what it needs and what is certain after each of its outcomes.", jsonType,
		func() (json.RawMessage, error) { return encode(catalogOf(s.Kinds)) })
	fixed(flowSchemaURI, "flow-schema", "JSON Schema of flows", "The structure of a flow, with the configuration of every kind of node.", schemaType,
		func() (json.RawMessage, error) { return flows.Schema(s.Kinds) })
	fixed(applicationSchemaURI, "application-schema", "JSON Schema of applications", "The structure of an application.", schemaType,
		func() (json.RawMessage, error) { return schemas.ApplicationSchema().Raw(), nil })
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: flowTemplate, Name: "flow", Title: "Flow",
		Description: "A flow as YAML, with its findings and a Mermaid flowchart. The type is AUTHENTICATION or REGISTRATION.",
	}, s.readFlow)
}

// withFlows adds the flows to the list of resources: the library knows only fixed ones.
func (s *Server) withFlows(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method != "resources/list" {
			return next(ctx, method, req)
		}
		if params, _ := req.GetParams().(*sdk.ListResourcesParams); params != nil && params.Cursor != "" {
			return s.listResources(ctx, params.Cursor, nil)
		}
		result, err := next(ctx, method, req)
		if fixed, ok := result.(*sdk.ListResourcesResult); ok && err == nil {
			return s.listResources(ctx, "", fixed.Resources)
		}
		return result, err
	}
}

// listResources lists the fixed resources and a page of the flows. The cursor is the id of the last
// flow of the page before.
func (s *Server) listResources(ctx context.Context, after string, fixed []*sdk.Resource) (*sdk.ListResourcesResult, error) {
	list := &sdk.ListResourcesResult{Resources: fixed, Cacheable: sdk.Cacheable{CacheScope: "private"}}
	page, err := s.Directory.Flows.List(ctx, callOf(ctx), directory.Query{Limit: maxFlows + 1, After: after})
	if err != nil {
		return nil, err
	}
	for i, item := range page.Items {
		if i == maxFlows {
			list.NextCursor = page.Items[i-1].ID
			break
		}
		f := item.Value.(*schemas.Flow)
		list.Resources = append(list.Resources, &sdk.Resource{
			URI: flowURI(f), Name: f.Handle, Title: f.Name, MIMEType: yamlType,
			Description: fmt.Sprintf("%s flow, version %d", f.FlowType, f.ActiveVersion),
		})
	}
	return list, nil
}

func flowURI(f *schemas.Flow) string { return flowsURI + string(f.FlowType) + "/" + f.Handle }

// readFlow reads the resource of a flow: its definition, findings and diagram.
func (s *Server) readFlow(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	t, handle, _ := strings.Cut(strings.TrimPrefix(uri, flowsURI), "/")
	item, err := s.findFlow(ctx, callOf(ctx), schemas.FlowType(t), handle)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, err
	}
	f := item.Value.(*schemas.Flow)
	text, err := encode(f)
	if err != nil {
		return nil, err
	}
	yaml, err := schemas.ToYAML(text)
	if err != nil {
		return nil, err
	}
	picture, found, err := s.prove(f)
	if err != nil {
		return nil, err
	}
	contents := []*sdk.ResourceContents{
		{URI: uri, MIMEType: yamlType, Text: string(yaml)},
		{URI: uri + "#findings", MIMEType: jsonType, Text: string(found)},
	}
	if picture != "" {
		contents = append(contents, &sdk.ResourceContents{URI: uri + "#picture", MIMEType: mermaidType, Text: picture})
	}
	return &sdk.ReadResourceResult{Contents: contents}, nil
}

// prove returns the diagram of a flow and its findings, as JSON. A flow that another release stored
// can have findings and no diagram.
func (s *Server) prove(f *schemas.Flow) (picture string, found json.RawMessage, err error) {
	graph, problems := engine.Compile(f, s.Kinds)
	if graph != nil {
		picture, problems = draw.Mermaid(graph, draw.Options{}), graph.Warnings()
	}
	found, err = encode(map[string]any{"findings": append([]schemas.Problem{}, withoutPlaces(problems)...)})
	return picture, found, err
}
