package store

import (
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Leave dates the groups and roles that a user or an application belongs to, who
// is about to be deleted: they change by it, and must not look as if they had
// not. The rows that say that it belongs to them go with it.
func Leave(t *Tx, p schemas.Principal, at time.Time) error {
	column := "user_id"
	if p.Type == schemas.ApplicationPrincipal {
		column = "application_id"
	} else if err := t.date("user_groups", "SELECT group_id FROM group_members WHERE user_id = ?", p.ID, at); err != nil {
		return err
	}
	return t.date("roles", "SELECT role_id FROM role_assignments WHERE "+column+" = ?", p.ID, at)
}

// date makes the time the last change of rows, or what comes just after the one
// they had: an entity tag must not come twice.
func (t *Tx) date(table, which, id string, at time.Time) error {
	now := micros(at)
	_, err := t.exec("UPDATE "+table+" SET updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at + 1 END WHERE id IN ("+which+")", now, now, id)
	if err != nil {
		return fmt.Errorf("dating %s: %w", table, err)
	}
	return nil
}
