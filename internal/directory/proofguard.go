package directory

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// A stolen token of an administrator, or an unattended browser, must not suffice to gain lasting
// control of the service. So changes that grant or revoke administrative permissions, or that
// decide how administrators sign in, need a recent sign-in with a passkey if the administrator has
// or had one. They are the changes for which the caller needs an administrative permission of someone
// else: see requirePermissions, checkPermissions and requireOfUsers. Changes of accounts, the own
// one included, follow schemas.RequireAuthority.
//
// Not concerned are administrators who never had a passkey, clients that act on their own behalf, and
// tokens that the operator printed with `postern token`: access to the store would suffice for
// more.

// requireProof refuses the write if it concerns administrative permissions and the caller lacks a
// proof for that.
func (w *writeContext) requireProof(path, what string, permissions []string) {
	if w.unproved == nil && slices.ContainsFunc(permissions, schemas.IsAdministrative) && w.lacksProof() {
		w.unproved = schemas.ErrUnproved(path, what)
	}
}

// requireAuthority refuses the write unless the caller may change the account of a user.
func (w *writeContext) requireAuthority(userID string) {
	err := store.CheckAuthority(w.ctx, w.tx, w.call.requireAuthority(userID, w.now))
	unproved, isUnproved := errors.AsType[*schemas.ProofRequired](err)
	switch {
	case isUnproved:
		w.unproved = cmp.Or(w.unproved, unproved)
	case schemas.HasClass(err, schemas.Forbidden):
		w.refusal = err
	default:
		w.fail(err)
	}
}

// lacksProof is Call.lacksProof in a write.
func (w *writeContext) lacksProof() bool {
	lacks, err := w.call.lacksProof(w.ctx, w.tx, w.now)
	w.fail(err)
	return lacks
}

// lacksProof reports whether the caller is a user who has or had a passkey and did not sign in with a
// phishing-resistant method recently.
func (c Call) lacksProof(ctx context.Context, r store.Reader, now time.Time) (bool, error) {
	by := c.authority()
	if by.Program || by.ResistsPhishing(now) {
		return false, nil
	}
	p, err := store.ProtectionOf(ctx, r, by.UserID)
	return p.HadPasskey, err
}

// authority returns what the caller's changes of accounts rest on.
func (c Call) authority() schemas.Authority {
	return schemas.Authority{
		Program: c.userID() == "" || c.isByOperator(),
		UserID:  c.userID(), ACR: c.ACR, Methods: c.Methods, Time: c.AuthTime,
	}
}

// isByOperator reports whether the token comes from no sign-in: the operator printed it.
func (c Call) isByOperator() bool { return c.AuthTime.IsZero() && c.ACR == "" && len(c.Methods) == 0 }

// requireAuthority returns the precondition of a change of a user's account by the caller.
func (c Call) requireAuthority(userID string, now time.Time) schemas.RequireAuthority {
	return schemas.RequireAuthority{UserID: userID, By: c.authority(), At: now}
}
