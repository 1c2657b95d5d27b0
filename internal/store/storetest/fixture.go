package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// homeID is the id of the organization unit that everything in these tests
// belongs to.
const homeID = "01900000-0000-7000-8000-0000000000aa"

func newUnit(handle string) schemas.OrganizationUnit {
	return schemas.OrganizationUnit{ID: schemas.NewID(), Handle: handle, Name: handle, CreatedAt: noon(), UpdatedAt: noon()}
}

func newUserType(name string) schemas.UserType {
	return schemas.UserType{ID: schemas.NewID(), Name: name, OUID: homeID, Schema: json.RawMessage(`{"type":"object"}`),
		CreatedAt: noon(), UpdatedAt: noon()}
}

// corpID is the id of the identity provider of these tests.
const corpID = "01900000-0000-7000-8000-0000000000ab"

// insertFixture adds the organization unit, the user type and the identity provider of these tests,
// unless they are there.
func insertFixture(ctx context.Context, s *store.Store) error {
	home, person, corp := newUnit("home"), newUserType("Person"), newIdentityProvider("corp")
	home.ID, corp.ID = homeID, corpID
	return s.Update(ctx, func(tx *store.Tx) error {
		if found, err := store.Units().Find(ctx, tx, "handle", "home"); err != nil || found != nil {
			return err
		}
		return errors.Join(store.Units().Insert(tx, &home), store.UserTypes().Insert(tx, &person), store.IdentityProviders().Insert(tx, &corp))
	})
}

// update runs a transaction that must succeed.
func update(t testing.TB, s *store.Store, do func(*store.Tx) error) {
	t.Helper()
	must(t, s.Update(t.Context(), do))
}
