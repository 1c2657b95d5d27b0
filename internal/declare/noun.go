package declare

import (
	"fmt"

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
	principals string   // member with a list of principals
	secrets    []string // paths that may hold a secret
}

// displayName returns the noun in plain words.
func (n Noun) displayName() string { return schemas.DisplayName(n.Name) }

// reference is a member that refers to another resource, and the plural noun. Flow handles
// are unique within a type.
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
			references: append([]reference{unit}, flowReferences()...), secrets: []string{"clientSecret", oauthSecret}},
		{Name: "user", Plural: "users", Folder: "users", Filter: "username", key: "attributes.username",
			references: []reference{unit}, secrets: []string{userSecret}},
		{Name: "group", Plural: "groups", Folder: "groups", Filter: "name", key: "name",
			references: []reference{unit}, principals: "members"},
		{Name: "role", Plural: "roles", Folder: "roles", Filter: "name", key: "name",
			references: []reference{unit}, principals: "assignments"},
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

// principalNouns maps types of principals to plurals.
func principalNouns() map[string]string {
	return map[string]string{
		string(schemas.UserPrincipal):        "users",
		string(schemas.GroupPrincipal):       "groups",
		string(schemas.ApplicationPrincipal): "applications",
	}
}

// label returns the name of a resource; "" if it has none.
func (n Noun) label(d *schemas.Document) string { return d.TextAt(n.key) }

// keys identify a resource among those of all nouns: by id, and by name if it has one.
func (n Noun) keys(id string, d *schemas.Document) []string {
	keys := []string{n.idKey(id)}
	if key := n.nameKey(flowTypeOf(d), n.label(d)); key != "" {
		keys = append(keys, key)
	}
	return keys
}

func (n Noun) idKey(id string) string { return n.Plural + " id " + id }

// nameKey returns the key for a name, for a flow with its type; "" if the name is empty.
func (n Noun) nameKey(t schemas.FlowType, name string) string {
	switch {
	case name == "":
		return ""
	case n.Plural == "flows":
		name = string(t) + "/" + name
	case n.Plural == "users":
		name = schemas.IdentifierKey(name)
	}
	return n.Plural + " name " + name
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
	add := func(path, value, to string, t schemas.FlowType) {
		if noun, known := NounOf(to); known && value != "" {
			list = append(list, nameReference{path, value, noun, t})
		}
	}
	for _, r := range n.references {
		add(r.path, d.TextAt(r.path), r.to, r.flowType)
	}
	if n.Plural == "identityProviders" {
		addMappedGroups(d, add)
	}
	if n.principals == "" {
		return list
	}
	for i, item := range d.ItemsAt(n.principals) {
		add(fmt.Sprintf("%s[%d].id", n.principals, i), item.TextAt("id"), principalNouns()[item.TextAt("type")], "")
	}
	return list
}

// addMappedGroups adds the groups and units that the mapping of an identity provider names.
func addMappedGroups(d *schemas.Document, add func(path, value, to string, t schemas.FlowType)) {
	for i, g := range d.ItemsAt("mapping.groups") {
		at := fmt.Sprintf("mapping.groups[%d]", i)
		add(at+".below", g.TextAt("below"), "groups", "")
		add(at+".unit", g.TextAt("unit"), "organizationUnits", "")
		if byName := g.At("map"); byName != nil {
			for _, name := range byName.Members() {
				path := schemas.MemberPath(at+".map", name)
				add(path, d.TextAt(path), "groups", "")
			}
		}
	}
}

func isText(d *schemas.Document) bool {
	_, ok := d.Text()
	return ok
}

// isID reports whether a reference has the form of an id.
func isID(s string) bool { return uuid.Validate(s) == nil && len(s) == 36 }

func flowTypeOf(d *schemas.Document) schemas.FlowType { return schemas.FlowType(d.TextAt("flowType")) }

// flowReferences returns the references of an application to flows.
func flowReferences() (list []reference) {
	for _, f := range new(schemas.Application).Flows() {
		list = append(list, reference{path: f.Path, to: flowsFolder, flowType: f.FlowType()})
	}
	return list
}
