package directory

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// EnrolmentTTL is how long an enrolment link can be used.
const EnrolmentTTL = time.Hour

// codeNoAdministrator is the error code for a user without administrative permissions. Its class is
// Conflict.
const codeNoAdministrator = "no_administrator"

// LinkForEnrolment returns a link with which an administrator who has lost the passkey adds one, which can
// replace the lost ones. It works once and replaces the user's earlier links. It leads to the invitation flow of an application. Only the
// program itself, for its operator, can make one: the holder of the link acts for the administrator.
func (d *Directory) LinkForEnrolment(ctx context.Context, c Call, userID, applicationID string) (link string, expires time.Time, err error) {
	if c.Actor.Type != schemas.SystemActor {
		return "", expires, schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden, "only the operator can make a link for enrolment: use `postern admin recover`")
	}
	app, err := store.Applications().Get(ctx, d.store, applicationID)
	if err != nil {
		return "", expires, err
	}
	if app.InvitationFlowID == "" {
		return "", expires, fmt.Errorf("the application %q has no invitation flow, in which the administrator would add the passkey: set its invitationFlowId, for example to the built-in flow invitation", app.Name)
	}
	token := schemas.NewSecret()
	err = d.transact(ctx, c, func(w *writeContext) error {
		expires = w.now.Add(EnrolmentTTL)
		if err := w.checkAdministrator(userID); err != nil {
			return err
		}
		w.record(schemas.Event{
			Action: "enrolment.issued", UserID: userID, Resource: schemas.ResourceRef{Type: "user", ID: userID}, Detail: map[string]string{"application": app.ID},
		})
		return w.apply(schemas.CreateLink{Link: schemas.Link{
			TokenHash: schemas.HashSecret(token), UserID: userID, Purpose: schemas.EnrolmentLink, Subject: app.ID, CreatedAt: w.now, ExpiresAt: expires,
		}})
	})
	return d.InvitationPage + "?" + url.Values{"applicationId": {app.ID}}.Encode() + "#" + token, expires, err
}

// checkAdministrator returns an error unless the user is an administrator who may sign in.
func (w *writeContext) checkAdministrator(userID string) error {
	user, err := store.Users().Get(w.ctx, w.tx, userID)
	if err != nil {
		return err
	}
	if inactive := user.CheckActive(w.now); inactive != nil {
		return inactive
	}
	p, err := store.ProtectionOf(w.ctx, w.tx, userID)
	if err == nil && !p.Administrator {
		err = schemas.Errorf(schemas.Conflict, codeNoAdministrator, "this user has no administrative permissions, and can use the recovery flow of an application")
	}
	return err
}
