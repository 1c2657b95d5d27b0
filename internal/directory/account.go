package directory

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Passkeys and sessions of a user. Users manage their own. For other users, the caller
// needs their permissions.

const codeSessionNotFound = "session_not_found"

// maxPasskeyName limits the name of a passkey, in characters.
const maxPasskeyName = 200

// is reports whether the caller is the user.
func (c Call) is(userID string) bool {
	return c.Actor.Type == schemas.UserActor && c.Actor.ID == userID
}

// Passkeys returns the passkeys of a user, oldest first. For an unknown user the error is
// user_not_found, Class NotFound.
func (d *Directory) Passkeys(ctx context.Context, c Call, userID string) ([]schemas.Credential, error) {
	return readAccount(ctx, d, c, userID, store.CredentialsOf)
}

// AddPasskey adds a passkey to the account of its user. The caller must be the user or
// have the permission system, and must pass MayAccessAccount. A credential id that is
// already registered is credential_exists, Class Conflict.
func (d *Directory) AddPasskey(ctx context.Context, c Call, key *schemas.Credential) error {
	return d.transact(ctx, c, func(w *writeContext) (err error) {
		if !w.call.is(key.UserID) && !w.call.Permits(systemPermission) {
			return schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden,
				"registering a passkey for another user needs the permission %q, which you do not have", systemPermission)
		}
		if _, err := mayAccess(w.ctx, w.tx, w.call, key.UserID); err != nil {
			return err
		}
		w.record(schemas.Event{
			Action: "passkey.registered", UserID: key.UserID, Resource: passkeyRef(key.ID),
			Detail: map[string]string{"credentialId": key.ID.String()},
		})
		added := *key
		if added.AddedBy, err = w.provenance(key.UserID); err != nil {
			return err
		}
		return w.apply(schemas.CreateCredential{Credential: added})
	})
}

// provenance returns the provenance of a credential that the caller adds to the account of a user.
// The token of a user may state a weaker class than that of the sign-in, if the client asked for one;
// the session has both. A caller with the permission system adds credentials without a limit, also to
// the own account: the caller could do so to any other account and give that the same permissions, so
// a limit would protect nothing, and the first administrator could never have a passkey that counts in
// full. Once there is one, adding another takes a sign-in with it: see proofguard.go. The operator's
// tokens come from no sign-in, and set no limit either.
func (w *writeContext) provenance(userID string) (schemas.Provenance, error) {
	return w.call.provenance(w.ctx, w.tx, userID, w.now)
}

// provenance is that of writeContext.
func (c Call) provenance(ctx context.Context, r store.Reader, userID string, now time.Time) (schemas.Provenance, error) {
	if !c.is(userID) {
		return schemas.Provenance{}, nil
	}
	by := schemas.Provenance{ACR: c.ACR, Methods: c.Methods}
	session, err := c.ownSession(ctx, r, now)
	if session != nil {
		by.Proofs = schemas.AddedWith(session.Proofs)
	}
	if session != nil && session.ACR != "" {
		by.ACR, by.Methods = session.ACR, session.AMR
	}
	if !c.actsAs(userID) {
		by.ACR, by.Methods = "", nil
	}
	return by, err
}

// ownSession returns the session of the calling user's token, nil for none.
func (c Call) ownSession(ctx context.Context, r store.Reader, now time.Time) (*schemas.Session, error) {
	sessions, err := store.SessionsOf(ctx, r, c.userID(), now)
	i := slices.IndexFunc(sessions, func(s schemas.Session) bool { return s.ID == c.Session })
	if err != nil || i < 0 {
		return nil, err
	}
	return &sessions[i], nil
}

// RenamePasskey renames a passkey of a user. A passkey of another user is reported like a
// missing one: credential_not_found, Class NotFound.
func (d *Directory) RenamePasskey(ctx context.Context, c Call, userID string, id schemas.Bytes, name string) (renamed *schemas.Credential, err error) {
	name = strings.TrimSpace(name)
	if wrong := checkPasskeyName(name); wrong != "" {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "this cannot be the name of a passkey: %s", wrong).
			WithProblems([]schemas.Problem{{Path: "name", Message: wrong}})
	}
	err = d.changeAccount(ctx, c, userID, func(w *writeContext) error {
		found, err := w.passkey(userID, id)
		if err != nil {
			return err
		}
		renamed = found
		if found.Name == name {
			return nil
		}
		found.Name = name
		w.recordUserEvent(userID, "passkey.renamed", passkeyRef(id))
		return w.apply(schemas.RenameCredential{UserID: userID, ID: id, Name: name})
	})
	return renamed, err
}

func checkPasskeyName(name string) string {
	switch {
	case name == "":
		return "expected a name that is not blank"
	case len([]rune(name)) > maxPasskeyName:
		return "expected at most 200 characters"
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsGraphic(c) }):
		return "expected one line of visible characters"
	}
	return ""
}

// DeletePasskey deletes a passkey of a user. Users cannot delete their last sign-in method:
// the error has Class Conflict, code last_credential. Administrators can, because a stolen
// device must not open the account.
func (d *Directory) DeletePasskey(ctx context.Context, c Call, userID string, id schemas.Bytes) error {
	return d.changeAccount(ctx, c, userID, func(w *writeContext) error {
		if _, err := w.passkey(userID, id); err != nil {
			return err
		}
		if err := w.hasLoginMethod(userID, "passkey", schemas.Proof{Kind: schemas.PasskeyProof, Of: id.String()}); err != nil {
			return err
		}
		w.recordUserEvent(userID, "passkey.deleted", passkeyRef(id))
		return w.apply(schemas.DeleteCredential{UserID: userID, ID: id, At: w.now})
	})
}

// passkey returns the passkey of the user with the id.
func (w *writeContext) passkey(userID string, id schemas.Bytes) (*schemas.Credential, error) {
	all, err := store.CredentialsOf(w.ctx, w.tx, userID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(c schemas.Credential) bool { return bytes.Equal(c.ID, id) })
	if i < 0 {
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeCredentialNotFound, "this user has no such passkey; it may have been deleted")
	}
	return &all[i], nil
}

func passkeyRef(id schemas.Bytes) schemas.ResourceRef {
	return schemas.ResourceRef{Type: "passkey", ID: id.String()}
}

// Sessions returns the unexpired sessions of a user, newest first. For an unknown user the
// error is user_not_found, Class NotFound.
func (d *Directory) Sessions(ctx context.Context, c Call, userID string) ([]schemas.Session, error) {
	return readAccount(ctx, d, c, userID, func(ctx context.Context, r store.Reader, userID string) ([]schemas.Session, error) {
		return store.SessionsOf(ctx, r, userID, d.now())
	})
}

// EndSession ends a session of a user, the user's other sessions in the same browser, and revokes
// everything issued for them. A session of another user is reported like a missing one: session_not_found, Class NotFound. The
// caller needs the user's permissions: otherwise a caller could sign out administrators as
// fast as they sign in, and no administrator could stop it. Users can end their sessions
// however long ago they signed in.
func (d *Directory) EndSession(ctx context.Context, c Call, userID, sessionID string) error {
	return d.restrictAccount(ctx, c, userID, func(w *writeContext) error {
		all, err := store.SessionsOf(w.ctx, w.tx, userID, w.now)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(s schemas.Session) bool { return s.ID == sessionID }) {
			return schemas.Errorf(schemas.NotFound, codeSessionNotFound, "this user has no session with the id %.64q; it may have ended", sessionID)
		}
		return w.endSession(userID, sessionID)
	})
}

// EndSessions ends all sessions of a user except the one with the id except ("" for none), those
// in the same browser and those that it or they hold offline tokens of, and returns how many it ended.
func (d *Directory) EndSessions(ctx context.Context, c Call, userID, except string) (n int, err error) {
	err = d.restrictAccount(ctx, c, userID, func(w *writeContext) (err error) {
		n, err = w.endSessions(userID, except)
		return err
	})
	return n, err
}

// endSessions also ends the flow runs about the user. A run that authenticated the user
// with a password that was just replaced could otherwise start a new session.
func (w *writeContext) endSessions(userID, except string) (n int, err error) {
	if err := store.EndRuns(w.tx, userID); err != nil {
		return 0, err
	}
	all, err := store.SessionsOf(w.ctx, w.tx, userID, w.now)
	if err != nil {
		return 0, err
	}
	kept := store.SessionsWith(all, sessionsOfBrowser(all, except)...)
	ended := map[string]bool{} // browsers
	for _, s := range all {
		if slices.Contains(kept, s.ID) {
			continue
		}
		if n++; s.Browser != "" && ended[s.Browser] {
			continue
		}
		ended[s.Browser] = true
		if err := w.endSession(userID, s.ID); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// sessionsOfBrowser returns the ids of the sessions in the browser of a session, among which is its own.
func sessionsOfBrowser(all []schemas.Session, id string) (ids []string) {
	i := slices.IndexFunc(all, func(s schemas.Session) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	for _, s := range all {
		if s.ID == id || s.Browser != "" && s.Browser == all[i].Browser {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

func (w *writeContext) endSession(userID, id string) error {
	w.recordUserEvent(userID, "session.ended", schemas.ResourceRef{Type: "session", ID: id})
	return w.apply(schemas.EndSession{ID: id, At: w.now})
}
