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
		noun: Noun{
			Name: "user", Plural: "users", Path: "/users",
			Read: "system:users:read", Write: "system:users:write",
			Schema: schemas.UserSchema, Filters: table.Filters(),
			administers: true, isUser: true, conflictCode: schemas.CodeAttributeTaken, // as in flows
		},
		meta:     func(u *schemas.User) meta { return meta{&u.ID, &u.CreatedAt, &u.UpdatedAt} },
		prepare:  d.preparePassword,
		complete: completeUser,
		check:    func(w *writeContext, old, u *schemas.User) { w.fail(d.checkUser(w, old, u)) },
		changed:  d.userChanged,
		remove: func(w *writeContext, u *schemas.User) {
			w.requireOf("", "this user", principalOf(u))
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
	_, w.secret = u.Attributes[passwordAttribute]
	delete(u.Attributes, passwordAttribute) // stored separately, as a hash
	resolveUserType(w, &u.Type)
	defaultUnit(w, &u.OUID)
}

func (d *Directory) checkUser(w *writeContext, old, u *schemas.User) error {
	checkExists(w, store.Units(), "ouId", u.OUID)
	if err := d.checkAttributes(w, old, u); err != nil {
		return err
	}
	if err := w.checkMayClaim(old, u); err != nil {
		return err
	}
	if old == nil {
		return nil // a new user has no permissions
	}
	return w.checkMayChange(old, u)
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
func (d *Directory) checkAttributes(w *writeContext, old, u *schemas.User) error {
	if u.Type == "" {
		return nil // reported already
	}
	t, err := store.UserTypes().Find(w.ctx, w.tx, "name", u.Type)
	if err != nil {
		return err
	}
	if t == nil {
		w.addInvalid("type", "there is no user type %.64q", u.Type)
		return nil
	}
	compiled, err := d.compileType(t)
	if err != nil {
		return fmt.Errorf("the type of a user: %v", err) // not the caller's fault
	}
	given, err := attributesOf(w.document)
	if err != nil {
		return err
	}
	whole, err := startsNewGeneration(w, old, u)
	if err != nil {
		return err
	}
	problems := compiled.Check(given, whole)
	problems = append(problems, schemas.WithoutDuplicates(w.checkPassword(), problems)...)
	for _, p := range problems {
		w.addInvalid(schemas.JoinPath("attributes", p.Path), "%s", p.Message)
	}
	return w.checkUnique(old, u, t, problems)
}

// checkUnique reports unique attributes that another user has, unless the value is already
// reported.
func (w *writeContext) checkUnique(old, u *schemas.User, t *schemas.UserType, wrong []schemas.Problem) error {
	own := *u
	own.ID = orZero(old).ID
	taken, err := store.TakenAttributes(w.ctx, w.tx, &own, t.UniqueAttributes())
	for _, attribute := range taken {
		path := schemas.MemberPath("", attribute)
		if len(schemas.WithoutDuplicates([]schemas.Problem{{Path: path}}, wrong)) > 0 {
			w.addConflict(schemas.JoinPath("attributes", path), "is taken by another user; choose another")
		}
	}
	return err
}

// startsNewGeneration reports whether the user must have the credentials that the type
// requires: a new user, or one who is new to the type and has no password.
func startsNewGeneration(w *writeContext, old, u *schemas.User) (bool, error) {
	if old == nil || old.Type == u.Type {
		return old == nil, nil
	}
	has, err := store.HasPassword(w.ctx, w.tx, old.ID)
	return !has, err
}

// attributesOf returns the attributes of the document. Decoding them into a user would
// round numbers.
func attributesOf(d *schemas.Document) (json.RawMessage, error) {
	var u struct {
		Attributes json.RawMessage `json:"attributes"`
	}
	if err := json.Unmarshal(d.JSON(), &u); err != nil {
		return nil, nil // not an object: reported already
	}
	if len(u.Attributes) == 0 || string(u.Attributes) == "null" {
		return json.RawMessage("{}"), nil
	}
	return u.Attributes, nil
}

// checkMayClaim refuses to give the user an address that another user, who has permissions
// that the caller lacks, would lose.
func (w *writeContext) checkMayClaim(old, u *schemas.User) error {
	own := *u
	own.ID = orZero(old).ID
	losing, err := store.UsersLosingEmail(w.tx, &own)
	if err != nil {
		return err
	}
	for _, id := range losing {
		w.requireOf("attributes.email", "a user who has entered this address", schemas.Principal{Type: schemas.UserPrincipal, ID: id})
	}
	return nil
}

// checkMayChange refuses a change that could give the caller the account of a user with
// permissions that the caller lacks: here, or at an application that recognizes or recovers
// accounts by an address or a number. It also refuses to disable, lock, enable or unlock
// such a user.
func (w *writeContext) checkMayChange(old, u *schemas.User) error {
	paths := changedStatus(old, u)
	if old.Type != u.Type {
		paths = append(paths, "type")
	}
	t, err := store.UserTypes().Find(w.ctx, w.tx, "name", u.Type)
	if err != nil {
		return err
	}
	if t == nil { // reported already
		t = &schemas.UserType{}
	}
	for _, attribute := range t.AccountAttributes(changedAttributes(old, u)) {
		paths = append(paths, schemas.MemberPath("attributes", attribute))
	}
	if w.secret {
		paths = append(paths, "attributes."+passwordAttribute)
	}
	for _, path := range paths {
		w.requireOf(path, "this user", principalOf(old))
	}
	return nil
}
