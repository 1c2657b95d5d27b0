package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/postern-id/postern/schemas"
	"github.com/pressly/goose/v3"
)

// emailMigration is the number of the one migration that is not SQL: the form in which
// addresses are compared is that of schemas.IdentifierKey.
const emailMigration = 19

// migrateEmails returns the migration that fills user_emails, and removes addresses that
// are not verified from user_identifiers. Users keep the attribute: they verify the
// address when they next pass an email-otp, or another user does and they lose it.
func migrateEmails(driver string) *goose.Migration {
	bind := sqlx.BindType(driver)
	if driver == "sqlite" {
		bind = sqlx.QUESTION
	}
	return goose.NewGoMigration(emailMigration, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		last := ""
		for {
			users, err := usersAfter(ctx, tx, bind, last)
			if err != nil || len(users) == 0 {
				return err
			}
			if err := moveEmails(ctx, tx, bind, users); err != nil {
				return err
			}
			last = users[len(users)-1].ID
		}
	}}, nil)
}

// usersAfter returns the next users in the order of their ids. They are read in pages:
// a PostgreSQL connection cannot write while it reads.
func usersAfter(ctx context.Context, tx *sql.Tx, bind int, id string) (users []schemas.User, err error) {
	rows, err := tx.QueryContext(ctx, sqlx.Rebind(bind, "SELECT id, attributes FROM users WHERE id > ? ORDER BY id LIMIT 500"), id)
	if err != nil {
		return nil, err
	}
	return users, scanAll(rows, func(row scanner) error {
		var u schemas.User
		var attributes []byte
		if err := row.Scan(&u.ID, &attributes); err != nil {
			return err
		}
		if err := json.Unmarshal(attributes, &u.Attributes); err != nil {
			return fmt.Errorf("the attributes of user %s: %w", u.ID, err)
		}
		users = append(users, u)
		return nil
	})
}

func moveEmails(ctx context.Context, tx *sql.Tx, bind int, users []schemas.User) error {
	var all, withdrawn []any // pairs of a value and a user id
	for _, u := range users {
		key := schemas.IdentifierKey(u.Text("email"))
		if key == "" {
			continue
		}
		all = append(all, key, u.ID)
		if !u.Verified(schemas.EmailVerified) && key != schemas.IdentifierKey(u.Text("username")) {
			withdrawn = append(withdrawn, key, u.ID)
		}
	}
	for _, statement := range []struct {
		text  string
		pairs []any
	}{
		{"INSERT INTO user_emails (value, user_id) VALUES %s", all},
		{"DELETE FROM user_identifiers WHERE (value, user_id) IN (VALUES %s)", withdrawn},
	} {
		if len(statement.pairs) == 0 {
			continue
		}
		text := fmt.Sprintf(statement.text, strings.TrimSuffix(strings.Repeat("(?, ?), ", len(statement.pairs)/2), ", "))
		if _, err := tx.ExecContext(ctx, sqlx.Rebind(bind, text), statement.pairs...); err != nil {
			return err
		}
	}
	return nil
}
