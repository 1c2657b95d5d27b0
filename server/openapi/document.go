package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Info describes the whole API.
type Info struct {
	Title, Description string
	Server             string // the base URL
	// Error and OAuthError are the names of the schemas of error replies.
	Error, OAuthError string
}

// Document returns the OpenAPI 3.1.0 document of the operations, as JSON. It fails if two operations
// have the same method and path or the same ID, or if a schema cannot be made.
func Document(info Info, operations []Operation, named Named) ([]byte, error) {
	c, err := newComponents(named)
	if err != nil {
		return nil, err
	}
	paths, ids := object{}, map[string]bool{}
	for i := range operations {
		o := &operations[i]
		if ids[o.ID] {
			return nil, fmt.Errorf("openapi: two operations are named %q", o.ID)
		}
		ids[o.ID] = true
		described, err := c.operation(&info, o)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Method, o.Path, err)
		}
		at, _ := paths[o.Path].(object)
		if at == nil {
			at = object{}
			paths[o.Path] = at
		}
		at[strings.ToLower(o.Method)] = described
	}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info":    object{"title": info.Title, "version": "1", "description": info.Description},
		"servers": []object{{"url": info.Server}},
		"paths":   paths,
		"components": object{
			"schemas": c.schemas,
			"securitySchemes": object{"token": object{
				"type": "http", "scheme": "bearer",
				"description": "An access token, or the assertion of a sign-in. The roles of an operation are the permission that it needs.",
			}},
		},
	})
}

// operation returns the Operation Object (OpenAPI 3.1.0 §4.8.10).
func (c *components) operation(info *Info, o *Operation) (object, error) {
	responses, err := c.responses(info, o)
	if err != nil {
		return nil, err
	}
	described := object{"operationId": o.ID, "summary": o.Summary, "tags": []string{o.Group}, "responses": responses}
	if parameters := o.parameters(); len(parameters) > 0 {
		described["parameters"] = parameters
	}
	if o.Needs.Token {
		roles := []string{}
		if o.Needs.Permission != "" {
			roles = append(roles, o.Needs.Permission)
		}
		described["security"] = []object{{"token": roles}}
	}
	if o.Body.Type == nil {
		return described, nil
	}
	schema, err := c.bodySchema(o.Body)
	described["requestBody"] = object{"required": !o.Body.Optional, "content": object{o.Body.mediaType(): object{"schema": schema}}}
	return described, err
}

// bodySchema returns the schema of a request body. A Go type does not state which members a request
// needs; all others may be absent.
func (c *components) bodySchema(b Body) (object, error) {
	schema, err := c.schemaOf(b.Type)
	if _, named := b.Type.(Ref); err != nil || named {
		return schema, err
	}
	walk(schema, func(o object) {
		if _, isList := o["required"].([]any); isList {
			delete(o, "required")
		}
	})
	if len(b.Required) > 0 {
		schema["required"] = b.Required
	}
	return schema, nil
}

func (c *components) responses(info *Info, o *Operation) (object, error) {
	failure := any(Ref(info.Error))
	if o.OAuth {
		failure = Ref(info.OAuthError)
	}
	failed, err := c.schemaOf(cmp.Or(o.Failure, failure))
	if err != nil {
		return nil, err
	}
	success := object{"description": http.StatusText(o.Status)}
	if o.Reply != nil {
		schema, err := c.schemaOf(o.Reply)
		if err != nil {
			return nil, err
		}
		success["content"] = object{jsonType: object{"schema": schema}}
	}
	described := object{
		strconv.Itoa(o.Status): success,
		"default":              object{"description": "The request failed.", "content": object{jsonType: object{"schema": failed}}},
	}
	empty := o.Empty
	if o.Concealable {
		empty = "The change was made. The caller may not read the resource."
	}
	if empty != "" {
		described[strconv.Itoa(http.StatusNoContent)] = object{"description": empty}
	}
	return described, nil
}

// parameters returns the variables of the path, and the parameters of the query.
func (o *Operation) parameters() (list []object) {
	for _, name := range o.variables() {
		list = append(list, object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, p := range o.Query {
		kind := "string"
		if p.Integer {
			kind = "integer"
		}
		list = append(list, object{"name": p.Name, "in": "query", "description": cmp.Or(p.Description, p.Name), "schema": object{"type": kind}})
	}
	return list
}
