package store

import (
	"context"
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
		UNION ALL SELECT 'identityProvider', id FROM identity_providers WHERE id IN (?)
		UNION ALL SELECT '`+DeletedUser+`', id FROM deleted_users WHERE id IN (?)`, ids, func(row scanner) error {
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
