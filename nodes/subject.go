package nodes

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// subjectUser returns the run's user: the one that it will create, or the stored one.
func (d Deps) subjectUser(ctx context.Context, v *engine.Visit) (*schemas.User, error) {
	if v.Subject.Draft != nil {
		return asPending(v, v.Subject.Draft), nil
	}
	if !v.Subject.Known() {
		return nil, errors.New("reached without a user; the check of the flow should have rejected it")
	}
	user, err := d.Store.User(ctx, v.Subject.UserID)
	if schemas.HasCode(err, schemas.CodeUserNotFound) {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeUserNotFound,
			"the user of this run no longer exists; start again")
	}
	if err != nil {
		return nil, err
	}
	return asPending(v, user), nil
}

// asPending returns a user as this step will store it.
func asPending(v *engine.Visit, user *schemas.User) *schemas.User {
	for _, change := range v.Pending {
		switch c := change.(type) {
		case schemas.VerifyEmail:
			if c.UserID == user.ID {
				user = user.With(map[string]any{schemas.EmailVerified: true})
			}
		case schemas.UpdateUser:
			if c.UserID == user.ID {
				user = user.With(c.Attributes)
			}
		}
	}
	return user
}

// redrafted returns the subject of a run with further attributes in the draft of its user.
func redrafted(v *engine.Visit, user *schemas.User, attributes map[string]any) *engine.Subject {
	subject := v.Subject
	subject.Draft = user.With(attributes)
	return &subject
}

// isAboutOther reports whether the run is about another user than this one, or about an unknown
// name: a run about one user must not end as another.
func isAboutOther(s engine.Subject, userID string) bool {
	return (s.Known() || s.Name != "") && s.UserID != userID
}

// nameOf returns the name that the client entered for the run's user, who may not exist, or the id
// of a user found otherwise.
func nameOf(v *engine.Visit) string {
	return cmp.Or(v.Subject.Name, v.Inputs[v.Subject.Input], v.Subject.UserID)
}

// guessOf describes a guess at a secret of the run's user. Each secret is counted by itself, so that
// knowing one gains no guesses at another. After another proof it is counted by the user and not by
// the entered name.
func guessOf(v *engine.Visit, secret schemas.GuessedSecret, name string) schemas.Guess {
	g := schemas.Guess{Secret: secret, Name: name}
	if !v.Subject.Known() || v.Subject.Draft != nil {
		return g
	}
	g.UserID = v.Subject.UserID
	action := schemas.GuessesExhausted
	if v.Authentication != nil {
		action, g.Name = schemas.FactorDisabled, g.UserID
	}
	g.Event = event(v, action, g.UserID, nil).Event
	return g
}

// passkeysOf returns a user's passkeys after this step commits: the stored ones and those that it
// registers.
func (d Deps) passkeysOf(ctx context.Context, v *engine.Visit, userID string) ([]schemas.Credential, error) {
	list, err := d.Store.Credentials(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, change := range v.Pending {
		if c, ok := change.(schemas.CreateCredential); ok && c.Credential.UserID == userID {
			list = append(list, c.Credential)
		}
	}
	return list, nil
}

// passwordOf returns a user's password after this step commits, the zero value for none.
func (d Deps) passwordOf(ctx context.Context, v *engine.Visit, userID string) (schemas.Password, error) {
	for _, change := range slices.Backward(v.Pending) {
		if c, ok := change.(schemas.SetPassword); ok && c.UserID == userID {
			return schemas.Password{Hash: c.Hash, ID: c.ID, AddedBy: c.AddedBy}, nil
		}
	}
	password, err := d.Store.Password(ctx, userID)
	if schemas.HasCode(err, schemas.CodeUserNotFound) { // not stored yet
		return schemas.Password{}, nil
	}
	return password, err
}

// event returns an audit event of this visit. Its actor is the user if the run has authenticated or
// creates the user; otherwise it is anonymous.
func event(v *engine.Visit, action, userID string, detail map[string]string) schemas.RecordEvent {
	e := schemas.Event{
		ID:      schemas.NewID(),
		At:      v.Now,
		Action:  action,
		UserID:  userID,
		TraceID: v.Request.TraceID,
		Detail:  detail,

		ApplicationID:   applicationID(v),
		ExecutionDigest: schemas.DigestExecution(v.ExecutionID),
	}
	if v.Authentication != nil || v.Facts.Has(engine.New) {
		e.Actor = schemas.Actor{Type: schemas.UserActor, ID: userID, Client: e.ApplicationID}
	}
	return schemas.RecordEvent{Event: e}
}

// proof returns the event of a visit in which the user has just authenticated.
func proof(v *engine.Visit, action, userID string, detail map[string]string) schemas.RecordEvent {
	r := event(v, action, userID, detail)
	r.Event.Actor = schemas.Actor{Type: schemas.UserActor, ID: userID, Client: r.Event.ApplicationID}
	return r
}

// applicationID returns the id of the run's application, "" for none.
func applicationID(v *engine.Visit) string {
	if v.Application == nil {
		return ""
	}
	return v.Application.ID
}
