package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// LockAccount disables the user of a lock link, which works once, and ends the user's sessions,
// tokens and runs. Only an administrator can enable the user again. The last administrator who can
// sign in is not disabled: the error is CodeLastAdministrator, Class Conflict.
func (d *Directory) LockAccount(ctx context.Context, token, traceID string) error {
	call := UntrustedCall() // only the token authorizes it
	call.TraceID = traceID
	return d.transact(ctx, call, func(w *writeContext) error {
		link, err := store.TakeLink(w.tx, schemas.HashSecret(token), schemas.LockLink, w.now)
		if err != nil {
			return err
		}
		if link == nil {
			return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidLink,
				"this link does not work: it has already been used, has expired, or is incomplete; use the link in the most recent mail, or ask an administrator to lock the account")
		}
		return w.lockUserOf(link)
	})
}

// lockUserOf disables the user of a link and removes the user's other links of its purpose.
func (w *writeContext) lockUserOf(link *schemas.Link) error {
	old, err := store.Users().Get(w.ctx, w.tx, link.UserID)
	if err != nil {
		return err
	}
	if err := w.call.guard.begin(w.ctx, w.tx, w.now); err != nil {
		return err
	}
	locked := *old
	locked.Status, locked.UpdatedAt = schemas.UserDisabled, nextUpdate(w.now, old.UpdatedAt)
	if err := store.Users().Replace(w.tx, &locked, old.UpdatedAt); err != nil {
		return err
	}
	if err := store.DeleteLinks(w.tx, old.ID, link.Purpose); err != nil {
		return err
	}
	w.record(schemas.Event{
		Action: "account.locked", UserID: old.ID, Resource: schemas.ResourceRef{Type: "user", ID: old.ID}, Detail: map[string]string{"notice": link.Subject},
	})
	return w.applyStatus(old, &locked)
}
