package store

import (
	"context"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

const insertSeeding query = `INSERT INTO seeding (one, done_at) VALUES (1, ?) ON CONFLICT (one) DO NOTHING`

// Seed is what a new store begins with. Permissions maps a user's id to what
// the user may do.
type Seed struct {
	Applications []schemas.Application
	Flows        []schemas.Flow
	Changes      []schemas.Change
	Permissions  map[string][]string
}

// Seed fills a store that was never seeded before, all or nothing, and reports
// whether it did. Of several instances that start at once exactly one does it;
// the others wait for it and get false.
func (s *Store) Seed(ctx context.Context, seed Seed) (seeded bool, err error) {
	err = s.writer.write(ctx, func(t *tx) error {
		n, err := t.exec(insertSeeding, micros(time.Now()))
		if err != nil {
			return fmt.Errorf("store: claiming the seeding: %w", err)
		}
		seeded = n > 0
		if !seeded {
			return nil
		}
		return t.seed(&seed)
	})
	return seeded && err == nil, err
}

func (t *tx) seed(seed *Seed) error {
	for i := range seed.Flows {
		if err := t.createFlow(&seed.Flows[i]); err != nil {
			return err
		}
	}
	for i := range seed.Applications {
		if err := t.createApplication(&seed.Applications[i]); err != nil {
			return err
		}
	}
	if err := t.apply(seed.Changes); err != nil {
		return err
	}
	for userID, permissions := range seed.Permissions {
		if err := t.grant(userID, permissions); err != nil {
			return err
		}
	}
	return nil
}

// MarkSeeded notes that the store has been given what it begins with, and
// reports whether nobody has noted that before.
func (t *Tx) MarkSeeded(now time.Time) (first bool, err error) {
	n, err := t.tx.exec(insertSeeding, micros(now))
	if err != nil {
		return false, fmt.Errorf("store: claiming the seeding: %w", err)
	}
	return n > 0, nil
}

// Seeded reports whether the store has been given what it begins with.
func Seeded(ctx context.Context, r Reader) (seeded bool, err error) {
	err = rows(ctx, r, func(row scanner) error { return row.Scan(&seeded) }, "SELECT EXISTS (SELECT 1 FROM seeding)")
	return seeded, err
}

// TakeFormerAdministrators returns the ids of the users who had the permission
// "system" by themselves, as in stores of the first schema version, and takes
// all such permissions away.
func (t *Tx) TakeFormerAdministrators(ctx context.Context) (users []string, err error) {
	if err := rows(ctx, t, into(&users), "SELECT user_id FROM user_permissions WHERE permission = ? ORDER BY user_id", "system"); err != nil {
		return nil, fmt.Errorf("looking for former administrators: %w", err)
	}
	if _, err := t.exec("DELETE FROM user_permissions"); err != nil {
		return nil, fmt.Errorf("store: taking the permissions of former administrators: %w", err)
	}
	return users, nil
}
