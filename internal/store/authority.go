package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/postern-id/postern/schemas"
)

const (
	// CountsInFull is the condition of passkeys without a limit, and those whose limit resists phishing: see
	// provenance for the form of added_by.
	CountsInFull = `(added_by = '' OR added_by LIKE ' %' OR added_by LIKE 'phr%' OR added_by LIKE 'urn:postern:acr:mfa-phr%')`

	// protectionColumns are of a user u: see Protection.
	protectionColumns = `EXISTS (SELECT 1 FROM credentials WHERE user_id = u.id AND ` + CountsInFull + `)
			OR EXISTS (SELECT 1 FROM former_passkeys WHERE user_id = u.id),
		EXISTS (SELECT 1 FROM totp WHERE user_id = u.id)
			OR EXISTS (SELECT 1 FROM recovery_codes WHERE user_id = u.id AND used_at IS NULL),
		EXISTS (SELECT 1 FROM totp WHERE user_id = u.id AND last_used_at IS NULL),
		` + permissionsColumn

	selectProtection = `SELECT ` + protectionColumns + ` FROM users u WHERE u.id = ?`

	insertFormerPasskey = `INSERT INTO former_passkeys (user_id, removed_at)
		SELECT user_id, CAST(? AS BIGINT) FROM credentials WHERE id = ? AND ` + CountsInFull + ` ON CONFLICT (user_id) DO NOTHING`
)

// Protection returns what protects the account of a user against changes; the zero value for an
// unknown user.
func (s *Store) Protection(ctx context.Context, userID string) (schemas.Protection, error) {
	return ProtectionOf(ctx, s, userID)
}

// ProtectionOf is Protection for a Reader.
func ProtectionOf(ctx context.Context, r Reader, userID string) (schemas.Protection, error) {
	if read := aheadIn(ctx, r).takeProtection(userID); read != nil {
		return read.value(), nil
	}
	var read protection
	err := rows(ctx, r, func(row scanner) error { return row.Scan(read.destinations()...) }, selectProtection, userID)
	return read.value(), err
}

// protection is what protectionColumns contain.
type protection struct {
	schemas.Protection
	permissions []string
}

func (p *protection) destinations() []any {
	return []any{&p.HadPasskey, &p.SecondFactor, &p.UnusedApp, asJSON(&p.permissions)}
}

func (p *protection) value() schemas.Protection {
	p.Administrator = slices.ContainsFunc(p.permissions, schemas.IsAdministrative)
	return p.Protection
}

// CheckAuthority checks the precondition of a change of an account.
func CheckAuthority(ctx context.Context, r Reader, c schemas.RequireAuthority) error {
	if c.By.Program {
		return nil
	}
	account, err := ProtectionOf(ctx, r, c.UserID)
	if err != nil {
		return err
	}
	caller := account
	if c.By.UserID != c.UserID && account.Administrator {
		if caller, err = ProtectionOf(ctx, r, c.By.UserID); err != nil {
			return err
		}
	}
	return c.Check(account, caller)
}

// requireAuthorities checks that each change of an account has its precondition, and that this holds.
// A user that the transaction creates needs none. An enrolment link counts only if the transaction uses
// it up.
func (t *Tx) requireAuthorities(changes []schemas.Change) error {
	created, authorized := []string{t.createdUser}, []string(nil)
	usesLink := func(userID string) bool {
		return slices.ContainsFunc(changes, func(change schemas.Change) bool {
			c, uses := change.(schemas.UseEnrolment)
			return uses && c.UserID == userID
		})
	}
	for _, change := range changes {
		switch c := change.(type) {
		case schemas.CreateUser:
			created = append(created, c.User.ID)
		case schemas.RequireAuthority:
			authorized = append(authorized, c.UserID)
			if slices.Contains(created, c.UserID) {
				continue
			}
			c.By.Enrolment = c.By.Enrolment && usesLink(c.UserID)
			if err := CheckAuthority(t.ctx, t, c); err != nil {
				return err
			}
		}
	}
	for _, change := range changes {
		if id := schemas.ChangedAccount(change); id != "" && !slices.Contains(created, id) && !slices.Contains(authorized, id) {
			return fmt.Errorf("store: %T of user %s without RequireAuthority", change, id)
		}
	}
	return nil
}
