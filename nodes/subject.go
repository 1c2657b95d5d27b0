package nodes

import (
	"context"
	"errors"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// subjectUser returns the user the run is about: the one it will create, or
// the stored one.
func subjectUser(ctx context.Context, users Users, v *engine.Visit) (*schemas.User, error) {
	if v.Subject.Draft != nil {
		return v.Subject.Draft, nil
	}
	if !v.Subject.Known() {
		return nil, errors.New("the run came here without a user; the check of the flow should have refused it")
	}
	user, err := users.User(ctx, v.Subject.UserID)
	if schemas.HasCode(err, schemas.CodeUserNotFound) {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeUserNotFound,
			"the user this run was about does not exist any more; start again")
	}
	return user, err
}

// accountName is what the user calls the account: what they sign in with.
func accountName(u *schemas.User) string {
	for _, attribute := range schemas.IdentifyingAttributes() {
		if name := u.Text(attribute); name != "" {
			return name
		}
	}
	return u.ID
}

// displayName is what the user is called.
func displayName(u *schemas.User) string {
	if name := u.Text("name"); name != "" {
		return name
	}
	if name := strings.TrimSpace(u.Text("given_name") + " " + u.Text("family_name")); name != "" {
		return name
	}
	return accountName(u)
}

// event makes an entry of the audit log about what this visit did.
func event(v *engine.Visit, action, userID string, detail map[string]string) schemas.RecordEvent {
	e := schemas.Event{
		ID:          schemas.NewID(),
		At:          v.Now,
		Action:      action,
		UserID:      userID,
		ExecutionID: v.ExecutionID,
		TraceID:     v.Request.TraceID,
		Detail:      detail,
	}
	if v.Application != nil {
		e.ApplicationID = v.Application.ID
	}
	return schemas.RecordEvent{Event: e}
}
