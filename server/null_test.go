package server_test

import (
	"reflect"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
)

// Every optional member of every schema may be null, and then is as if left out.
func TestNullMeansAbsentInEveryResource(t *testing.T) {
	eachNoun(t, newTestServer(t), func(t *testing.T, h *testServer, n directory.Noun, s sample) {
		var body, schema map[string]any
		datatest.Unmarshal(t, []byte(numbered(s.body, "1")), &body)
		datatest.Unmarshal(t, n.Schema().Raw(), &schema)
		plain, _ := h.ok(201, "POST "+n.Path, asJSON(t, body))
		at := n.Path + "/" + plain.text("id")
		before, _ := h.ok(200, "GET "+at, "")
		for member := range schema["properties"].(map[string]any) {
			if _, named := body[member]; !named {
				body[member] = nil
			}
		}
		h.ok(200, "PUT "+at, asJSON(t, body))
		if after, _ := h.ok(200, "GET "+at, ""); !reflect.DeepEqual(after, before) {
			t.Errorf("with null for every other member it became\n%v, not\n%v", after, before)
		}
	})
}

// In a JSON Schema null is a value.
func TestNullStaysInTheSchemaOfAUserType(t *testing.T) {
	h := newTestServer(t)
	made, _ := h.ok(201, "POST /user-types", `{"name":"Type","description":null,"schema":{"type":"object","properties":{"username":{"type":"string"},"nick":{"default":null}}}}`)
	nick := made["schema"].(map[string]any)["properties"].(map[string]any)["nick"].(map[string]any)
	if _, kept := nick["default"]; !kept {
		t.Errorf("%v", made)
	}
}
