package server_test

import (
	"reflect"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
)

// An empty string in an optional text member of a resource means that the member is absent,
// unless the schema sets a minimum length, as for secrets.
func TestEmptyTextMeansAbsentInEveryResource(t *testing.T) {
	eachNoun(t, newTestServer(t), func(t *testing.T, h *testServer, n directory.Noun, s sample) {
		var body, schema map[string]any
		datatest.Unmarshal(t, []byte(numbered(s.body, "1")), &body)
		datatest.Unmarshal(t, n.Schema().Raw(), &schema)
		plain, _ := h.ok(201, "POST "+n.Path, asJSON(t, body))
		at := n.Path + "/" + plain.text("id")
		before, _ := h.ok(200, "GET "+at, "")
		for member, property := range schema["properties"].(map[string]any) {
			property := property.(map[string]any)
			if _, named := body[member]; named || property["type"] != "string" {
				continue
			}
			body[member] = ""
			status := 200
			if property["minLength"] != nil {
				status = 400
			}
			if rec := h.do("PUT", at, asJSON(t, body), h.admin); rec.Code != status {
				t.Errorf("%s: %d %s", member, rec.Code, rec.Body)
			} else if after, _ := h.ok(200, "GET "+at, ""); !reflect.DeepEqual(after, before) {
				t.Errorf("with an empty %s it became\n%v, not\n%v", member, after, before)
			}
			delete(body, member)
		}
	})
}
