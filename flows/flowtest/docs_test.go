package flowtest_test

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

var updateDocs = flag.Bool("update-docs", false, "rewrite the tables of docs/testing.md")

// docs/testing.md lists every member and every fault, with the descriptions of the schema.
func TestDocumentedMembers(t *testing.T) {
	const path = "../../docs/testing.md"
	page := datatest.ReadFile(t, path)
	schema := readSchema(t)
	defs := member(schema, "$defs")
	reported := map[string]bool{}
	tables := regexp.MustCompile(`(?s)<!-- (members (\w+)|(?:provider )?faults) -->\n.*?<!-- end -->`)
	written := tables.ReplaceAllStringFunc(string(page), func(block string) string {
		found := tables.FindStringSubmatch(block)
		reported[found[2]] = true
		rows := faultRows(found[1])
		if found[2] != "" {
			rows = table(t, schema, found[2])
		}
		return fmt.Sprintf("<!-- %s -->\n%s<!-- end -->", found[1], rows)
	})
	for i := 0; i < len(defs.Content); i += 2 {
		if name := defs.Content[i].Value; member(defs.Content[i+1], "properties") != nil && !reported[name] {
			t.Errorf("docs/testing.md has no table of %s", name)
		}
	}
	if *updateDocs {
		datatest.WriteFile(t, path, written)
		return
	}
	if written != string(page) {
		t.Error("docs/testing.md is not what the schema says; run go test ./flows/flowtest -run Documented -update-docs")
	}
}

// The definitions of applications do not replace those of scenarios.
func TestDefinitionsAreDistinct(t *testing.T) {
	var application yaml.Node
	if err := yaml.Unmarshal(schemas.ApplicationSchema().Raw(), &application); err != nil {
		t.Fatal(err)
	}
	if added := member(application.Content[0], "$defs"); added != nil {
		for i := 0; i < len(added.Content); i += 2 {
			if name := added.Content[i].Value; member(readSchema(t), "$defs", name) != nil {
				t.Errorf("both schemas define %s", name)
			}
		}
	}
}

// readSchema reads the schema in the order of the file.
func readSchema(t *testing.T) *yaml.Node {
	text := datatest.ReadFile(t, "scenario.schema.json")
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

// faultRows returns the table of the faults of devices, or of providers.
func faultRows(of string) string {
	var b strings.Builder
	if of == "provider faults" {
		b.WriteString("| fault | the provider |\n|---|---|\n")
		for _, d := range federationtest.Catalog() {
			fmt.Fprintf(&b, "| `%s` | %s |\n", d.Fault, d.Doc)
		}
		return b.String()
	}
	b.WriteString("| fault | in | the device |\n|---|---|---|\n")
	for _, d := range passkeytest.Catalog() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d.Fault, d.Ceremony, d.Doc)
	}
	return b.String()
}

// table returns the table of the members of a definition, or of the whole file.
func table(t *testing.T, schema *yaml.Node, of string) string {
	var b strings.Builder
	object := schema
	if of != "file" {
		object = member(schema, "$defs", of)
	}
	members := member(object, "properties")
	if members == nil {
		t.Fatalf("there is no definition of %s", of)
	}
	b.WriteString("| member | type | description |\n|---|---|---|\n")
	for i := 0; i < len(members.Content); i += 2 {
		name, described := members.Content[i].Value, members.Content[i+1]
		doc := text(described, "description")
		if ref := reference(described); doc == "" && ref != "" && name != "fault" {
			doc = text(member(schema, "$defs", ref), "description")
		}
		switch reference(described) {
		case "fault":
			doc = "How the authenticator or its browser misbehaves: see below."
		case "federationFault":
			doc = "How the provider, or the browser on return from it, misbehaves: see below."
		}
		if doc == "" {
			t.Errorf("%s: %s has no description", of, name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, shape(described), doc)
	}
	return b.String()
}

// shape describes the type of a value.
func shape(schema *yaml.Node) string {
	switch ref := reference(schema); ref {
	case "":
	case "duration":
		return "duration"
	case "fault":
		return "[fault](#faults)"
	case "federationFault":
		return "[fault](#faults-of-providers)"
	case "application":
		return "members of an application"
	default:
		return fmt.Sprintf("[%s](#%s)", ref, ref)
	}
	if values := member(schema, "enum"); values != nil {
		var words []string
		for _, v := range values.Content {
			words = append(words, "`"+v.Value+"`")
		}
		return strings.Join(words, ", ")
	}
	switch kind := text(schema, "type"); kind {
	case "array":
		return "list: " + shape(member(schema, "items"))
	case "object":
		if values := member(schema, "additionalProperties"); values != nil && values.Kind == yaml.MappingNode {
			return "by name: " + shape(values)
		}
		return kind
	case "string":
		if text(schema, "format") == "date-time" {
			return "time"
		}
		return "text"
	default:
		return kind
	}
}

func reference(schema *yaml.Node) string {
	return strings.TrimPrefix(text(schema, "$ref"), "#/$defs/")
}

func text(n *yaml.Node, name string) string {
	if m := member(n, name); m != nil {
		return m.Value
	}
	return ""
}

// member returns the node at a path of mapping keys.
func member(n *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		var next *yaml.Node
		for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				next = n.Content[i+1]
			}
		}
		n = next
	}
	return n
}
