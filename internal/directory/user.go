package directory

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func (d *Directory) userCollection() *collection[schemas.User] {
	table := store.Users()
	return &collection[schemas.User]{
		d: d, table: table,
		noun: newNoun(Noun{
			Name: "user", Schema: schemas.UserSchema, Filters: table.Filters(), Prefixes: table.Prefixes(),
			administers: true, isUser: true, conflictCode: schemas.CodeAttributeTaken, // as in flows
		}),
		meta:     func(u *schemas.User) meta { return meta{&u.ID, &u.CreatedAt, &u.UpdatedAt} },
		prepare:  d.preparePassword,
		complete: completeUser,
		check:    d.checkUser,
		changed:  d.userChanged,
		remove: func(w *writeContext, u *schemas.User) {
			w.requireOf("", "this user", principalOf(u))
			w.requireAuthority(u.ID)
			_, err := w.endSessions(u.ID, "")
			w.fail(err)
			w.fail(store.RemovePrincipal(w.tx, principalOf(u), w.now))
		},
	}
}

func principalOf(u *schemas.User) schemas.Principal {
	return schemas.Principal{Type: schemas.UserPrincipal, ID: u.ID}
}

func completeUser(w *writeContext, _, u *schemas.User) {
	if u.Attributes == nil {
		u.Attributes = map[string]any{}
	}
	completeStatus(u)
	u.AddedWithFormerPassword = nil // only replies have it
	_, w.secret = u.Attributes[passwordAttribute]
	delete(u.Attributes, passwordAttribute) // stored separately, as a hash
	resolveUserType(w, &u.Type)
	defaultUnit(w, &u.OUID)
}

func (d *Directory) checkUser(w *writeContext, old, u *schemas.User) {
	checkExists(w, store.Units(), "ouId", u.OUID)
	t := w.userType(u)
	d.checkAttributes(w, old, u, t)
	w.checkMayClaim(old, u)
	if old != nil { // a new user has no permissions
		w.checkMayChange(old, u, t)
		w.checkOwners(old, u)
	}
}

// changedAttributes returns the names of the attributes that the replacement changes, sets
// or removes, sorted.
func changedAttributes(old, u *schemas.User) []string {
	names := map[string]bool{}
	for _, attributes := range []map[string]any{old.Attributes, u.Attributes} {
		for name := range attributes {
			names[name] = !reflect.DeepEqual(old.Attributes[name], u.Attributes[name])
		}
	}
	maps.DeleteFunc(names, func(_ string, changed bool) bool { return !changed })
	return slices.Sorted(maps.Keys(names))
}

// checkAttributes checks the attributes against the user's type and that unique ones are
// free.
func (d *Directory) checkAttributes(w *writeContext, old, u *schemas.User, t *schemas.UserType) {
	if t.Name == "" {
		return // reported already
	}
	compiled, err := d.compileType(t)
	if err != nil {
		w.fail(fmt.Errorf("the type of a user: %v", err)) // not the caller's fault
		return
	}
	problems := compiled.Check(attributesOf(w.document), startsNewGeneration(w, old, u))
	problems = append(problems, schemas.WithoutDuplicates(w.checkPassword(), problems)...)
	for _, p := range problems {
		w.addInvalid(schemas.JoinPath("attributes", p.Path), "%s", p.Message)
	}
	w.checkUnique(old, u, t, problems)
}

// checkUnique reports unique attributes that another user has, unless the value is already
// reported.
func (w *writeContext) checkUnique(old, u *schemas.User, t *schemas.UserType, wrong []schemas.Problem) {
	own := *u
	own.ID = orZero(old).ID
	taken, err := store.TakenAttributes(w.ctx, w.tx, &own, t.UniqueAttributes())
	w.fail(err)
	for _, attribute := range taken {
		path := schemas.MemberPath("", attribute)
		if len(schemas.WithoutDuplicates([]schemas.Problem{{Path: path}}, wrong)) > 0 {
			w.addConflict(schemas.JoinPath("attributes", path), "another user has this value; choose a different one")
		}
	}
}

// startsNewGeneration reports whether the user must have the credentials that the type
// requires: a new user, or one who is new to the type and has no password.
func startsNewGeneration(w *writeContext, old, u *schemas.User) bool {
	if old == nil || old.Type == u.Type {
		return old == nil
	}
	has, err := store.HasPassword(w.ctx, w.tx, old.ID)
	w.fail(err)
	return !has
}

// attributesOf returns the attributes of the document. Decoding them into a user would
// round numbers.
func attributesOf(d *schemas.Document) json.RawMessage {
	var u struct {
		Attributes json.RawMessage `json:"attributes"`
	}
	if err := json.Unmarshal(d.JSON(), &u); err != nil {
		return nil // not an object: reported already
	}
	if len(u.Attributes) == 0 || string(u.Attributes) == "null" {
		return json.RawMessage("{}")
	}
	return u.Attributes
}

// checkMayClaim refuses to give the user an address that another user, who has permissions
// that the caller lacks, would lose.
func (w *writeContext) checkMayClaim(old, u *schemas.User) {
	own := *u
	own.ID = orZero(old).ID
	losing, err := store.UsersLosingEmail(w.tx, &own)
	w.fail(err)
	for _, id := range losing {
		w.requireOf("attributes.email", "a user who has entered this address", schemas.Principal{Type: schemas.UserPrincipal, ID: id})
	}
}

// checkMayChange refuses a change that could give the caller the account of a user with
// permissions that the caller lacks: here, or at an application that recognizes or recovers
// accounts by an address or a number. It also refuses to disable, lock, enable or unlock
// such a user.
func (w *writeContext) checkMayChange(old, u *schemas.User, t *schemas.UserType) {
	paths := changedStatus(old, u)
	if old.Type != u.Type {
		paths = append(paths, "type")
	}
	for _, attribute := range t.AccountAttributes(changedAttributes(old, u)) {
		paths = append(paths, schemas.MemberPath("attributes", attribute))
	}
	if w.secret {
		paths = append(paths, "attributes."+passwordAttribute)
	}
	for _, path := range paths {
		if w.call.own && w.call.is(old.ID) {
			continue
		}
		w.requireOf(path, "this user", principalOf(old))
	}
	if len(paths) > 0 {
		w.requireAuthority(old.ID)
	}
}

// userType returns the type of a user, without a name if there is none.
func (w *writeContext) userType(u *schemas.User) *schemas.UserType {
	if u.Type == "" {
		return &schemas.UserType{} // reported already
	}
	t, err := store.UserTypes().Find(w.ctx, w.tx, "name", u.Type)
	if !w.fail(err) && t == nil {
		w.addInvalid("type", "there is no user type %.64q", u.Type)
	}
	return orZero(t)
}
