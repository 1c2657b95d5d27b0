package flowtest

import (
	_ "embed"
	"encoding/json"
	"maps"
	"sync"

	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

//go:embed scenario.schema.json
var scenarioSchemaText string

// Schema returns the JSON Schema of scenario files. It includes the members of an
// application and all faults of an authenticator, and accepts placeholders of tables.
func Schema() *schemas.Schema { return looseSchema() }

// SchemaWithoutTables returns the schema of scenarios without placeholders: it lists the values of
// each member.
func SchemaWithoutTables() *schemas.Schema { return strictSchema() }

var (
	strictSchema = sync.OnceValue(func() *schemas.Schema { return buildSchema(func(map[string]any) {}) })
	looseSchema  = sync.OnceValue(func() *schemas.Schema { return buildSchema(loosen) })
)

// buildSchema returns the schema, after a change of its definitions.
func buildSchema(change func(defs map[string]any)) *schemas.Schema {
	scenario, defs := definitionsOf([]byte(scenarioSchemaText))
	application, more := definitionsOf(schemas.ApplicationSchema().Raw())
	maps.Copy(defs, more)
	defs["application"] = map[string]any{
		"type": "object", "additionalProperties": false, "properties": application["properties"],
		"description": "Members of an application.",
	}
	defs["fault"] = faultSchema("How the authenticator or its browser misbehaves.", passkeytest.Catalog(), func(d passkeytest.Description) (string, string) {
		if d.Ceremony == "both" {
			return string(d.Fault), "The device " + d.Doc + "."
		}
		return string(d.Fault), "The device " + d.Doc + ". Only for " + d.Ceremony + "."
	})
	defs["federationFault"] = faultSchema("How the provider, or the browser on return from it, misbehaves.", federationtest.Catalog(), func(d federationtest.Description) (string, string) {
		return string(d.Fault), "The provider " + d.Doc + "."
	})
	change(defs)
	text, _ := json.Marshal(scenario) // it was JSON
	return schemas.MustSchema("scenario", string(text))
}

// definitionsOf returns a schema of this program, and its definitions.
func definitionsOf(text json.RawMessage) (schema, definitions map[string]any) {
	schema = toJSON(text).(map[string]any)
	definitions, _ = schema["$defs"].(map[string]any)
	return schema, definitions
}

// faultSchema returns the schema of faults, with the descriptions that editors show.
func faultSchema[T any](about string, catalog []T, describe func(T) (fault, doc string)) map[string]any {
	var names, docs []string
	for _, d := range catalog {
		name, doc := describe(d)
		names, docs = append(names, name), append(docs, doc)
	}
	return map[string]any{"enum": names, "enumDescriptions": docs, "description": about + " The rest of the answer is correct, signatures included."}
}
