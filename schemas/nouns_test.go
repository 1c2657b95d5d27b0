package schemas

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
)

// TestSchemasMatchTypes keeps each published schema and its Go type in step:
// every member of the one is a member of the other, as deep as both go.
func TestSchemasMatchTypes(t *testing.T) {
	for noun, pair := range map[string]struct {
		schema *Schema
		typ    reflect.Type
	}{
		"flow":        {FlowSchema(), reflect.TypeFor[Flow]()},
		"user":        {UserSchema(), reflect.TypeFor[User]()},
		"credential":  {CredentialSchema(), reflect.TypeFor[Credential]()},
		"application": {ApplicationSchema(), reflect.TypeFor[Application]()},

		"organization-unit": {OrganizationUnitSchema(), reflect.TypeFor[OrganizationUnit]()},
		"user-type":         {UserTypeSchema(), reflect.TypeFor[UserType]()},
		"group":             {GroupSchema(), reflect.TypeFor[Group]()},
		"role":              {RoleSchema(), reflect.TypeFor[Role]()},
		"identity-provider": {IdentityProviderSchema(), reflect.TypeFor[IdentityProvider]()},
		"resource-server":   {ResourceServerSchema(), reflect.TypeFor[ResourceServer]()},
	} {
		var root map[string]any
		datatest.Unmarshal(t, pair.schema.Raw(), &root)
		if got, want := root["$id"], "urn:postern:schema:"+noun; got != want {
			t.Errorf("%s: $id is %v, expected %s", noun, got, want)
		}
		if root["$schema"] != Draft {
			t.Errorf("%s: $schema is %v", noun, root["$schema"])
		}
		compareMembers(t, noun, root, root, pair.typ)
	}
}

func compareMembers(t *testing.T, path string, root, schema map[string]any, typ reflect.Type) {
	t.Helper()
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if items, ok := schema["items"].(map[string]any); ok {
		schema = items
	}
	if ref, ok := schema["$ref"].(string); ok {
		schema = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	properties, ok := schema["properties"].(map[string]any)
	if !ok || typ.Kind() != reflect.Struct || reflect.PointerTo(typ).Implements(jsonReading) {
		return
	}
	if schema["additionalProperties"] != false {
		t.Errorf("%s: additionalProperties is not false", path)
	}
	own := fieldsOf(typ)
	for i, name := range own.names {
		property, ok := properties[name].(map[string]any)
		if !ok {
			t.Errorf("%s: the type has the member %s, the schema does not", path, name)
			continue
		}
		for _, word := range []string{"title", "description"} {
			if text, _ := property[word].(string); text == "" {
				t.Errorf("%s.%s: no %s for editors to show", path, name, word)
			}
		}
		if own.types[i] != reflect.SliceOf(typ) { // it is part of itself
			compareMembers(t, path+"."+name, root, property, own.types[i])
		}
	}
	for name := range properties {
		if slices.Contains(own.names, name) {
			continue
		}
		t.Errorf("%s: the schema has the member %s, the type does not", path, name)
	}
}

// TestNounsFitTheirSchemas encodes full values of the Go types.
func TestNounsFitTheirSchemas(t *testing.T) {
	now := time.Now().UTC()
	for _, pair := range []struct {
		schema *Schema
		noun   any
	}{
		{FlowSchema(), Flow{ID: NewID(), Handle: "a", Name: "A", FlowType: Authentication, Waive: []Waiver{{Rule: "takeover", Node: "a", Reason: "supervised"}},
			Nodes:         []Node{{ID: "a", Use: "prompt", With: json.RawMessage(`{}`), Next: Next{By: map[string]string{"x y": End}}}, {ID: "b", Use: "done", Next: Next{To: End}}},
			ActiveVersion: 3, CreatedAt: &now, UpdatedAt: &now, IsReadOnly: true}},
		{UserSchema(), User{ID: NewID(), Type: "Person", OUID: NewID(), Attributes: map[string]any{"username": "u"}, CreatedAt: now, UpdatedAt: now}},
		{CredentialSchema(), Credential{ID: Bytes{1, 2}, UserID: NewID(), Name: "Key", RPID: "localhost", PublicKey: Bytes{3}, Algorithm: -7, AttestationFormat: "none",
			AAGUID: "00000000-0000-0000-0000-000000000000", Attachment: "platform", Transports: []string{"usb"}, SignCount: 1<<32 - 1, CreatedAt: now, LastUsedAt: &now}},
		{ApplicationSchema(), Application{ID: NewID(), Name: "App", URL: "https://example.com", AuthFlowID: NewID(), AllowedUserTypes: []string{"Person"},
			PasskeyAllowedOrigins: []string{"https://example.com:8443"}, Assertion: AssertionRules{ValidityPeriod: 60, UserAttributes: []string{"email"}},
			Customizations: map[string]any{"colour": "red"}, ClientID: "CONSOLE", CreatedAt: now, UpdatedAt: now}},
		{ApplicationSchema(), Application{Name: "App"}},
	} {
		text := datatest.Marshal(t, pair.noun)
		if problems := pair.schema.Check(text); len(problems) > 0 {
			t.Errorf("%s: %v", text, problems)
		}
	}
}

func TestApplicationSchemaRefuses(t *testing.T) {
	tests := map[string]string{
		`{}`:             `name: required member "name" is missing: The name that users see on the sign-in page, in mails and on their account page`,
		`{"name": "  "}`: "name: expected a name that is not blank",
		`{"name": "a", "url": "javascript:alert(1)"}`:                          "url: expected an absolute URL with http:// or https://",
		`{"name": "a", "passkeyAllowedOrigins": ["https://example.com/path"]}`: "passkeyAllowedOrigins[0]: expected an origin such as https://app.example.com, without a path",
		`{"name": "a", "assertion": {"validityPeriod": -1}}`:                   "assertion.validityPeriod: expected at least 0, got -1",
	}
	for text, want := range tests {
		if got := checkLines(ApplicationSchema(), text); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, expected %q", text, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for noun, want := range map[string]string{"user": "user", "userType": "user type", "organizationUnit": "organization unit", "": ""} {
		if got := DisplayName(noun); got != want {
			t.Errorf("%q: %q", noun, got)
		}
	}
}

// TestNoAttributesIsNotAll has an assertion that carries nothing, which must not
// become one that carries everything when it is read and written back.
func TestNoAttributesIsNotAll(t *testing.T) {
	for want, rules := range map[string]AssertionRules{`{}`: {}, `{"userAttributes":[]}`: {UserAttributes: []string{}}} {
		if got, err := json.Marshal(rules); err != nil || string(got) != want {
			t.Errorf("got %s, %v, expected %s", got, err, want)
		}
	}
}

func TestShared(t *testing.T) {
	for _, test := range []struct{ first, second, want string }{
		{"system", "openid system", "system"},
		{"system", "openid system:users:read", "system:users:read"},
		{"system:users:read shop", "system", "system:users:read"},
		{"system:users", "system:users:read system:users:write", "system:users:read system:users:write"},
		{"system:users:read", "system:users:write", ""},
		{"system", "systemic system-x", ""},
		{"system:users:read system", "system", "system:users:read system"},
		{"", "system", ""},
		{"system", "", ""},
	} {
		if got := strings.Join(SharedPermissions(strings.Fields(test.first), strings.Fields(test.second)), " "); got != test.want {
			t.Errorf("%q and %q share %q, expected %q", test.first, test.second, got, test.want)
		}
	}
}
