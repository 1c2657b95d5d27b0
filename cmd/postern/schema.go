package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

type schemaCommand struct {
	Name string `arg:"" optional:"" default:"flow" help:"flow, scenario, config, user, application, credential, or the name of a kind of node."`
}

// Run prints a JSON Schema. The flow schema contains the configuration of every kind of
// node, so that an editor can complete and check it.
func (c schemaCommand) Run(p program) error {
	text, err := schemaText(c.Name, nodes.Kinds(nodes.Deps{}))
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(text)
	return err
}

// fixedSchemas are the schemas that do not depend on the kinds of nodes.
func fixedSchemas() map[string]func() *schemas.Schema {
	return map[string]func() *schemas.Schema{
		"scenario":    flowtest.Schema,
		"config":      config.Schema,
		"user":        schemas.UserSchema,
		"application": schemas.ApplicationSchema,
		"credential":  schemas.CredentialSchema,
	}
}

// schemaText is a published schema as served, written to docs/schemas, and printed.
func schemaText(name string, kinds engine.Kinds) ([]byte, error) {
	var schema any
	var err error
	switch fixed := fixedSchemas()[name]; {
	case name == "flow":
		schema, err = flows.Schema(kinds)
	case fixed != nil:
		schema = fixed().Raw()
	case kinds[name] != nil:
		schema, err = flows.KindSchema(kinds[name])
	default:
		return nil, unknownSchemaError(name, publishedSchemas(), slices.Sorted(maps.Keys(kinds)))
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(schema)
	return out.Bytes(), err
}

// unknownSchemaError lists the known names.
func unknownSchemaError(name string, things, kinds []string) error {
	if near := schemas.Suggest(name, slices.Concat(things, kinds)); near != "" {
		return fmt.Errorf("there is no schema %q; did you mean %q?", name, near)
	}
	return fmt.Errorf("there is no schema %q; expected one of %s, or a kind of node: %s",
		name, strings.Join(things, ", "), strings.Join(kinds, ", "))
}
