package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// maxListed is the maximum number of listed applications; that tool has no pages.
const maxListed = 1000

func (s *Server) applicationTools() []tool {
	application := shapeOf(schemas.ApplicationSchema().Raw())
	whole := application.outline("id", "name")
	return []tool{
		typedCall(tool{
			name: "service_list_applications", title: "List applications",
			description: "Lists the applications, oldest first, with their names and ids. Get an application for its details.",
			input:       object(map[string]any{}), output: listOf("applications", application.of(applicationSummary()...).outline("id", "name")),
		}, s.listApplications),
		getTool(tool{
			name: "service_get_application_by_id", title: "Get an application by its id",
			description: "Returns an application without its client secret, which is shown only once. service_update_application accepts the result.",
			input:       object(map[string]any{"id": text("The id of the application: a UUID.")}, "id"), output: whole,
		}, s.Directory.Applications),
		typedCall(tool{
			name: "service_get_application_by_client_id", title: "Get an application by its client id",
			description: "Returns the application with an OAuth client id, without its client secret. service_update_application accepts the result.",
			input:       object(map[string]any{"client_id": text("The OAuth client id.")}, "client_id"), output: whole,
		}, s.applicationByClientID),
		{
			name: "service_create_application", title: "Create an application", effect: adds,
			description: "Creates an application, and an OAuth client if it has inboundAuthConfig. Only name is required; omitted members get their defaults. The result contains the clientId and, if the client has one, the clientSecret, which is shown only once. service_get_application_templates returns a template for each type.",
			input:       application.with(map[string]any{"dry_run": dryRun()}, "name"), output: whole,
			call: writeCall(map[string]any{"dry_run": dryRun()}, createIn(s.Directory.Applications)),
		},
		{
			name: "service_update_application", title: "Replace an application", effect: replaces,
			description: "Replaces the application with the given id as a whole: omitted members are removed or reset to their defaults. Get the application first, change it, and send all of it. An omitted client secret stays.",
			input:       application.with(map[string]any{"dry_run": dryRun()}, "id", "name"), output: whole,
			call: writeCall(map[string]any{"id": text("The id of the application."), "dry_run": dryRun()}, s.replaceApplication, "id"),
		},
		typedCall(tool{
			name: "service_get_application_templates", title: "Get application templates",
			description: "Returns a minimal OAuth application for each type: SPA (in a browser), MOBILE (on a device), SERVER (with a server that keeps a secret) and M2M (a program without users). Replace the placeholders in angle brackets, and pass the template to service_create_application.",
			input:       object(map[string]any{}), output: templatesShape(application),
		}, getTemplates),
	}
}

// applicationSummary are the members of an application in a list.
func applicationSummary() []string {
	return []string{"id", "name", "type", "description", "url", "clientId"}
}

func (s *Server) listApplications(ctx context.Context, c directory.Call, _ *struct{}) (*toolAnswer, error) {
	page, err := s.Directory.Applications.List(ctx, c, directory.Query{Limit: maxListed})
	if err != nil {
		return nil, err
	}
	result, err := listAnswer(page, "applications", applicationSummary())
	if listed := len(page.Items); err == nil && page.Total > listed {
		result.notes = append(result.notes, fmt.Sprintf("Only the oldest %d of %d are listed. Get others by their id or client id.", listed, page.Total))
	}
	return result, err
}

type byClientID struct {
	ClientID string `json:"client_id"`
}

func (s *Server) applicationByClientID(ctx context.Context, c directory.Call, in *byClientID) (*toolAnswer, error) {
	page, err := s.Directory.Applications.List(ctx, c, directory.Query{Limit: 1, Filter: "clientId", Value: in.ClientID})
	if err != nil {
		return nil, err
	}
	if len(page.Items) == 0 {
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "there is no application with the client id %.64q", in.ClientID)
	}
	return itemAnswer(&page.Items[0]), nil
}

func (s *Server) replaceApplication(ctx context.Context, c directory.Call, w *writeArguments) (*directory.Item, error) {
	return s.Directory.Applications.Replace(ctx, c, w.how.ID, "", w.document)
}

//go:embed templates.json
var templates []byte

// templatesShape is the schema of the templates.
func templatesShape(application shape) shape {
	item := object(map[string]any{
		"type":         text("The type of the application."),
		"description":  text("When to use it, and the values of its placeholders."),
		"placeholders": map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": "The placeholders in angle brackets."},
		"application":  maps.Clone(application.outline()),
	}, "type", "description", "placeholders", "application")
	return object(map[string]any{"templates": map[string]any{"type": "array", "items": item}}, "templates")
}

// getTemplates returns the templates unchanged.
func getTemplates(context.Context, directory.Call, *struct{}) (*toolAnswer, error) {
	return &toolAnswer{value: json.RawMessage(templates)}, nil
}
