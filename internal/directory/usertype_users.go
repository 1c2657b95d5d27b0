package directory

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// A type that changes has users already. Those it would no longer describe are
// told, and keep the change from being made: nobody else would ever look.

// maxMismatchedUsers is how many users are told of; of the others only the number.
const maxMismatchedUsers = 20

// mismatchedUsers are the users that a change of their type would leave behind.
type mismatchedUsers struct {
	listed []schemas.Problem
	total  int
}

// add notes what is wrong with a user: the first problem, and how many more.
// Values are never told: who may change a type may not see its users.
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

// err is the refusal of the change; nil if nobody is left behind.
func (m *mismatchedUsers) err() error {
	if m.total == 0 {
		return nil
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeUsersDoNotFit,
		"users who would no longer fit the type: %d. Change them first, or let the type allow what they have", m.total).WithProblems(m.listed)
}

// checkUsersOf refuses a change that users of the type would not fit.
func (d *Directory) checkUsersOf(w *writeContext, old, t *schemas.UserType) error {
	if string(old.Schema) == string(t.Schema) || w.refusal != nil {
		return nil
	}
	if err := d.mayRequestFromUsers(w, old); err != nil || len(w.forbidden) > 0 {
		return err
	}
	compiled, err := d.types.compile(t)
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

// mayRequestFromUsers refuses to try a schema on users whom the caller may not see.
// That it fits them is an answer too: by a few patterns in turn anybody could
// read what they have letter by letter.
func (d *Directory) mayRequestFromUsers(w *writeContext, t *schemas.UserType) error {
	if read := d.Users.Noun().Read; !w.call.Permits(read) {
		anybody, err := store.Users().Find(w.ctx, w.tx, "type", t.Name)
		if err != nil {
			return err
		}
		if anybody != nil {
			w.addForbidden("schema", "there are users of the type, and whether they fit another schema tells what they have; it takes the permission %q too", read)
		}
	}
	return nil
}

// reclaimAttributes claims what has become unique, and releases what no longer
// is, for every user of a type that has changed.
func reclaimAttributes(w *writeContext, old, t *schemas.UserType) error {
	if old == nil || slices.Equal(old.UniqueAttributes(), t.UniqueAttributes()) {
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

// duplicateOf words what the store refuses for those who look at many users.
func duplicateOf(problems []schemas.Problem) []schemas.Problem {
	for i := range problems {
		problems[i].Message = "expected a value of its own: another user has the same"
	}
	return problems
}

// eachUserOf calls do with every user of a type, oldest first.
func eachUserOf(w *writeContext, userType string, do func(*schemas.User) error) error {
	return forEach(w, store.Users().List, store.Page{Member: "type", Value: userType},
		func(u *schemas.User) string { return u.ID }, do)
}
