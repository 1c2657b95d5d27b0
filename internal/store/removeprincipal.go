package store

import (
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

// RemovePrincipal dates the groups and roles that a user or an application belongs to, who
// is about to be deleted: they change by it, and must not look as if they had
// not. The rows that say that it belongs to them go with it.
func RemovePrincipal(t *Tx, p schemas.Principal, at time.Time) error {
	column := "user_id"
	if p.Type == schemas.ApplicationPrincipal {
		column = "application_id"
	} else if err := t.touch("user_groups", "SELECT group_id FROM group_members WHERE user_id = ?", p.ID, at); err != nil {
		return err
	}
	return t.touch("roles", "SELECT role_id FROM role_assignments WHERE "+column+" = ?", p.ID, at)
}

// touch makes the time the last change of rows, or what comes just after the one
// they had: an entity tag must not come twice.
func (t *Tx) touch(table, which, id string, at time.Time) error {
	now := toMicros(at)
	_, err := t.exec("UPDATE "+table+" SET updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at + 1 END WHERE id IN ("+which+")", now, now, id)
	if err != nil {
		return fmt.Errorf("dating %s: %w", table, err)
	}
	return nil
}
