package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// batch is the number of users in one transaction.
const batch = 1000

// seed adds users to the store of a server that has stopped. They have the type and the
// organization unit of the administrator.
func seed(ctx context.Context, c store.Config, users int) (err error) {
	s, err := store.Open(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	found, err := store.Users().List(ctx, s, store.Page{Limit: 1})
	if err != nil || len(found) == 0 {
		return errors.Join(err, errors.New("the store has no administrator"))
	}
	model := found[0]
	for done := 0; done < users; done += batch {
		err := s.Update(ctx, func(tx *store.Tx) error { return insertUsers(tx, &model, done, min(users, done+batch)) })
		if err != nil {
			return err
		}
	}
	return nil
}

func insertUsers(tx *store.Tx, model *schemas.User, from, to int) error {
	now := time.Now().UTC()
	for i := from; i < to; i++ {
		u := schemas.User{ID: schemas.NewID(), Type: model.Type, OUID: model.OUID, CreatedAt: now, UpdatedAt: now,
			Attributes: map[string]any{"username": fmt.Sprint("seeded", i), "given_name": "Ann", "family_name": "Smith"}}
		if err := store.Users().Insert(tx, &u); err != nil {
			return err
		}
	}
	return nil
}
