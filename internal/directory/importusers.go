package directory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// UserImport creates users of one type that another product had, many in one transaction. The rules
// of users hold; the policy for new passwords does not, because the passwords are not new.
type UserImport struct {
	// MayAdminister lets users join groups and get roles with administrative permissions.
	MayAdminister bool

	d      *Directory
	call   Call
	kind   schemas.UserType
	fits   *schemas.CompiledUserType
	unit   string
	source string
}

// NewUserImport returns an import of users of a type into a unit, "" for the default one. The events
// name the source. The caller must have the permission system.
func (d *Directory) NewUserImport(ctx context.Context, c Call, userType, unit, source string) (*UserImport, error) {
	if !c.Permits(systemPermission) {
		return nil, schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden, "importing users needs the permission %q", systemPermission)
	}
	t, err := store.UserTypes().Find(ctx, d.store, "name", userType)
	if err == nil && t == nil {
		err = schemas.Errorf(schemas.NotFound, "user_type_not_found", "there is no user type %.64q; create it first, or choose another", userType)
	}
	if err != nil {
		return nil, err
	}
	fits, err := d.compileType(t)
	if err != nil {
		return nil, err
	}
	placed := schemas.User{}
	u, err := store.Units().Find(ctx, d.store, "handle", unit)
	if unit != "" && err == nil && u == nil {
		err = schemas.Errorf(schemas.NotFound, "organization_unit_not_found", "there is no organization unit with the handle %.64q", unit)
	}
	if unit == "" && err == nil {
		_, err = d.placeUser(ctx, &placed)
	}
	if err != nil {
		return nil, err
	}
	if u != nil {
		placed.OUID = u.ID
	}
	return &UserImport{d: d, call: c, kind: *t, fits: fits, unit: placed.OUID, source: source}, nil
}

// Attributes returns the attributes that the user type names, and whether users can have others.
func (i *UserImport) Attributes() (names []string, open bool) { return i.kind.AttributeNames() }

// AcceptsPasswords reports whether users of the type can have a password.
func (i *UserImport) AcceptsPasswords() bool { return i.fits.CredentialAttribute() != "" }

// Prepare completes a user and returns what is wrong with it. It needs no transaction. Attributes that
// the type marks as a credential must not be present.
func (i *UserImport) Prepare(u *store.NewUser) []schemas.Problem {
	u.Type, u.OUID = i.kind.Name, i.unit
	now := i.d.now()
	if u.UpdatedAt = now; u.CreatedAt.IsZero() || u.CreatedAt.After(now) {
		u.CreatedAt = now
	}
	u.CreatedAt = u.CreatedAt.UTC().Truncate(time.Microsecond)
	completeStatus(&u.User)
	text, err := json.Marshal(u.Attributes)
	if err != nil {
		return []schemas.Problem{{Message: err.Error()}}
	}
	problems := i.fits.Check(text, false)
	if bytes.Contains(text, []byte(`\u0000`)) {
		problems = append(problems, findNULs("", u.Attributes)...)
	}
	if !isCanonicalUUID(u.ID) {
		problems = append(problems, schemas.Problem{Path: "id", Message: fmt.Sprintf("expected a UUID in lower case, got %.64q", u.ID)})
	}
	if u.PasswordHash != "" && !i.AcceptsPasswords() {
		problems = append(problems, schemas.Problem{Path: passwordAttribute, Message: fmt.Sprintf("users of the type %q have no password", i.kind.Name)})
	}
	u.Groups, u.Roles = distinct(u.Groups), distinct(u.Roles)
	u.Event = i.event(u)
	return problems
}

func distinct(ids []string) []string { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// event returns the event of an imported user. It has a digest of the user, like the event of a
// created one, and lists the kinds of credentials.
func (i *UserImport) event(u *store.NewUser) schemas.Event {
	has := map[string]bool{"password": u.PasswordHash != "", "totp": u.TOTP != nil, "passkey": len(u.Passkeys) > 0, "identity": len(u.Identities) > 0,
		"group": len(u.Groups) > 0, "role": len(u.Roles) > 0}
	maps.DeleteFunc(has, func(_ string, present bool) bool { return !present })
	detail := map[string]string{"source": i.source, "has": strings.Join(slices.Sorted(maps.Keys(has)), " ")}
	for name, ids := range map[string][]string{"groups": u.Groups, "roles": u.Roles} {
		if len(ids) > 0 {
			detail[name] = strings.Join(ids[:min(len(ids), maxRecordedIDs)], " ")
		}
	}
	recorded := u.User
	recorded.CreatedAt, recorded.UpdatedAt = time.Time{}, time.Time{}
	return schemas.Event{
		ID: schemas.NewID(), At: u.UpdatedAt, Action: "user.imported", UserID: u.ID, Actor: i.call.Actor, TraceID: i.call.TraceID,
		Resource: schemas.ResourceRef{Type: "user", ID: u.ID}, After: i.d.digest(&recorded),
		Detail: detail,
	}
}

// maxRecordedIDs limits the groups and the roles that the event of a user lists.
const maxRecordedIDs = 20

// DeletedUsers returns those of the IDs that belonged to users who were deleted.
func (i *UserImport) DeletedUsers(ctx context.Context, ids []string) (map[string]bool, error) {
	return store.DeletedUsers(ctx, i.d.store, ids)
}

// Write creates prepared users in one transaction, unless the call is a dry run, and returns what keeps
// others from being created. A user that exists with the same ID stays unchanged.
func (i *UserImport) Write(ctx context.Context, users []store.NewUser) (obstacles []store.Obstacle, err error) {
	if i.call.DryRun {
		return store.Obstacles(ctx, i.d.store, users)
	}
	err = i.d.Transact(ctx, i.call, func(c Call) error {
		if err := i.guard(ctx, c, users); err != nil {
			return err
		}
		obstacles, err = store.ImportUsers(c.tx, users)
		return err
	})
	return obstacles, err
}

// guard refuses users who would become administrators, unless they may: the permissions of a group or
// a role may have changed since the import read them.
func (i *UserImport) guard(ctx context.Context, c Call, users []store.NewUser) error {
	if i.MayAdminister {
		return nil
	}
	joined := map[string]map[string]bool{"groups": {}, "roles": {}}
	for _, u := range users {
		for plural, ids := range map[string][]string{"groups": u.Groups, "roles": u.Roles} {
			for _, id := range ids {
				joined[plural][id] = true
			}
		}
	}
	for plural, ids := range joined {
		for id := range ids {
			administers, _, err := i.d.Administers(ctx, c, plural, id)
			if err == nil && administers {
				err = schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden,
					"one of the %s (id %s) gives administrative permissions now: imported users do not become administrators unless the import allows it", plural, id)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Administers returns the permissions that a role or a group ("roles", "groups") gives, and reports
// whether one of them is administrative.
func (d *Directory) Administers(ctx context.Context, c Call, plural, id string) (administers bool, permissions []string, err error) {
	permissions, err = store.GivenPermissions(ctx, d.reader(c), plural, id)
	return slices.ContainsFunc(permissions, schemas.IsAdministrative), permissions, err
}

// ImportOrigin returns the import that created a resource; "" if none did, or one of a release that
// did not record it.
func (d *Directory) ImportOrigin(ctx context.Context, c Call, plural, id string) (string, error) {
	return store.ImportOrigin(ctx, d.reader(c), plural, id)
}

// SetImportOrigin records the import that has created a resource.
func (d *Directory) SetImportOrigin(ctx context.Context, c Call, plural, id, origin string) error {
	return d.transact(ctx, c, func(w *writeContext) error { return store.SetImportOrigin(w.tx, plural, id, origin) })
}

// AdministrativeGrants returns the administrative permissions of all users and applications that have
// one.
func (d *Directory) AdministrativeGrants(ctx context.Context, c Call) (map[schemas.Principal][]string, error) {
	return store.AdministrativeGrants(ctx, d.reader(c))
}

// RecordImport records that an import has ended.
func (d *Directory) RecordImport(ctx context.Context, c Call, detail map[string]string) error {
	return d.transact(ctx, c, func(w *writeContext) error {
		w.record(schemas.Event{Action: "store.imported", Detail: detail})
		return nil
	})
}
