package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// Identifier scopes
//
// Identifiers and unique values are unique among the users of one scope. A user type with
// schemas.TypeIdentifiers is a scope of its own: its values are stored with the name of the type
// and scopeSeparator as a prefix. All other types share the global scope, without a prefix. No
// identifier contains the separator, because it is invisible (schemas.CheckIdentifier), and names
// of types in use do not change.

const scopeSeparator = "\x1f"

const (
	// scopedValue returns the stored form of a value, from its user type and its key.
	scopedValue = `COALESCE((SELECT name || '` + scopeSeparator + `' FROM user_types
		WHERE name = ? AND identifier_scope = '` + schemas.TypeIdentifiers + `'), '') || CAST(? AS TEXT)`

	// A change of the rules waits for writes under the old rules, and then claims the values of all
	// users again.
	selectTypeRules = `SELECT unique_attributes, identifier_scope FROM user_types WHERE name = ?` + forShare

	insertIdentifier = `INSERT INTO user_identifiers (value, user_id, username) VALUES (?, ?, ?)
		ON CONFLICT (value) DO NOTHING`

	insertUniqueValue = `INSERT INTO user_unique_values (attribute, value, user_id) VALUES (?, ?, ?)
		ON CONFLICT (attribute, value) DO NOTHING`
)

// claim claims every value that must be unique to the user and reports all that are taken. It
// claims in a fixed order, so that two users who claim the same values do not deadlock. For
// email addresses see emails.go.
func (t *Tx) claim(u *schemas.User) error {
	rules, err := t.typeRules(u.Type)
	if err != nil {
		return err
	}
	if err := t.lockEmailHolders(u, rules.prefix); err != nil {
		return err
	}
	taken := map[string]bool{}
	identifiers := map[string][]string{} // value → the attributes that have it
	for _, attribute := range schemas.IdentifyingAttributes() {
		if key := schemas.IdentifierKey(u.Text(attribute)); key != "" {
			identifiers[key] = append(identifiers[key], attribute)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(identifiers)) {
		username := sql.NullString{String: key, Valid: slices.Contains(identifiers[key], "username")}
		n, err := t.exec(insertIdentifier, rules.prefix+key, u.ID, username)
		if err != nil {
			return err
		}
		for _, attribute := range identifiers[key] {
			taken[attribute] = n == 0
		}
	}
	for _, attribute := range rules.unique {
		if taken[attribute], err = t.claimUnique(u, attribute, rules.prefix); err != nil {
			return err
		}
	}
	if err := errTaken(slices.Concat(schemas.IdentifyingAttributes(), rules.unique), taken); err != nil {
		return err
	}
	return t.claimEmail(u, rules.prefix)
}

// claimUnique claims the value of an attribute, and reports whether it is taken.
func (t *Tx) claimUnique(u *schemas.User, attribute, prefix string) (taken bool, err error) {
	key, err := uniqueKey(u.Attributes[attribute])
	if err != nil || key == "" {
		return false, err
	}
	n, err := t.exec(insertUniqueValue, attribute, prefix+key, u.ID)
	return n == 0, err
}

// typeRules are the rules of a user type for the values that its users claim.
type typeRules struct {
	unique []string // the unique attributes that do not identify users, sorted
	prefix string   // of the values: see scopeSeparator
}

// typeRules returns the rules of a user type; those of an unknown type are empty.
func (t *Tx) typeRules(userType string) (rules typeRules, err error) {
	if err = rules.scan(t.row(selectTypeRules, userType), userType); errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return rules, err
}

// scan reads the rules of a user type.
func (rules *typeRules) scan(row scanner, userType string) error {
	var unique lines
	var scope sql.NullString
	if err := row.Scan(&unique, &scope); err != nil {
		return err
	}
	rules.unique = slices.DeleteFunc(unique, func(attribute string) bool {
		return slices.Contains(schemas.IdentifyingAttributes(), attribute)
	})
	slices.Sort(rules.unique)
	if scope.String == schemas.TypeIdentifiers {
		rules.prefix = userType + scopeSeparator
	}
	return nil
}

// uniqueKey returns the form in which values of unique attributes are compared: text as an
// identifier key, any other value as JSON, and "" for a missing one.
func uniqueKey(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return schemas.IdentifierKey(v), nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// errTaken returns an error that lists the attributes whose values belong to other users, or
// nil.
func errTaken(attributes []string, taken map[string]bool) error {
	var problems []schemas.Problem
	for _, attribute := range attributes {
		if taken[attribute] {
			problems = append(problems, schemas.Problem{Path: attribute, Message: "another user has this value; choose a different one"})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeAttributeTaken,
		"another user has this %s already; choose another, or sign in", problems[0].Path).WithProblems(problems)
}
