package importer

import (
	"slices"
	"strings"
)

type keycloakGroup struct {
	ID          string                `json:"id"`
	Name        string                `json:"name"`
	Description string                `json:"description"`
	Path        string                `json:"path"` // follows from the names
	SubGroups   rows[keycloakGroup]   `json:"subGroups"`
	RealmRoles  []string              `json:"realmRoles"`
	ClientRoles map[string][]string   `json:"clientRoles"`
	Attributes  map[string]looseTexts `json:"attributes"`
}

// sortGroups puts groups before those that contain them.
func (k *keycloak) sortGroups(content *Resources) {
	rank := func(r Resource) int {
		if r.Plural != "groups" {
			return 0
		}
		return -strings.Count(r.Key, "/")
	}
	slices.SortStableFunc(content.List, func(a, b Resource) int {
		if a.Plural != "groups" || b.Plural != "groups" {
			return 0
		}
		return rank(a) - rank(b)
	})
}

// eachGroup calls each with groups, and with those below them.
func eachGroup(groups []keycloakGroup, each func(keycloakGroup)) {
	for _, g := range groups {
		each(g)
		eachGroup(g.SubGroups.List, each)
	}
}

// addGroup adds a group and those below it, which are its members: they inherit its roles.
func (k *keycloak) addGroup(content *Resources, r *Report, g keycloakGroup, above string, granted map[string][]any) {
	path := above + "/" + g.Name
	members := []any{}
	for _, below := range g.SubGroups.List {
		k.addGroup(content, r, below, path, granted)
		members = append(members, map[string]any{"type": "group", "id": k.idOf("group", firstText(below.ID, path+"/"+below.Name))})
	}
	if len(g.Attributes) > 0 {
		r.add("groups", "group "+path, "the attributes of the group are not imported", "groups have none: set attributes of the users, or use roles")
	}
	r.addBad("groups", g.SubGroups.bad...)
	k.reportAdministration(r, "groups", "group "+path, g.ClientRoles)
	id := k.idOf("group", firstText(g.ID, path))
	for _, role := range k.roleKeys(g.RealmRoles, g.ClientRoles) {
		granted[role] = append(granted[role], map[string]any{"type": "group", "id": id})
	}
	content.List = append(content.List, Resource{Plural: "groups", Key: path, Place: "group " + path, ForeignID: g.ID,
		Content: map[string]any{"id": id, "name": strings.TrimPrefix(path, "/"), "description": g.Description, "members": members}})
}
