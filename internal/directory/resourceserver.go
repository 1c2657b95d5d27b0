package directory

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// SystemServer is the handle of the resource server of Postern's own API, the first part of
// its permissions. It is always read-only.
const SystemServer = systemPermission

func (d *Directory) serverCollection() *collection[schemas.ResourceServer] {
	table := store.ResourceServers()
	return &collection[schemas.ResourceServer]{
		d: d, table: table,
		noun:     newNoun(Noun{Name: "resourceServer", Schema: schemas.ResourceServerSchema, Key: "handle", Filters: table.Filters(), Prefixes: table.Prefixes()}),
		meta:     func(s *schemas.ResourceServer) meta { return meta{&s.ID, &s.CreatedAt, &s.UpdatedAt} },
		complete: completeServer,
		check:    checkServer,
		remove: func(w *writeContext, s *schemas.ResourceServer) {
			protectServer(w, s)
			checkLostPermissions(w, s.Permissions)
		},
	}
}

func completeServer(w *writeContext, old, s *schemas.ResourceServer) {
	bySystem := w.call.Actor.Type == schemas.SystemActor
	s.IsReadOnly = s.Handle == SystemServer || orZero(old).IsReadOnly || bySystem && s.IsReadOnly
	if s.Resources == nil {
		s.Resources = []schemas.Resource{}
	}
	s.Permissions = s.AllPermissions()
	defaultUnit(w, &s.OUID)
}

// protectServer refuses changes of a read-only resource server by callers other than the
// program itself, which updates it.
func protectServer(w *writeContext, s *schemas.ResourceServer) {
	if s.IsReadOnly && w.call.Actor.Type != schemas.SystemActor {
		w.addReadOnly("", "the resource server %q is read-only", s.Handle)
	}
}

func checkServer(w *writeContext, old, s *schemas.ResourceServer) {
	was := orZero(old)
	protectServer(w, was)
	checkName(w, was.Name, s.Name)
	checkUnique(w, store.ResourceServers(), "handle", s.Handle, was.ID)
	checkUnique(w, store.ResourceServers(), "identifier", s.Identifier, was.ID)
	checkIdentifierSpelling(w, was, s)
	checkExists(w, store.Units(), "ouId", s.OUID)
	checkScopeHandle(w, was, s)
	if u, err := url.Parse(s.Identifier); s.Identifier != "" && (err != nil || !u.IsAbs()) {
		w.addInvalid("identifier", "expected an absolute URI such as https://api.example.com, got %.64q", s.Identifier)
	}
	checkTree(w, s)
	checkServerClaims(w, s)
	checkLostPermissions(w, slices.DeleteFunc(slices.Clone(was.Permissions), func(p string) bool { return slices.Contains(s.Permissions, p) }))
}

// checkIdentifierSpelling refuses an identifier that is another spelling of an existing one: requests for tokens
// would not tell them apart.
func checkIdentifierSpelling(w *writeContext, was, s *schemas.ResourceServer) {
	if s.Identifier == "" || w.keeps(s.Identifier == was.Identifier) {
		return
	}
	other, err := resourceLike(w.ctx, w.tx, s.Identifier, was.ID)
	if !w.fail(err) && other != "" && other != s.Identifier {
		w.addConflict("identifier", "%.64q is another spelling of %.64q, the identifier of another resource server; choose another", s.Identifier, other)
	}
}

// checkLostPermissions reports who has one of the permissions to be removed.
func checkLostPermissions(w *writeContext, permissions []string) {
	uses, err := store.PermissionUses(w.ctx, w.tx, permissions)
	w.fail(err)
	w.inUse = uses
}

// The limits of a resource server's tree.
const (
	maxPermissions      = 1000
	maxLevels           = 10
	maxPermissionLength = 200 // bytes, as for a scope
)

func checkTree(w *writeContext, s *schemas.ResourceServer) {
	if n := len(s.Permissions); n > maxPermissions {
		w.addInvalid("resources", "expected at most %d resources and actions in all, got %d; split the API into several resource servers",
			maxPermissions-1, n-1)
		return
	}
	for _, p := range s.Permissions {
		if len(p) > maxPermissionLength {
			w.addInvalid("resources", "the permission %.64q… has %d characters, expected at most %d; shorten the handles that it consists of",
				p, len(p), maxPermissionLength)
			break
		}
	}
	checkLevel(w, "", nil, s.Resources, 1)
}

// checkLevel checks the resources and actions of one level and the levels below.
func checkLevel(w *writeContext, path string, actions []schemas.ResourceAction, resources []schemas.Resource, level int) {
	if level > maxLevels && len(resources) > 0 {
		w.addInvalid(schemas.JoinPath(path, "resources"), "expected at most %d levels of resources, got more; move these up", maxLevels)
		return
	}
	taken := map[string]string{}
	claim := func(at, handle string) {
		if first, twice := taken[handle]; twice {
			w.addInvalid(at+".handle", "%.64q is also the handle of %s at this level, so their permissions would be equal; choose another", handle, first)
		} else if handle != "" {
			taken[handle] = at
		}
	}
	for i, a := range actions {
		claim(schemas.JoinPath(path, fmt.Sprintf("actions[%d]", i)), a.Handle)
	}
	for i, r := range resources {
		at := schemas.JoinPath(path, fmt.Sprintf("resources[%d]", i))
		claim(at, r.Handle)
		checkLevel(w, at, r.Actions, r.Resources, level+1)
	}
}
