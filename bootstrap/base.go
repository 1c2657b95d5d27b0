package bootstrap

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/schemas"
)

// The ids of seeded resources are the same in every store. A client can name an application
// before it has contacted the server, and an export of one store fits another.
const (
	ConsoleID        = "01900000-0000-7000-8000-000000000001"
	TryID            = "01900000-0000-7000-8000-000000000002"
	ExamplesID       = "01900000-0000-7000-8000-000000000003" // the client of the web applications in examples/
	ExampleToolsID   = "01900000-0000-7000-8000-000000000004" // the client of examples/mcp-client
	ExampleReactID   = "01900000-0000-7000-8000-000000000005" // the client of examples/react
	DefaultUnitID    = "01900000-0000-7000-8000-000000000010" // the organization unit "default"
	AdministratorsID = "01900000-0000-7000-8000-000000000040" // the group of the administrators
)

//go:embed seed.yaml
var seedText []byte

//go:embed try.yaml
var tryText []byte

//go:embed examples.yaml
var examplesText []byte

// flowIDs maps the handles of built-in flows to their ids.
func flowIDs() map[string]string {
	return map[string]string{
		"sign-in":               "01900000-0000-7000-8000-000000000060",
		"passkey-sign-in":       "01900000-0000-7000-8000-000000000061",
		"passkey-sign-up":       "01900000-0000-7000-8000-000000000062",
		"password-sign-in":      "01900000-0000-7000-8000-000000000063",
		"password-sign-up":      "01900000-0000-7000-8000-000000000064",
		"password-then-passkey": "01900000-0000-7000-8000-000000000065",
		"forgotten-password":    "01900000-0000-7000-8000-000000000066",
		"lost-passkey":          "01900000-0000-7000-8000-000000000067",
		"invitation":            "01900000-0000-7000-8000-000000000068",
		"change-address":        "01900000-0000-7000-8000-000000000069",
	}
}

// FlowHandles lists the handles of the built-in flows.
func FlowHandles() []string { return slices.Sorted(maps.Keys(flowIDs())) }

// baseResources returns the initial resources of a store, without administrators. The
// redirect URIs are the console's; the first is also its address, to which the hosted pages lead.
func baseResources(redirectURIs []string) ([]declare.Resource, error) {
	resources, err := declare.ReadSeed("seed.yaml", seedText)
	if err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	for i, r := range resources {
		if r.Document.TextAt("id") == ConsoleID {
			resources[i].Document = r.Document.Edited(map[string]any{"url": redirectURIs[0], redirectsPath: redirectURIs})
		}
	}
	person := schemas.Person()
	resources = append(resources, newResource("userTypes", "person.schema.json", map[string]any{
		"id": person.ID, "name": person.Name, "description": person.Description, "ouId": "default", "schema": person.Schema,
	}))
	builtin, err := flows.Builtin()
	if err != nil {
		return nil, err
	}
	for _, f := range builtin {
		f.ID = flowIDs()[f.Handle]
		resources = append(resources, newResource("flows", "flows/"+f.Handle+".yaml", f))
	}
	return resources, nil
}

// newResource returns a resource from a Go value.
func newResource(plural, file string, value any) declare.Resource {
	noun, ok := declare.NounOf(plural)
	if !ok {
		panic("bootstrap: there are no " + plural)
	}
	return declare.Resource{Noun: noun, Document: document(value), File: file}
}

// document converts a Go value to a document.
func document(value any) *schemas.Document {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("bootstrap: %T has no JSON: %v", value, err))
	}
	d, problems := schemas.ParseJSON(text)
	if len(problems) > 0 {
		panic("bootstrap: " + problems[0].String())
	}
	return d
}

// redirectsPath is the path of an application's redirect URIs.
const redirectsPath = "inboundAuthConfig[0].config.redirectUris"
