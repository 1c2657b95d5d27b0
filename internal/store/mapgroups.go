package store

import (
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

const (
	// selectGroupsBelow are the groups that a group contains, at any depth.
	selectGroupsBelow = `WITH RECURSIVE below (id) AS (SELECT member_id FROM group_members WHERE group_id = ? AND member_id IS NOT NULL
		UNION SELECT m.member_id FROM below b CROSS JOIN group_members m WHERE m.group_id = b.id AND m.member_id IS NOT NULL)
		SELECT g.id, g.name FROM below b CROSS JOIN user_groups g WHERE g.id = b.id`

	selectGroupsOfUnit = `SELECT id, name FROM user_groups WHERE ou_id = ?`

	selectProviderMembers = `SELECT group_id FROM provider_members WHERE user_id = ? AND provider_id = ? ORDER BY group_id`

	selectOtherProviders = `SELECT 1 FROM provider_members WHERE group_id = ? AND user_id = ? AND provider_id <> ?`
	selectProviderMember = `SELECT 1 FROM provider_members WHERE group_id = ? AND user_id = ?`

	insertMember = `INSERT INTO group_members (group_id, user_id) SELECT id, CAST(? AS TEXT) FROM user_groups WHERE id = ?
		ON CONFLICT (group_id, user_id) DO NOTHING`
	deleteMember = `DELETE FROM group_members WHERE group_id = ? AND user_id = ?`

	insertProviderMember = `INSERT INTO provider_members (group_id, user_id, provider_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	deleteProviderMember = `DELETE FROM provider_members WHERE group_id = ? AND user_id = ? AND provider_id = ?`

	deleteProviderMembers = `DELETE FROM provider_members WHERE group_id = ? AND user_id = ?`
)

// mapGroups makes the user a member of the groups that the provider states, and ends the memberships that it gave
// and no longer states. Memberships of administrators stay. Rules about permissions rest on the members of groups and
// are checked in serial writes, so a change counts as one.
func (m *mapping) mapGroups() error {
	add, remove, err := m.memberChanges()
	if err != nil || len(add)+len(remove) == 0 {
		return err
	}
	if !m.t.serial {
		if err := m.t.change(func() error { return errOvertaken }, countSerial, updates); err != nil {
			return err
		}
	}
	if add, remove, err = m.memberChanges(); err != nil { // what others committed before the lock
		return err
	}
	for _, id := range remove {
		if err := m.leaveGroup(id); err != nil {
			return err
		}
	}
	for _, id := range add {
		if err := m.joinGroup(id); err != nil {
			return err
		}
	}
	return nil
}

// memberChanges returns the groups in which the membership begins and ends, sorted.
func (m *mapping) memberChanges() (add, remove []string, err error) {
	stated, kept := map[string]bool{}, map[string]bool{}
	for i := range m.c.Groups {
		if err := m.resolve(&m.c.Groups[i], stated, kept); err != nil {
			return nil, nil, err
		}
	}
	has, err := readAll(m.t.ctx, m.t, scanValue[string], selectProviderMembers, m.c.UserID, m.c.ProviderID)
	if err != nil {
		return nil, nil, err
	}
	if err := m.dropUngranted(stated); err != nil {
		return nil, nil, err
	}
	for _, id := range has {
		if !stated[id] && !kept[id] {
			remove = append(remove, id)
		}
		delete(stated, id)
	}
	for _, id := range slices.Sorted(maps.Keys(stated)) {
		is, err := exists(m.t.ctx, m.t, "SELECT 1 FROM group_members WHERE group_id = ? AND user_id = ?", id, m.c.UserID)
		if err != nil {
			return nil, nil, err
		}
		byProvider, err := exists(m.t.ctx, m.t, selectProviderMember, id, m.c.UserID)
		if err != nil {
			return nil, nil, err
		}
		if !is || byProvider { // otherwise an administrator gave the membership
			add = append(add, id)
		}
	}
	return add, remove, nil
}

// resolve adds the groups that a mapping states, or all that it manages to those whose memberships stay.
func (m *mapping) resolve(g *schemas.MappedGroups, stated, kept map[string]bool) error {
	managed, err := managedGroups(m.t, &g.Mapping)
	if err != nil {
		return err
	}
	if g.Unknown != "" || !m.c.Linked && !g.Mapping.Refreshes() {
		if g.Unknown != "" {
			m.skipped[g.Mapping.From] = g.Unknown
		}
		for _, id := range managed {
			kept[id] = true
		}
		return nil
	}
	for _, name := range g.Names {
		if id := managed[name]; id != "" {
			stated[id] = true
		}
	}
	return nil
}

// dropUngranted removes the groups with permissions that the provider may not grant. Its other memberships there
// end.
func (m *mapping) dropUngranted(stated map[string]bool) error {
	limit := &schemas.ProviderMapping{Permissions: m.c.Permissions}
	for _, id := range slices.Sorted(maps.Keys(stated)) {
		has, err := PermissionsOf(m.t.ctx, m.t, schemas.Principal{Type: schemas.GroupPrincipal, ID: id})
		if err != nil {
			return err
		}
		if slices.ContainsFunc(has, func(p string) bool { return !limit.Grants(p) }) {
			delete(stated, id)
			m.skipped[id] = schemas.SkippedPermissions
		}
	}
	return nil
}

func (m *mapping) joinGroup(id string) error {
	n, err := m.t.exec(insertMember, m.c.UserID, id)
	if err != nil {
		return err
	}
	if _, err := m.t.exec(insertProviderMember, id, m.c.UserID, m.c.ProviderID); err != nil || n == 0 {
		return err
	}
	return m.changedGroup(schemas.GroupMemberGiven, id)
}

// leaveGroup ends the membership unless another provider states it, or no administrator would be left.
func (m *mapping) leaveGroup(id string) error {
	others, err := exists(m.t.ctx, m.t, selectOtherProviders, id, m.c.UserID, m.c.ProviderID)
	if err != nil {
		return err
	}
	if !others {
		before, err := m.t.hasAdministrator(m.c)
		if err != nil {
			return err
		}
		if _, err := m.t.exec(deleteMember, id, m.c.UserID); err != nil {
			return err
		}
		after, err := m.t.hasAdministrator(m.c)
		if err != nil {
			return err
		}
		if before && !after {
			m.skipped[id] = schemas.SkippedAdministrator
			if _, err := m.t.exec(insertMember, m.c.UserID, id); err != nil || m.leaves {
				return err
			}
			_, err := m.t.exec(insertProviderMember, id, m.c.UserID, m.c.ProviderID)
			return err
		}
		return m.changedGroup(schemas.GroupMemberTaken, id)
	}
	_, err = m.t.exec(deleteProviderMember, id, m.c.UserID, m.c.ProviderID)
	return err
}

// hasAdministrator reports whether a user who can sign in has the permission system.
func (t *Tx) hasAdministrator(c *schemas.MapIdentity) (bool, error) {
	holders, err := ActiveHolders(t.ctx, t, schemas.SystemPermission, c.At, 1)
	return len(holders) > 0, err
}

// changedGroup gives a group the entity tag of a change, and records it.
func (m *mapping) changedGroup(action, id string) error {
	if err := m.t.touch("user_groups", "?", id, m.c.At); err != nil {
		return err
	}
	return m.recordMembership(action, id)
}

// managedGroups returns the ids of the groups that a mapping manages, by the names that a provider states.
func managedGroups(r *Tx, g *schemas.GroupMapping) (map[string]string, error) {
	if g.Below == "" && g.Unit == "" {
		return g.Map, nil
	}
	q, of := selectGroupsBelow, g.Below
	if g.Below == "" {
		q, of = selectGroupsOfUnit, g.Unit
	}
	byName := map[string]string{}
	return byName, rows(r.ctx, r, func(row scanner) error {
		var id, name string
		err := row.Scan(&id, &name)
		byName[name] = id
		return err
	}, q, of)
}

// ManagedGroups returns the ids of the groups that a mapping manages, sorted.
func ManagedGroups(t *Tx, g *schemas.GroupMapping) ([]string, error) {
	byName, err := managedGroups(t, g)
	return slices.Compact(slices.Sorted(maps.Values(byName))), err
}

// KeepMembership makes the membership of a user in a group one of administrators.
func KeepMembership(t *Tx, groupID, userID string) error {
	_, err := t.exec(deleteProviderMembers, groupID, userID)
	return err
}
