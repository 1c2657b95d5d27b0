package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// ResourceServers is the table of the resource servers, with their permission trees.
func ResourceServers() *Table[schemas.ResourceServer] {
	type server = schemas.ResourceServer
	table := newTable("resource server", "resource_server_not_found", "resource_servers", fields[server]{
		{column: "id", member: func(v *server) any { return &v.ID }},
		{column: "handle", member: func(v *server) any { return &v.Handle }, filter: "handle", unique: true},
		{column: "name", member: func(v *server) any { return &v.Name }},
		{column: "description", member: func(v *server) any { return &v.Description }},
		{column: "identifier", member: func(v *server) any { return (*nullText)(&v.Identifier) }, filter: "identifier"},
		{column: "ou_id", member: func(v *server) any { return &v.OUID }, filter: "ouId"},
		{column: "read_only", member: func(v *server) any { return &v.IsReadOnly }},
		{column: "claims", member: func(v *server) any { return jsonColumn{&v.Claims, len(v.Claims) == 0} }},
		{column: "created_at", member: func(v *server) any { return (*microTime)(&v.CreatedAt) }},
		{column: "updated_at", member: func(v *server) any { return (*microTime)(&v.UpdatedAt) }},
	})
	table.complete, table.write = readTrees, writeTree
	return table
}

const selectServerClaims = `SELECT handle, claims FROM resource_servers WHERE identifier = ? AND claims IS NOT NULL`

// ServerClaims returns the handle and the claims of the resource server with an identifier, nil if it has no claims.
func (s *Store) ServerClaims(ctx context.Context, identifier string) (*schemas.ResourceServer, error) {
	var server schemas.ResourceServer
	err := s.row(ctx, selectServerClaims, identifier).Scan(&server.Handle, asJSON(&server.Claims))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &server, err
}

// The kinds of nodes in the tree of a resource server.
const (
	serverNode   = "server" // the root
	resourceNode = "resource"
	actionNode   = "action"
)

// node is one node of a tree. A tree is stored as the list of its nodes: each node before its
// children, and actions before resources.
type node struct{ permission, kind, name, description string }

func (n node) depth() int { return strings.Count(n.permission, ":") }

func (n node) handle() string { return n.permission[strings.LastIndexByte(n.permission, ':')+1:] }

// nodes lists the nodes of a resource server's tree.
func nodes(v *schemas.ResourceServer) []node {
	return appendNodes([]node{{permission: v.Handle, kind: serverNode}}, v.Handle, v.Resources)
}

func appendNodes(list []node, above string, resources []schemas.Resource) []node {
	for _, r := range resources {
		own := above + ":" + r.Handle
		list = append(list, node{own, resourceNode, r.Name, r.Description})
		for _, a := range r.Actions {
			list = append(list, node{own + ":" + a.Handle, actionNode, a.Name, a.Description})
		}
		list = appendNodes(list, own, r.Resources)
	}
	return list
}

// resources takes the nodes of a kind and depth from the front of the list, with
// all below them: it is the inverse of appendNodes.
func resources(list *[]node, depth int) (found []schemas.Resource) {
	for {
		n, ok := take(list, resourceNode, depth)
		if !ok {
			return found
		}
		r := schemas.Resource{Handle: n.handle(), Name: n.name, Description: n.description}
		for a, ok := take(list, actionNode, depth+1); ok; a, ok = take(list, actionNode, depth+1) {
			r.Actions = append(r.Actions, schemas.ResourceAction{Handle: a.handle(), Name: a.name, Description: a.description})
		}
		r.Resources = resources(list, depth+1)
		found = append(found, r)
	}
}

func take(list *[]node, kind string, depth int) (node, bool) {
	if len(*list) == 0 || (*list)[0].kind != kind || (*list)[0].depth() != depth {
		return node{}, false
	}
	n := (*list)[0]
	*list = (*list)[1:]
	return n, true
}

func readTrees(ctx context.Context, r Reader, byID map[string]*schemas.ResourceServer) error {
	trees := map[string][]node{}
	err := eachOwned(ctx, r, byID, func(row scanner) error {
		var id string
		var n node
		err := row.Scan(&id, &n.permission, &n.kind, &n.name, &n.description)
		if n.kind != serverNode {
			trees[id] = append(trees[id], n)
		}
		return err
	}, "SELECT server_id, permission, kind, name, description FROM permissions WHERE server_id IN (?) ORDER BY server_id, position")
	for id, v := range byID {
		tree := trees[id]
		v.Resources = append([]schemas.Resource{}, resources(&tree, 1)...)
		v.Permissions = v.AllPermissions()
	}
	return err
}

// writeTree keeps the rows of the permissions that stay, because roles refer to
// them.
func writeTree(t *Tx, v *schemas.ResourceServer) error {
	if _, err := t.exec("UPDATE permissions SET position = -1 WHERE server_id = ?", v.ID); err != nil {
		return err
	}
	for i, n := range nodes(v) {
		changed, err := t.exec(`INSERT INTO permissions (permission, server_id, position, kind, name, description)
			VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (permission) DO UPDATE SET position = excluded.position, kind = excluded.kind,
			name = excluded.name, description = excluded.description WHERE permissions.server_id = excluded.server_id`,
			n.permission, v.ID, i, n.kind, n.name, n.description)
		if err != nil {
			return err
		}
		if changed == 0 {
			return schemas.Errorf(schemas.Conflict, schemas.CodeConflict,
				"the permission %q belongs to another resource server; choose another handle", n.permission)
		}
	}
	_, err := t.exec("DELETE FROM permissions WHERE server_id = ? AND position = -1", v.ID)
	return err
}

// ResourceIdentifiers returns the identifiers of all resource servers but one.
func ResourceIdentifiers(ctx context.Context, r Reader, except string) ([]string, error) {
	return readAll(ctx, r, scanValue[string], "SELECT identifier FROM resource_servers WHERE identifier IS NOT NULL AND id <> ? ORDER BY id", except)
}
