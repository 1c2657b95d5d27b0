package schemas

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// OrganizationUnit is a part of the organization. Units form trees: one without
// a parent is a root.
type OrganizationUnit struct {
	ID          string `json:"id"`
	Handle      string `json:"handle"` // unique
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// LogoURL is the address of a picture (https or data); "" for none.
	LogoURL   string    `json:"logoUrl,omitempty"`
	ParentID  string    `json:"parentId,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Brand is the name and the logo on the hosted pages: those of the service, or of an organization
// unit. Without a logo, LogoURL is "".
type Brand struct {
	Name    string `json:"name"`
	LogoURL string `json:"logoUrl,omitempty"`
}

// UserType describes the users of a type. Schema is a JSON Schema (draft 2020-12) of their
// attributes. In it, "x-unique": true marks an attribute whose value no two users of any type
// share, and "x-credential": true marks the password, which can be written and is never shown.
type UserType struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"` // unique: users and flows refer to the type by it
	Description string          `json:"description,omitempty"`
	OUID        string          `json:"ouId,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	// IdentifierScope determines among which users usernames, verified addresses and unique
	// attributes are unique: TypeIdentifiers, or "" for all users whose types share the global
	// scope.
	IdentifierScope string    `json:"identifierScope,omitempty"`
	CreatedAt       time.Time `json:"createdAt"`
	UpdatedAt       time.Time `json:"updatedAt"`
}

// The values of UserType.IdentifierScope. GlobalIdentifiers is stored as "".
const (
	GlobalIdentifiers = "global"
	TypeIdentifiers   = "userType"
)

// PrincipalType is the type of a Principal.
type PrincipalType string

// The types of principals.
const (
	UserPrincipal        PrincipalType = "user"
	GroupPrincipal       PrincipalType = "group"
	ApplicationPrincipal PrincipalType = "application"
)

// Principal is a member of a group or an assignee of a role. Groups have users and groups as
// members; roles are assigned to all three.
type Principal struct {
	Type PrincipalType `json:"type"`
	ID   string        `json:"id"`
}

// Membership is a group or a role of a user.
type Membership struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Inherited reports that the user has it only through a group.
	Inherited bool `json:"inherited"`
}

// Compare orders principals by type and id.
func (p Principal) Compare(q Principal) int {
	return cmp.Or(cmp.Compare(p.Type, q.Type), cmp.Compare(p.ID, q.ID))
}

// Group is a set of users and of other groups, whose members count as its own.
type Group struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"` // unique
	Description string      `json:"description,omitempty"`
	OUID        string      `json:"ouId,omitempty"`
	Members     []Principal `json:"members"` // sorted by type and id
	CreatedAt   time.Time   `json:"createdAt"`
	UpdatedAt   time.Time   `json:"updatedAt"`
}

// Role grants permissions to its assignees.
type Role struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"` // unique
	Description string      `json:"description,omitempty"`
	OUID        string      `json:"ouId,omitempty"`
	Permissions []string    `json:"permissions"` // sorted
	Assignments []Principal `json:"assignments"` // sorted by type and id
	CreatedAt   time.Time   `json:"createdAt"`
	UpdatedAt   time.Time   `json:"updatedAt"`
}

// ResourceServer is an API that is protected by permissions: a tree of resources
// with actions. A permission is the path to one of them, joined by ":", and
// covers all below it: "system" covers "system:users", and that covers
// "system:users:read".
type ResourceServer struct {
	ID          string     `json:"id"`
	Handle      string     `json:"handle"` // unique: the first part of its permissions
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Identifier  string     `json:"identifier,omitempty"` // unique: the URI that tokens for it are asked for with (RFC 8707)
	OUID        string     `json:"ouId,omitempty"`
	Resources   []Resource `json:"resources"`
	Claims      []Claim    `json:"claims,omitempty"` // in access tokens for it
	Permissions []string   `json:"permissions"`      // derived from the other members; ignored in requests
	IsReadOnly  bool       `json:"isReadOnly,omitempty"`
	CreatedAt   time.Time  `json:"createdAt"`
	UpdatedAt   time.Time  `json:"updatedAt"`
}

// Resource is a part of a resource server. Handles are unique among siblings,
// resources and actions together.
type Resource struct {
	Handle      string           `json:"handle"`
	Name        string           `json:"name,omitempty"`
	Description string           `json:"description,omitempty"`
	Actions     []ResourceAction `json:"actions,omitempty"`
	Resources   []Resource       `json:"resources,omitempty"`
}

// ResourceAction is an action on a resource.
type ResourceAction struct {
	Handle      string `json:"handle"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
}

// AllPermissions lists the permissions of the resource server in the order of
// its tree, its own first.
func (s *ResourceServer) AllPermissions() []string {
	all := []string{s.Handle}
	for i := range s.Resources {
		all = s.Resources[i].appendPermissions(all, s.Handle)
	}
	return all
}

func (r *Resource) appendPermissions(all []string, above string) []string {
	own := above + ":" + r.Handle
	all = append(all, own)
	for _, a := range r.Actions {
		all = append(all, own+":"+a.Handle)
	}
	for i := range r.Resources {
		all = r.Resources[i].appendPermissions(all, own)
	}
	return all
}

// SharedPermissions returns the permissions that two lists have in common: each permission of one
// list that the other list covers. Those of the first list come first.
func SharedPermissions(first, second []string) []string {
	var shared []string
	for _, lists := range [][2][]string{{first, second}, {second, first}} {
		for _, permission := range lists[0] {
			covers := func(has string) bool { return CoversPermission(has, permission) }
			if slices.ContainsFunc(lists[1], covers) && !slices.ContainsFunc(shared, covers) {
				shared = append(shared, permission)
			}
		}
	}
	return shared
}

// CoversPermission reports whether a permission implies another: it is equal to it, or above it in
// the tree.
func CoversPermission(has, wanted string) bool {
	return has == wanted || len(wanted) > len(has) && wanted[:len(has)] == has && wanted[len(has)] == ':'
}
