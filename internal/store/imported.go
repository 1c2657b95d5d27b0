package store

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// importable maps the plurals of the resources that imports create to their tables.
func importable() map[string]string {
	return map[string]string{"groups": "user_groups", "roles": "roles", "applications": "applications", "identityProviders": "identity_providers"}
}

// ImportOrigin returns the import that created a resource; "" if none did.
func ImportOrigin(ctx context.Context, r Reader, plural, id string) (string, error) {
	table, err := importableTable(plural)
	if err != nil {
		return "", err
	}
	return readValue[string](ctx, r, "SELECT imported_from FROM "+table+" WHERE id = ?", id)
}

// SetImportOrigin records the import that has created a resource.
func SetImportOrigin(t *Tx, plural, id, origin string) error {
	table, err := importableTable(plural)
	if err == nil {
		_, err = t.exec("UPDATE "+table+" SET imported_from = ? WHERE id = ?", origin, id)
	}
	return err
}

func importableTable(plural string) (string, error) {
	table := importable()[plural]
	if table == "" {
		return "", fmt.Errorf("store: imports create no %s", plural)
	}
	return table, nil
}

// GivenPermissions returns the permissions that a role gives those it is assigned to, or a group its
// members, sorted.
func GivenPermissions(ctx context.Context, r Reader, plural, id string) ([]string, error) {
	if plural == "groups" {
		return PermissionsOf(ctx, r, schemas.Principal{Type: schemas.GroupPrincipal, ID: id})
	}
	return readAll(ctx, r, scanValue[string], "SELECT permission FROM role_permissions WHERE role_id = ? ORDER BY permission", id)
}

// selectGrants selects the users and applications with a permission that is system or below it, each
// with the permission.
const selectGrants = `WITH RECURSIVE grants (role_id, permission) AS (
		SELECT role_id, permission FROM role_permissions WHERE permission = 'system' OR permission LIKE 'system:%'),
	granted (id, permission) AS (
		SELECT a.group_id, g.permission FROM grants g CROSS JOIN role_assignments a WHERE a.role_id = g.role_id AND a.group_id IS NOT NULL
		UNION SELECT m.member_id, g.permission FROM granted g CROSS JOIN group_members m WHERE m.group_id = g.id AND m.member_id IS NOT NULL)
	SELECT 'user', a.user_id, g.permission FROM grants g CROSS JOIN role_assignments a WHERE a.role_id = g.role_id AND a.user_id IS NOT NULL
	UNION SELECT 'application', a.application_id, g.permission FROM grants g CROSS JOIN role_assignments a WHERE a.role_id = g.role_id AND a.application_id IS NOT NULL
	UNION SELECT 'user', m.user_id, g.permission FROM granted g CROSS JOIN group_members m WHERE m.group_id = g.id AND m.user_id IS NOT NULL`

// AdministrativeGrants returns the administrative permissions of all users and applications that have
// one.
func AdministrativeGrants(ctx context.Context, r Reader) (map[schemas.Principal][]string, error) {
	grants := map[schemas.Principal][]string{}
	err := rows(ctx, r, func(row scanner) error {
		var kind, id, permission string
		err := row.Scan(&kind, &id, &permission)
		p := schemas.Principal{Type: schemas.PrincipalType(kind), ID: id}
		grants[p] = append(grants[p], permission)
		return err
	}, selectGrants+" ORDER BY 1, 2, 3")
	return grants, err
}
