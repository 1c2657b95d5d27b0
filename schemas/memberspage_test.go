package schemas

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

var updatePage = flag.Bool("update", false, "rewrite docs/members.md")

// documented are the nouns in the order of the page.
func documented() []string {
	return []string{"application", "user", "user-type", "group", "role", "resource-server", "identity-provider", "organization-unit"}
}

// The page of all members has the groups, the order and the descriptions of the schemas.
func TestMembersPage(t *testing.T) {
	const file = "../docs/members.md"
	var b strings.Builder
	b.WriteString("# Members of resources\n\nThis page is generated from the JSON Schemas of the resources; do not edit it. The forms of the console have the same groups and\n" +
		"texts, and `/openapi.json` of a server has the schemas with all limits. [api.md](api.md#resources) describes the requests.\n")
	for _, noun := range documented() {
		writeNoun(t, &b, noun)
	}
	if *updatePage {
		datatest.WriteFile(t, file, b.String())
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != b.String() {
		t.Errorf("%s is outdated (%v): run go test ./schemas -run MembersPage -update", file, err)
	}
}

func writeNoun(t *testing.T, b *strings.Builder, noun string) {
	t.Helper()
	text := datatest.ReadFile(t, noun+".schema.json")
	d, problems := ParseJSON(text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var root form
	datatest.Unmarshal(t, text, &root)
	page := memberPage{root: d.root, rows: map[string][]string{}}
	page.collect(d.root, "", "", nil)
	fmt.Fprintf(b, "\n## %s\n\n%s\n", root.Title, root.Description)
	for _, group := range root.Groups {
		fmt.Fprintf(b, "\n### %s: %s\n\n%s\n", root.Title, strings.ToLower(group.Title[:1])+group.Title[1:], group.Description)
		for _, section := range group.Sections {
			rows := page.rows[group.Name+"/"+section.Name]
			fmt.Fprintf(b, "\n| %s | |\n|---|---|\n%s", section.Title, strings.Join(rows, ""))
		}
	}
	if rows := page.rows[""]; len(rows) > 0 {
		fmt.Fprintf(b, "\n### %s: set by the server\n\nThese members are read-only.\n\n| member | |\n|---|---|\n%s", root.Title, strings.Join(rows, ""))
	}
}

// memberPage collects the rows of a noun by the places of its members.
type memberPage struct {
	root *element
	rows map[string][]string
}

func textOf(e *element, name string) string {
	if m := e.member(name); m != nil {
		return m.value.text
	}
	return ""
}

// resolve returns the schema that a reference of another one leads to, and its name.
func (p memberPage) resolve(e *element) (*element, string) {
	if name, isRef := strings.CutPrefix(textOf(e, "$ref"), "#/$defs/"); isRef {
		return p.root.member("$defs").value.member(name).value, name
	}
	return e, ""
}

// collect adds the members of a schema. within are the definitions around it.
func (p memberPage) collect(schema *element, path, place string, within []string) {
	schema, name := p.resolve(schema)
	if slices.Contains(within, name) && name != "" {
		return
	}
	within = append(slices.Clone(within), name)
	if items := schema.member("items"); items != nil {
		p.collect(items.value, path+"[]", place, within)
	}
	properties := schema.member("properties")
	if properties == nil {
		return
	}
	for _, m := range properties.value.members() {
		at, own := strings.TrimPrefix(path+"."+m.name, "."), textOf(m.value, "x-group")
		if own == "" {
			own = place
		}
		if m.value.member("x-hidden") != nil {
			continue
		}
		if own != "" || m.value.member("readOnly") != nil {
			p.rows[own] = append(p.rows[own], row(at, m.value))
		}
		p.collect(m.value, at, own, within)
	}
}

// row describes a member.
func row(path string, schema *element) string {
	description := textOf(schema, "description")
	if values := schema.member("enum"); values != nil && len(values.value.items) > 1 {
		var list []string
		for _, value := range values.value.items {
			if value.text != "" {
				list = append(list, "`"+value.text+"`")
			}
		}
		description += " One of " + strings.Join(list, ", ") + "."
	}
	return fmt.Sprintf("| `%s` | **%s**. %s |\n", path, textOf(schema, "title"), strings.ReplaceAll(description, "|", `\|`))
}
