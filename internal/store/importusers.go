package store

import (
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// ImportUsers creates the users without obstacles, and returns the obstacles of the others. The users
// have one type, and their attributes are valid. Each gets the event; no notices are queued.
func ImportUsers(t *Tx, users []NewUser) ([]Obstacle, error) {
	p, err := planImport(t.ctx, t, users)
	if err != nil {
		return nil, err
	}
	w := importWriter{t: t, plan: &p, groups: map[string]bool{}, roles: map[string]bool{}}
	for i := range users {
		if o := p.obstacles[i]; o.Noun != "" || len(o.Taken) > 0 {
			continue
		}
		if err := w.add(i); err != nil {
			return nil, err
		}
	}
	return p.obstacles, w.write()
}

// importWriter collects the rows of users by table.
type importWriter struct {
	t    *Tx
	plan *importPlan

	users, identifiers, unique, emails, passwords, totp, passkeys, identities, members, assignments, events [][]any
	groups, roles                                                                                           map[string]bool
	claims                                                                                                  []*schemas.User // to be claimed one by one
}

// add adds the rows of a user.
func (w *importWriter) add(i int) error {
	u := &w.plan.users[i]
	if err := checkIdentifiers(&u.User); err != nil {
		return err
	}
	values, err := userValues(&u.User)
	if err != nil {
		return err
	}
	w.users = append(w.users, values)
	if w.plan.alone[i] {
		w.claims = append(w.claims, &u.User)
	} else if err := w.addClaims(i); err != nil {
		return err
	}
	w.addCredentials(u)
	for _, group := range u.Groups {
		w.members = append(w.members, []any{group, u.ID})
		w.groups[group] = true
	}
	for _, role := range u.Roles {
		w.assignments = append(w.assignments, []any{role, u.ID})
		w.roles[role] = true
	}
	w.events = append(w.events, w.t.eventValues(u.Event))
	return nil
}

// addClaims adds the identifiers, the address and the unique values of a user, like claim.
func (w *importWriter) addClaims(i int) error {
	u, prefix := &w.plan.users[i], w.plan.rules.prefix
	verified := u.Verified(schemas.EmailVerified)
	for _, key := range slices.Sorted(maps.Keys(w.plan.keys[i])) {
		named := slices.Contains(w.plan.keys[i][key], "username")
		if verified || named {
			w.identifiers = append(w.identifiers, []any{prefix + key, u.ID, sql.NullString{String: key, Valid: named}})
		}
		if slices.Contains(w.plan.keys[i][key], "email") {
			w.emails = append(w.emails, []any{prefix + key, u.ID, key})
		}
	}
	for _, attribute := range w.plan.rules.unique {
		key, err := uniqueKey(u.Attributes[attribute])
		if err != nil {
			return err
		}
		if key != "" {
			w.unique = append(w.unique, []any{attribute, prefix + key, u.ID})
		}
	}
	return nil
}

func (w *importWriter) addCredentials(u *NewUser) {
	at := toMicros(u.UpdatedAt)
	if u.PasswordHash != "" {
		w.passwords = append(w.passwords, []any{u.ID, schemas.NewID(), u.PasswordHash, at, provenance{&schemas.Provenance{}}})
	}
	if app := u.TOTP; app != nil {
		w.totp = append(w.totp, []any{u.ID, nonNilBytes(app.Secret), app.LastStep, toMicros(app.CreatedAt), optionalTime{&app.LastUsedAt}, provenance{&app.AddedBy}})
	}
	for i := range u.Passkeys {
		w.passkeys = append(w.passkeys, credentialValues(&u.Passkeys[i]))
	}
	for i := range u.Identities {
		identity := &u.Identities[i]
		w.identities = append(w.identities, []any{identity.ID, u.ID, identity.ProviderID, identity.Subject, identity.Name, toMicros(identity.CreatedAt), optionalTime{&identity.LastUsedAt}, provenance{&identity.AddedBy}})
	}
}

// write writes the rows, each table after those that it refers to.
func (w *importWriter) write() error {
	for _, into := range []struct {
		table, columns string
		rows           [][]any
	}{
		{"users", "id, type, ou_id, attributes, status, locked_until, created_at, updated_at", w.users},
		{"user_identifiers", "value, user_id, username", w.identifiers},
		{"user_unique_values", "attribute, value, user_id", w.unique},
		{"user_emails", "value, user_id, address", w.emails},
		{"passwords", "user_id, id, hash, set_at, added_by", w.passwords},
		{"totp", totpColumns, w.totp},
		{"credentials", credentialColumns, w.passkeys},
		{"identities", identityColumns, w.identities},
		{"group_members", "group_id, user_id", w.members},
		{"role_assignments", "role_id, user_id", w.assignments},
		{"events", eventColumns, w.events},
	} {
		if err := w.t.insertRows(into.table, into.columns, into.rows); err != nil {
			return err
		}
	}
	for _, u := range w.claims {
		if err := w.t.claim(u); err != nil {
			return err
		}
	}
	return w.touch()
}

// touch dates the groups and roles that have new members.
func (w *importWriter) touch() error {
	if len(w.plan.users) == 0 {
		return nil
	}
	at := w.plan.users[0].UpdatedAt
	for _, id := range slices.Sorted(maps.Keys(w.groups)) {
		if err := w.t.touch("user_groups", "?", id, at); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.roles)) {
		if err := w.t.touch("roles", "?", id, at); err != nil {
			return err
		}
	}
	return nil
}

// insertRows inserts rows with few statements. Each number of rows is a statement of its own, which
// connections keep.
func (t *Tx) insertRows(table, columns string, list [][]any) error {
	for _, size := range []int{64, 8, 1} {
		for len(list) >= size {
			row := "(" + placeholders(len(list[0])) + ")"
			q := "INSERT INTO " + table + " (" + columns + ") VALUES " + row + strings.Repeat(", "+row, size-1)
			if _, err := t.exec(q, slices.Concat(list[:size]...)...); err != nil {
				return err
			}
			list = list[size:]
		}
	}
	return nil
}
