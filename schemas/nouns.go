package schemas

import (
	"embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed *.schema.json
var files embed.FS

// FlowSchema is the JSON Schema of a Flow. It accepts any object as the "with" of a node: each kind
// of node has its own schema for that.
func FlowSchema() *Schema { return embedded("flow") }

// UserSchema is the JSON Schema of a User. It accepts any object as the attributes: each user type
// has its own schema for them.
func UserSchema() *Schema { return embedded("user") }

// CredentialSchema is the JSON Schema of a Credential.
func CredentialSchema() *Schema { return embedded("credential") }

// ApplicationSchema is the JSON Schema of an Application.
func ApplicationSchema() *Schema { return embedded("application") }

// OrganizationUnitSchema is the JSON Schema of an OrganizationUnit.
func OrganizationUnitSchema() *Schema { return embedded("organization-unit") }

// UserTypeSchema is the JSON Schema of a UserType.
func UserTypeSchema() *Schema { return embedded("user-type") }

// GroupSchema is the JSON Schema of a Group.
func GroupSchema() *Schema { return embedded("group") }

// RoleSchema is the JSON Schema of a Role.
func RoleSchema() *Schema { return embedded("role") }

// ResourceServerSchema is the JSON Schema of a ResourceServer.
func ResourceServerSchema() *Schema { return embedded("resource-server") }

// IdentityProviderSchema is the JSON Schema of an IdentityProvider.
func IdentityProviderSchema() *Schema { return embedded("identity-provider") }

// ReadOnlyMembers returns the members of a noun that only the server sets, and ignores in requests, with what they are.
func ReadOnlyMembers(noun string) map[string]string {
	kebab := capital.ReplaceAllStringFunc(noun, func(letter string) string { return "-" + strings.ToLower(letter) })
	text, err := files.ReadFile(kebab + ".schema.json")
	if err != nil {
		panic(err)
	}
	var schema struct {
		Properties map[string]struct {
			ReadOnly    bool
			Description string
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		panic(err)
	}
	members := map[string]string{}
	for name, p := range schema.Properties {
		if p.ReadOnly {
			members[name] = strings.TrimSuffix(p.Description, " Read-only; ignored in requests.")
		}
	}
	return members
}

var capital = regexp.MustCompile("[A-Z]")

// ofFiles are the schemas of the files, by name.
var ofFiles sync.Map

func embedded(noun string) *Schema {
	if s, ok := ofFiles.Load(noun); ok {
		return s.(*Schema)
	}
	text, err := files.ReadFile(noun + ".schema.json")
	if err != nil {
		panic(err)
	}
	s := MustSchema(noun, string(text))
	ofFiles.Store(noun, s)
	return s
}

// ParseFlow reads a flow definition from YAML or JSON text and checks it against FlowSchema. The
// engine checks the meaning of the graph. The flow is nil if there are problems; the document is
// nil if the text could not be parsed.
func ParseFlow(data []byte, yaml bool) (*Flow, *Document, []Problem) {
	parse := ParseJSON
	if yaml {
		parse = ParseYAML
	}
	d, problems := parse(data)
	if len(problems) > 0 {
		return nil, nil, problems
	}
	flow, problems := ReadFlow(d)
	return flow, d.WithoutNulls(), problems
}

// ReadFlow is ParseFlow for a text that is parsed.
func ReadFlow(d *Document) (*Flow, []Problem) {
	flow := new(Flow)
	if d.nodes != nil && len(d.frame().Decode(FlowSchema(), flow)) == 0 {
		flow.Nodes = slices.Clone(d.nodes)
		return flow, nil
	}
	if problems := d.Decode(FlowSchema(), flow); len(problems) > 0 {
		return nil, problems
	}
	return flow, nil
}

// DisplayName returns a noun in words: "organization unit" for "organizationUnit".
func DisplayName(noun string) string {
	var b strings.Builder
	for _, c := range noun {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte(' ')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
