package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// NewUser is a user to import, with credentials and memberships.
type NewUser struct {
	schemas.User
	PasswordHash string        // "" for none
	TOTP         *schemas.TOTP // sealed; nil for none
	Passkeys     []schemas.Credential
	Identities   []schemas.Identity
	Groups       []string // the IDs
	Roles        []string // the IDs
	Event        schemas.Event
}

// Obstacle is what keeps a user from being imported. The zero value is none.
type Obstacle struct {
	// Noun is that of the resource that has the user's ID; "user" if the user was imported before.
	Noun string
	// Taken are the attributes, "passkey" or "identity", whose values belong to another user.
	Taken []string
}

// Obstacles returns what keeps each of the users from being imported, users before it in the list
// among the reasons. They have one user type.
func Obstacles(ctx context.Context, r Reader, users []NewUser) ([]Obstacle, error) {
	p, err := planImport(ctx, r, users)
	return p.obstacles, err
}

// importPlan is what an import finds before it writes.
type importPlan struct {
	users     []NewUser
	obstacles []Obstacle
	rules     typeRules
	keys      []map[string][]string // per user: identifier → the attributes that have it
	alone     []bool                // per user: whether another user would lose an address
}

// planImport reads everything with a few queries for all users, because a query for each takes most
// of the time of an import.
func planImport(ctx context.Context, r Reader, users []NewUser) (p importPlan, err error) {
	p = importPlan{users: users, obstacles: make([]Obstacle, len(users)), keys: make([]map[string][]string, len(users)), alone: make([]bool, len(users))}
	if len(users) == 0 {
		return p, nil
	}
	if p.rules, err = rulesOf(ctx, r, users[0].Type); err != nil {
		return p, err
	}
	for i := range users {
		p.keys[i] = map[string][]string{}
		for _, attribute := range schemas.IdentifyingAttributes() {
			if key := schemas.IdentifierKey(users[i].Text(attribute)); key != "" {
				p.keys[i][key] = append(p.keys[i][key], attribute)
			}
		}
	}
	for _, find := range []func(context.Context, Reader) error{p.findIDs, p.findIdentifiers, p.findUnique, p.findCredentials, p.findHolders} {
		if err := find(ctx, r); err != nil {
			return p, err
		}
	}
	return p, nil
}

// lookUp calls found with the rows of a query, in which (?) stands for a list of values. Parameters
// before the first list are given by before.
func lookUp(ctx context.Context, r Reader, q string, values []any, found func(scanner) error, before ...any) error {
	for some := range slices.Chunk(values, maxOwners/2) {
		lists := strings.Count(q, "(?)")
		q := strings.ReplaceAll(q, "(?)", "("+placeholders(len(some))+")")
		if err := rows(ctx, r, found, q, slices.Concat(append([][]any{before}, slices.Repeat([][]any{some}, lists)...)...)...); err != nil {
			return err
		}
	}
	return nil
}

// findIDs finds the users whose ID a resource has.
func (p *importPlan) findIDs(ctx context.Context, r Reader) error {
	byID := map[string][]int{}
	var ids []any
	for i := range p.users {
		id := p.users[i].ID
		if byID[id] == nil {
			ids = append(ids, id)
		} else {
			p.obstacles[i].Noun = "user"
		}
		byID[id] = append(byID[id], i)
	}
	return lookUp(ctx, r, `
		SELECT 'user', id FROM users WHERE id IN (?)
		UNION ALL SELECT 'organizationUnit', id FROM organization_units WHERE id IN (?)
		UNION ALL SELECT 'userType', id FROM user_types WHERE id IN (?)
		UNION ALL SELECT 'resourceServer', id FROM resource_servers WHERE id IN (?)
		UNION ALL SELECT 'flow', id FROM flows WHERE id IN (?)
		UNION ALL SELECT 'application', id FROM applications WHERE id IN (?)
		UNION ALL SELECT 'application', client_id FROM applications WHERE client_id IN (?)
		UNION ALL SELECT 'group', id FROM user_groups WHERE id IN (?)
		UNION ALL SELECT 'role', id FROM roles WHERE id IN (?)
		UNION ALL SELECT 'identityProvider', id FROM identity_providers WHERE id IN (?)`, ids, func(row scanner) error {
		var noun, id string
		err := row.Scan(&noun, &id)
		for _, i := range byID[id] {
			p.obstacles[i].Noun = noun
		}
		return err
	})
}

// take reports the values that others have: those in the store, and those of users before. Each user
// has values, and their names.
func (p *importPlan) take(ctx context.Context, r Reader, q string, of func(i int, each func(value any, key, name string)), before ...any) error {
	taken := map[string]bool{}
	var values []any
	for i := range p.users {
		of(i, func(value any, key, _ string) {
			if _, known := taken[key]; !known {
				taken[key] = false
				values = append(values, value)
			}
		})
	}
	err := lookUp(ctx, r, q, values, func(row scanner) error {
		var value []byte
		err := row.Scan(&value)
		taken[string(value)] = true
		return err
	}, before...)
	for i := range p.users {
		if p.obstacles[i].Noun != "" {
			continue
		}
		of(i, func(_ any, key, name string) {
			if taken[key] && !slices.Contains(p.obstacles[i].Taken, name) {
				p.obstacles[i].Taken = append(p.obstacles[i].Taken, name)
			}
		})
		if len(p.obstacles[i].Taken) == 0 {
			of(i, func(_ any, key, _ string) { taken[key] = true })
		}
	}
	return err
}

// findIdentifiers finds the identifiers that others have. An unverified address does not identify
// its user, so another one may have it.
func (p *importPlan) findIdentifiers(ctx context.Context, r Reader) error {
	claims := func(i int, key string) bool {
		return p.users[i].Verified(schemas.EmailVerified) || slices.Contains(p.keys[i][key], "username")
	}
	owned := map[string]bool{} // by users before
	err := p.take(ctx, r, "SELECT value FROM user_identifiers WHERE value IN (?)", func(i int, each func(any, string, string)) {
		for _, key := range slices.Sorted(maps.Keys(p.keys[i])) {
			if !claims(i, key) {
				continue // below: the address of a user before is not taken
			}
			for _, attribute := range p.keys[i][key] {
				each(p.rules.prefix+key, p.rules.prefix+key, attribute)
			}
		}
	})
	if err != nil {
		return err
	}
	for i := range p.users {
		if p.obstacles[i].Noun != "" || len(p.obstacles[i].Taken) > 0 {
			continue
		}
		for key := range p.keys[i] {
			owned[p.rules.prefix+key] = owned[p.rules.prefix+key] || claims(i, key)
		}
	}
	return p.findUnverified(ctx, r, owned, claims)
}

// findUnverified finds the unverified addresses that identify other users.
func (p *importPlan) findUnverified(ctx context.Context, r Reader, owned map[string]bool, claims func(int, string) bool) error {
	var values []any
	for i := range p.users {
		for key := range p.keys[i] {
			if !claims(i, key) {
				values = append(values, p.rules.prefix+key)
			}
		}
	}
	err := lookUp(ctx, r, "SELECT value FROM user_identifiers WHERE value IN (?)", values, func(row scanner) error {
		var value string
		err := row.Scan(&value)
		owned[value] = true
		return err
	})
	for i := range p.users {
		for key := range p.keys[i] {
			if !claims(i, key) && owned[p.rules.prefix+key] && p.obstacles[i].Noun == "" {
				p.obstacles[i].Taken = append(p.obstacles[i].Taken, "email")
			}
		}
	}
	return err
}

// findUnique finds the unique values that others have.
func (p *importPlan) findUnique(ctx context.Context, r Reader) error {
	for _, attribute := range p.rules.unique {
		err := p.take(ctx, r, "SELECT value FROM user_unique_values WHERE attribute = ? AND value IN (?)", func(i int, each func(any, string, string)) {
			if key, err := uniqueKey(p.users[i].Attributes[attribute]); err == nil && key != "" {
				each(p.rules.prefix+key, p.rules.prefix+key, attribute)
			}
		}, attribute)
		if err != nil {
			return err
		}
	}
	return nil
}

// findCredentials finds the passkeys and identities that others have.
func (p *importPlan) findCredentials(ctx context.Context, r Reader) error {
	err := p.take(ctx, r, "SELECT id FROM credentials WHERE id IN (?)", func(i int, each func(any, string, string)) {
		for _, c := range p.users[i].Passkeys {
			each(nonNilBytes(c.ID), string(c.ID), "passkey")
		}
	})
	if err != nil {
		return err
	}
	const q = "SELECT provider_id || ' ' || subject FROM identities WHERE provider_id IN (SELECT id FROM identity_providers) AND subject IN (?)"
	return p.take(ctx, r, q, func(i int, each func(any, string, string)) {
		for _, identity := range p.users[i].Identities {
			each(identity.Subject, identity.ProviderID+" "+identity.Subject, "identity")
		}
	})
}

// findHolders finds the users who identify themselves by an address that another user has entered
// without verifying it. That user loses it: see emails.go.
func (p *importPlan) findHolders(ctx context.Context, r Reader) error {
	claimed, entered := map[string][]int{}, map[string]int{}
	var values []any
	for i := range p.users {
		if email := schemas.IdentifierKey(p.users[i].Text("email")); email != "" {
			entered[p.rules.prefix+email]++
		}
		for _, key := range addressesOf(&p.users[i].User) {
			claimed[p.rules.prefix+key] = append(claimed[p.rules.prefix+key], i)
			values = append(values, p.rules.prefix+key)
		}
	}
	mark := func(value string) {
		for _, i := range claimed[value] {
			p.alone[i] = true
		}
	}
	for value, n := range entered {
		if n > 1 || len(claimed[value]) > 1 {
			mark(value)
		}
	}
	for value, by := range claimed {
		if entered[value] > 0 && len(by) == 1 && schemas.IdentifierKey(p.users[by[0]].Text("email")) != strings.TrimPrefix(value, p.rules.prefix) {
			mark(value)
		}
	}
	return lookUp(ctx, r, "SELECT value FROM user_emails WHERE value IN (?)", values, func(row scanner) error {
		var value string
		err := row.Scan(&value)
		mark(value)
		return err
	})
}

// rulesOf is typeRules for a Reader.
func rulesOf(ctx context.Context, r Reader, userType string) (rules typeRules, err error) {
	err = rows(ctx, r, func(row scanner) error { return rules.scan(row, userType) }, selectTypeRules, userType)
	return rules, err
}

// ImportUsers creates the users without obstacles, and returns the obstacles of the others. The users
// have one type, and their attributes are valid. Each gets the event; no notices are queued.
func ImportUsers(t *Tx, users []NewUser) ([]Obstacle, error) {
	p, err := planImport(t.ctx, t, users)
	if err != nil {
		return nil, err
	}
	w := importWriter{t: t, plan: &p}
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
		w.groups = withKey(w.groups, group)
	}
	for _, role := range u.Roles {
		w.assignments = append(w.assignments, []any{role, u.ID})
		w.roles = withKey(w.roles, role)
	}
	w.events = append(w.events, w.t.eventValues(u.Event))
	return nil
}

func withKey(set map[string]bool, key string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[key] = true
	return set
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
		w.identities = append(w.identities, []any{identity.ID, u.ID, identity.ProviderID, identity.Subject, identity.Name, toMicros(identity.CreatedAt), optionalTime{&identity.LastUsedAt}})
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
