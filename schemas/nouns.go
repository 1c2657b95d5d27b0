package schemas

import (
	"embed"
	"strings"
	"sync"
)

//go:embed *.schema.json
var files embed.FS

// Each schema is compiled when it is first asked for: most commands of the
// program need one of them, if any.
var (
	flowSchema        = sync.OnceValue(func() *Schema { return embedded("flow") })
	userSchema        = sync.OnceValue(func() *Schema { return embedded("user") })
	credentialSchema  = sync.OnceValue(func() *Schema { return embedded("credential") })
	applicationSchema = sync.OnceValue(func() *Schema { return embedded("application") })
	unitSchema        = sync.OnceValue(func() *Schema { return embedded("organization-unit") })
	userTypeSchema    = sync.OnceValue(func() *Schema { return embedded("user-type") })
	groupSchema       = sync.OnceValue(func() *Schema { return embedded("group") })
	roleSchema        = sync.OnceValue(func() *Schema { return embedded("role") })
	providerSchema    = sync.OnceValue(func() *Schema { return embedded("identity-provider") })
	serverSchema      = sync.OnceValue(func() *Schema { return embedded("resource-server") })
)

// FlowSchema is the JSON Schema of a Flow. What stands under a node's "with" is
// any object to it: each kind of node has a schema of its own for that.
func FlowSchema() *Schema { return flowSchema() }

// UserSchema is the JSON Schema of a User, whose attributes are any object to
// it: each user type has a schema of its own for them.
func UserSchema() *Schema { return userSchema() }

// CredentialSchema is the JSON Schema of a Credential.
func CredentialSchema() *Schema { return credentialSchema() }

// ApplicationSchema is the JSON Schema of an Application.
func ApplicationSchema() *Schema { return applicationSchema() }

// OrganizationUnitSchema is the JSON Schema of an OrganizationUnit.
func OrganizationUnitSchema() *Schema { return unitSchema() }

// UserTypeSchema is the JSON Schema of a UserType.
func UserTypeSchema() *Schema { return userTypeSchema() }

// GroupSchema is the JSON Schema of a Group.
func GroupSchema() *Schema { return groupSchema() }

// RoleSchema is the JSON Schema of a Role.
func RoleSchema() *Schema { return roleSchema() }

// ResourceServerSchema is the JSON Schema of a ResourceServer.
func ResourceServerSchema() *Schema { return serverSchema() }

// IdentityProviderSchema is the JSON Schema of an IdentityProvider.
func IdentityProviderSchema() *Schema { return providerSchema() }

func embedded(noun string) *Schema {
	text, err := files.ReadFile(noun + ".schema.json")
	if err != nil {
		panic(err)
	}
	return MustSchema(noun, string(text))
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
	flow := new(Flow)
	if problems := d.Decode(FlowSchema(), flow); len(problems) > 0 {
		return nil, d, problems
	}
	return flow, d, nil
}

// DisplayName is a noun as people write it: "organization unit" for "organizationUnit".
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
