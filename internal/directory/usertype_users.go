package directory

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// A changed type may not fit its existing users. Such a change is refused with the users it
// does not fit: no later check would find them.

// maxMismatchedUsers limits how many users the error lists.
const maxMismatchedUsers = 20

// mismatchedUsers are the users that do not fit a changed type.
type mismatchedUsers struct {
	listed []schemas.Problem
	total  int
}

// add adds the first problem of a user and the number of others. The messages contain no
// values: a caller who may change a type may not be allowed to read users.
func (m *mismatchedUsers) add(u *schemas.User, problems []schemas.Problem) {
	if m.total++; m.total > maxMismatchedUsers {
		return
	}
	p := problems[0].WithoutValue()
	p.Path = schemas.JoinPath(schemas.MemberPath("users", u.ID), schemas.JoinPath("attributes", p.Path))
	if len(problems) > 1 {
		p.Message += fmt.Sprintf(" (and %d more problems)", len(problems)-1)
	}
	m.listed = append(m.listed, p)
}

// err returns the error that refuses the change; nil if all users fit.
func (m *mismatchedUsers) err() error {
	if m.total == 0 {
		return nil
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeUsersDoNotFit,
		"%d user(s) would no longer match the user type; change these users first, or relax the schema", m.total).WithProblems(m.listed)
}

// checkUsersOf refuses a change of a type that its users do not fit.
func (d *Directory) checkUsersOf(w *writeContext, old, t *schemas.UserType) error {
	if string(old.Schema) == string(t.Schema) || w.refusal != nil {
		return nil
	}
	if err := d.mayRequestFromUsers(w, old); err != nil || len(w.forbidden) > 0 {
		return err
	}
	compiled, err := d.compileType(t)
	if err != nil {
		return err
	}
	var left mismatchedUsers
	err = eachUserOf(w, old.Name, func(u *schemas.User) error {
		text, err := json.Marshal(u.Attributes)
		if err != nil {
			return err
		}
		if problems := compiled.Check(text, false); len(problems) > 0 {
			left.add(u, problems)
		}
		return nil
	})
	w.refusal = left.err()
	return err
}

// mayRequestFromUsers refuses to check a schema against users that the caller may not read.
// The result reveals data: a series of patterns could read attributes letter by letter.
func (d *Directory) mayRequestFromUsers(w *writeContext, t *schemas.UserType) error {
	if read := d.Users.Noun().Read; !w.call.Permits(read) {
		anybody, err := store.Users().Find(w.ctx, w.tx, "type", t.Name)
		if err != nil {
			return err
		}
		if anybody != nil {
			w.addForbidden("schema", "the type has users, and a check against another schema reveals their attributes; it also requires the permission %q", read)
		}
	}
	return nil
}

// reclaimAttributes claims the values of every user of a changed type again if other attributes
// became unique, or if the identifier scope changed.
func reclaimAttributes(w *writeContext, old, t *schemas.UserType) error {
	if old == nil || old.IdentifierScope == t.IdentifierScope && slices.Equal(old.UniqueAttributes(), t.UniqueAttributes()) {
		return nil
	}
	var left mismatchedUsers
	err := eachUserOf(w, t.Name, func(u *schemas.User) error {
		err := store.ReindexUser(w.tx, u)
		if schemas.HasCode(err, schemas.CodeAttributeTaken) {
			left.add(u, duplicateOf(schemas.AsError(err).Errors))
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	return left.err()
}

// duplicateOf rewords the store's problem for a caller who sees many users.
func duplicateOf(problems []schemas.Problem) []schemas.Problem {
	for i := range problems {
		problems[i].Message = "expected a value of its own: another user has the same"
	}
	return problems
}

// eachUserOf calls do with every user of a type, oldest first.
func eachUserOf(w *writeContext, userType string, do func(*schemas.User) error) error {
	return forEach(w.ctx, w.tx, store.Users().List, store.Page{Member: "type", Value: userType},
		func(u *schemas.User) string { return u.ID }, do)
}
