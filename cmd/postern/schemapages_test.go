package main

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

var updateSchemas = flag.Bool("update", false, "rewrite docs/schemas")

// The schemas in docs/schemas, which editors use in a checkout, equal the published ones.
func TestPublishedSchemasAreUpToDate(t *testing.T) {
	for _, name := range []string{"flow", "scenario"} {
		text, err := schemaText(name, nodes.Kinds(nodes.Deps{}))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "docs", "schemas", name+".schema.json")
		if *updateSchemas {
			datatest.WriteFile(t, path, text)
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != string(text) {
			t.Errorf("%s is not what is published (%v); run go test ./cmd/postern -run Schemas -update", path, err)
		}
	}
}

// An editor with only the flow schema accepts every valid flow, and finds an unknown member
// of a kind.
func TestFlowSchemaFitsFlows(t *testing.T) {
	text, err := schemaText("flow", nodes.Kinds(nodes.Deps{}))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := schemas.CompileSchema("flow", text)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../flows/testdata/good/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no good flows", err)
	}
	for _, file := range files {
		text := datatest.ReadFile(t, file)
		doc, problems := schemas.ParseYAML(text)
		if doc == nil {
			t.Fatal(problems)
		}
		if problems := schema.Check(doc.JSON()); len(problems) > 0 {
			t.Errorf("%s: %v", file, problems)
		}
	}
	bad := `{"handle":"f","name":"f","flowType":"AUTHENTICATION","nodes":[{"id":"k","use":"passkey-authenticate","with":{"mod":"auto"}}]}`
	if len(schema.Check([]byte(bad))) == 0 {
		t.Error("a member that the kind does not have is accepted")
	}
}

// The comment of a built-in flow or scenario file refers editors to its schema.
func TestBuiltinFilesNameTheirSchemas(t *testing.T) {
	files, err := filepath.Glob("../../flows/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text := datatest.ReadFile(t, file)
		kind := "flow"
		if strings.HasSuffix(file, "_test.yaml") {
			kind = "scenario"
		}
		if want := "# yaml-language-server: $schema=../docs/schemas/" + kind + ".schema.json\n"; !strings.HasPrefix(string(text), want) {
			t.Errorf("%s does not begin with\n%s", file, want)
		}
	}
}

func TestSchemaPages(t *testing.T) {
	h := schemaPages()
	get := func(method, path, match string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
		r.Header.Set("If-None-Match", match)
		h.ServeHTTP(w, r)
		return w
	}
	for _, name := range publishedSchemas() {
		w := get("GET", "/schemas/"+name+".json", "")
		if w.Code != http.StatusOK || w.Header().Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(w.Header().Get("Cache-Control"), "public") {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
		if again := get("GET", "/schemas/"+name+".json", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s again: %d", name, again.Code)
		}
	}
	if w := get("GET", "/schemas/flow.json", ""); w.Body.String() == get("GET", "/schemas/scenario.json", "").Body.String() || !strings.Contains(w.Body.String(), `"passkey-register"`) {
		t.Error("the schema of flows knows no kinds")
	}
	for _, path := range []string{"/schemas/", "/schemas/flow", "/schemas/../flow.json", "/schemas/nothing.json"} {
		if w := get("GET", path, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := get("POST", "/schemas/flow.json", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}
