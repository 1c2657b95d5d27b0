package declare

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/postern-id/postern/schemas"
)

// Noun describes a kind of resource in files.
type Noun struct {
	Name   string // "userType"
	Plural string // "userTypes": the member of a seed file
	Folder string // "user-types": in a tree and in the API's paths
	// Filter is the member that finds a resource by its key in lists of the API.
	Filter string

	key        string // path of the name; an empty name counts as none
	references []reference
	secrets    []string // paths that may hold a secret
}

// displayName returns the noun in plain words.
func (n Noun) displayName() string { return schemas.DisplayName(n.Name) }

// reference is a member that refers to another resource: its path, with "[]" for each item
// of a list, and the plural noun. If to is "", the item's type determines the noun. Flow
// handles are unique within a type.
type reference struct {
	path, to string
	flowType schemas.FlowType
}

// Nouns lists the nouns; each follows those it refers to.
func Nouns() []Noun {
	unit := reference{path: "ouId", to: "organizationUnits"}
	return []Noun{
		{Name: "organizationUnit", Plural: "organizationUnits", Folder: "organization-units", Filter: "handle", key: "handle",
			references: []reference{{path: "parentId", to: "organizationUnits"}}},
		{Name: "userType", Plural: "userTypes", Folder: "user-types", Filter: "name", key: "name", references: []reference{unit}},
		{Name: "resourceServer", Plural: "resourceServers", Folder: "resource-servers", Filter: "handle", key: "handle", references: []reference{unit}},
		{Name: "identityProvider", Plural: "identityProviders", Folder: "identity-providers", Filter: "handle", key: "handle",
			secrets: []string{providerSecret}},
		{Name: "flow", Plural: "flows", Folder: flowsFolder, Filter: "handle", key: "handle"},
		{Name: "application", Plural: "applications", Folder: "applications", Filter: "name", key: "name",
			references: []reference{unit,
				{path: "authFlowId", to: "flows", flowType: schemas.Authentication},
				{path: "registrationFlowId", to: "flows", flowType: schemas.Registration},
				{path: "recoveryFlowId", to: "flows", flowType: schemas.Authentication}},
			secrets: []string{"clientSecret", oauthSecret}},
		{Name: "user", Plural: "users", Folder: "users", Filter: "username", key: "attributes.username",
			references: []reference{unit}, secrets: []string{userSecret}},
		{Name: "group", Plural: "groups", Folder: "groups", Filter: "name", key: "name",
			references: []reference{unit, {path: "members[].id"}}},
		{Name: "role", Plural: "roles", Folder: "roles", Filter: "name", key: "name",
			references: []reference{unit, {path: "assignments[].id"}}},
	}
}

// The paths of secrets.
const (
	providerSecret = "clientSecret"
	oauthSecret    = "inboundAuthConfig[0].config.clientSecret"
	userSecret     = "attributes.password"
)

// NounOf returns the noun with the plural; ok is false if there is none.
func NounOf(plural string) (n Noun, ok bool) {
	for _, n := range Nouns() {
		if n.Plural == plural {
			return n, true
		}
	}
	return Noun{}, false
}

// principals maps types of principals to plurals.
func principals() map[string]string {
	return map[string]string{
		string(schemas.UserPrincipal):        "users",
		string(schemas.GroupPrincipal):       "groups",
		string(schemas.ApplicationPrincipal): "applications",
	}
}

// label returns the name of a resource; "" if it has none.
func (n Noun) label(d *schemas.Document) string { return d.TextAt(n.key) }

// keyOf returns the key of a resource within its noun: its normalized name, for a flow with
// its type. "" means none.
func (n Noun) keyOf(d *schemas.Document) string {
	return n.keyFor(flowTypeOf(d), n.label(d))
}

func (n Noun) keyFor(t schemas.FlowType, name string) string {
	switch {
	case name == "":
		return ""
	case n.Plural == "flows":
		return string(t) + "/" + name
	case n.Plural == "users":
		return schemas.IdentifierKey(name)
	}
	return name
}

// subflows lists the places where a flow names sub-flows.
func (n Noun) subflows(d *schemas.Document) []schemas.SubflowMention {
	if n.Plural != "flows" {
		return nil
	}
	return schemas.SubflowMentions(d)
}

// nameReference is a place where a document names another resource.
type nameReference struct {
	path, value string
	noun        Noun
	flowType    schemas.FlowType
}

// nameReferences lists the places where a document names other resources. It skips
// malformed ones; the directory reports them.
func (n Noun) nameReferences(d *schemas.Document) (list []nameReference) {
	for _, r := range n.references {
		before, after, ofItems := strings.Cut(r.path, "[]")
		if !ofItems {
			list = appendNameReference(list, d, r, r.path, r.to)
			continue
		}
		for i, item := range itemsAt(d, before) {
			at := fmt.Sprintf("%s[%d]", before, i)
			for _, m := range appendNameReference(nil, item, r, strings.TrimPrefix(after, "."), principals()[item.TextAt("type")]) {
				m.path = schemas.JoinPath(at, m.path)
				list = append(list, m)
			}
		}
	}
	return list
}

func appendNameReference(list []nameReference, d *schemas.Document, r reference, path, to string) []nameReference {
	noun, known := NounOf(to)
	if value := d.TextAt(path); known && value != "" {
		list = append(list, nameReference{path, value, noun, r.flowType})
	}
	return list
}

// itemsAt returns the items of the list at a path; nil if there is none.
func itemsAt(d *schemas.Document, path string) []*schemas.Document {
	at := d.At(path)
	if at == nil {
		return nil
	}
	items, _ := at.Items()
	return items
}

// idKey and nameKey tell the declared resources of all nouns apart.
func (n Noun) idKey(id string) string { return n.Plural + " id " + id }

func (n Noun) nameKey(t schemas.FlowType, name string) string {
	return n.Plural + " name " + n.keyFor(t, name)
}

func isText(d *schemas.Document) bool {
	_, ok := d.Text()
	return ok
}

// isID reports whether a reference has the form of an id.
func isID(s string) bool { return uuid.Validate(s) == nil && len(s) == 36 }

func flowTypeOf(d *schemas.Document) schemas.FlowType { return schemas.FlowType(d.TextAt("flowType")) }
