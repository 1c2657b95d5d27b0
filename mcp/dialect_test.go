package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// Schemas of the tools are read by clients that know one type for each value: every
// schema of a value has a single type, or is a reference, or chooses between such.
func TestSchemasHaveSingleTypes(t *testing.T) {
	for _, tool := range rawTools(t) {
		for _, member := range []string{"inputSchema", "outputSchema"} {
			checkTyped(t, tool["name"].(string)+" "+member, tool[member])
		}
	}
}

func rawTools(t *testing.T) []map[string]any {
	_, body := newFixture(t).post(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	var m struct {
		Result struct{ Tools []map[string]any }
	}
	must(t, json.Unmarshal(body, &m))
	return m.Result.Tools
}

// checkTyped reports each schema below that says nothing of its type.
func checkTyped(t *testing.T, path string, schema any) {
	t.Helper()
	s, ok := schema.(map[string]any)
	if !ok {
		t.Errorf("%s is %v, expected a schema", path, schema)
		return
	}
	kind, typed := s["type"].(string)
	branches, chooses := s["anyOf"].([]any)
	switch _, refers := s["$ref"]; {
	case s["type"] != nil && !typed:
		t.Errorf("%s has the types %v, expected one", path, s["type"])
	case !typed && !refers && !chooses:
		t.Errorf("%s has no type: %v", path, s)
	case kind == "array" && s["items"] == nil:
		t.Errorf("%s is an array of anything", path)
	}
	for i, branch := range branches {
		checkTyped(t, fmt.Sprintf("%s.anyOf[%d]", path, i), branch)
	}
	for _, members := range []string{"properties", "$defs"} {
		below, _ := s[members].(map[string]any)
		for name, schema := range below {
			checkTyped(t, path+"."+name, schema)
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if below := s[keyword]; below != nil && below != false && below != true {
			checkTyped(t, path+"."+keyword, below)
		}
	}
}

// Every property of an application's schema that has an address says what it is.
func TestAddressesHaveATypeInAnswers(t *testing.T) {
	found := 0
	for _, tool := range rawTools(t) {
		output := tool["outputSchema"].(map[string]any)["properties"].(map[string]any)
		for name, schema := range output {
			if !slices.Contains([]string{"url", "logoUrl", "tosUri", "policyUri"}, name) {
				continue
			}
			found++
			if schema.(map[string]any)["type"] != "string" {
				t.Errorf("%s: %s is %v, expected a string", tool["name"], name, schema)
			}
		}
	}
	if found == 0 {
		t.Error("no answer has an address")
	}
}
