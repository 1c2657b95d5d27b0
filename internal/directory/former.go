package directory

import (
	"context"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// FormerAdditions returns what was added to the account of a user with former passwords alone, and neither
// kept nor removed since: see schemas.Addition. For an unknown user the error is user_not_found, Class
// NotFound.
func (d *Directory) FormerAdditions(ctx context.Context, c Call, userID string) ([]schemas.Addition, error) {
	return readAccount(ctx, d, c, userID, store.FormerAdditions)
}

// FormerDecision names, by their ids, what of FormerAdditions the user keeps and what the user removes.
type FormerDecision struct {
	Keep   []string `json:"keep,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// DecideFormer keeps and removes what was added to the account of the calling user with former passwords
// alone, and returns what is left to decide. The user must pass MayManageAccount, and have recently signed
// in with more than a password, not counting what is to be decided: otherwise the error is Class
// Unauthenticated, schemas.CodeStaleProof. What is kept counts as added with that sign-in. An id that is not
// among FormerAdditions is schemas.CodeAdditionNotFound, Class NotFound. If the account could not be used
// any more, the error has Class Conflict, code last_credential. After an error nothing has changed.
func (d *Directory) DecideFormer(ctx context.Context, c Call, decision FormerDecision) (left []schemas.Addition, err error) {
	userID := c.userID()
	if len(decision.Keep)+len(decision.Remove) == 0 {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "nothing is decided: expected ids of the list in keep or remove")
	}
	err = d.changeAccount(ctx, c, userID, func(w *writeContext) error {
		former, err := store.FormerAdditions(w.ctx, w.tx, userID)
		if err != nil {
			return err
		}
		kept, removed, err := decision.of(former)
		if err != nil {
			return err
		}
		if err := w.requireMoreThanPassword(former); err != nil {
			return err
		}
		if err := w.keepAdditions(userID, kept); err != nil {
			return err
		}
		if err := w.removeAdditions(userID, removed); err != nil {
			return err
		}
		left, err = store.FormerAdditions(w.ctx, w.tx, userID)
		return err
	})
	return left, err
}

// of returns the additions that are kept and removed.
func (f FormerDecision) of(former []schemas.Addition) (kept, removed []schemas.Addition, err error) {
	for i, id := range slices.Concat(f.Keep, f.Remove) {
		at := slices.IndexFunc(former, func(a schemas.Addition) bool { return a.ID == id })
		switch {
		case at < 0:
			return nil, nil, schemas.Errorf(schemas.NotFound, schemas.CodeAdditionNotFound,
				"a former password added no %.64q to this account, or it is kept or removed already; load the list again", id)
		case i < len(f.Keep):
			kept = append(kept, former[at])
		case slices.Contains(f.Keep, id):
			return nil, nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "%.64q cannot be both kept and removed", id)
		default:
			removed = append(removed, former[at])
		}
	}
	return kept, removed, nil
}

// requireMoreThanPassword returns an error unless the calling user has recently signed in with more than a
// password, not counting the additions.
func (w *writeContext) requireMoreThanPassword(except []schemas.Addition) error {
	session, err := w.call.ownSession(w.ctx, w.tx, w.now)
	if err != nil || w.call.isByOperator() {
		return err
	}
	if session == nil && schemas.IsStrongerThanPassword(w.call.ACR) {
		return nil
	}
	if session != nil {
		proofs := schemas.WithoutAdditions(session.Proofs, except)
		for _, class := range []string{schemas.ACRPhishingResistant, schemas.ACRMultiFactor} {
			if schemas.Satisfies(schemas.ProvenACR(proofs), class) && w.now.Sub(schemas.ProvenSince(proofs, class)) <= MaxProofAge {
				return nil
			}
		}
	}
	return &schemas.ProofRequired{ACR: schemas.ACRPhishingResistant + " " + schemas.ACRMultiFactor, MaxAge: MaxProofAge, Err: schemas.Errorf(
		schemas.Unauthenticated, schemas.CodeStaleProof,
		"sign in again with a passkey or a second factor that the former password has not added, to keep or remove what it has added; "+
			"if you have none, remove what is not yours from the list of your sign-in methods")}
}

func (w *writeContext) keepAdditions(userID string, kept []schemas.Addition) error {
	by, err := w.provenance(userID)
	if err != nil {
		return err
	}
	for _, a := range kept {
		w.recordUserEvent(userID, "addition.kept", a.Ref(userID))
		w.events[len(w.events)-1].Detail = map[string]string{"type": a.Type}
		if err := w.apply(schemas.KeepAddition{UserID: userID, ID: a.ID, AddedBy: by}); err != nil {
			return err
		}
	}
	return nil
}

func (w *writeContext) removeAdditions(userID string, removed []schemas.Addition) error {
	for _, a := range removed {
		if err := w.removeAddition(userID, a); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(removed, schemas.Addition.OpensAccount) {
		return nil
	}
	n, err := countLoginMethods(w.ctx, w.tx, userID)
	if err == nil && n == 0 {
		err = schemas.Errorf(schemas.Conflict, schemas.CodeLastCredential, "this would remove the only sign-in method of this account; register a passkey or set a password first")
	}
	return err
}

func (w *writeContext) removeAddition(userID string, a schemas.Addition) error {
	switch a.Type {
	case schemas.PasskeyAddition:
		id, err := schemas.ParseBytes(a.ID)
		if err != nil {
			return err
		}
		w.recordUserEvent(userID, "passkey.deleted", passkeyRef(id))
		return w.apply(schemas.DeleteCredential{UserID: userID, ID: id, At: w.now})
	case schemas.IdentityAddition:
		w.recordUserEvent(userID, "identity.unlinked", a.Ref(userID))
		return w.apply(schemas.UnlinkIdentity{UserID: userID, ID: a.ID, At: w.now})
	case schemas.EmailAddition:
		return w.removeAddress(userID)
	}
	w.recordUserEvent(userID, deletions()[a.ID].action, a.Ref(userID))
	return w.apply(deletions()[a.ID].change(userID, w.now))
}

// removeAddress removes the mail address of a user, unless the user needs it to sign in, or the user type
// requires one.
func (w *writeContext) removeAddress(userID string) error {
	u, err := store.Users().Get(w.ctx, w.tx, userID)
	if err != nil {
		return err
	}
	if u.Text("username") == "" || w.userType(u).Requires("email") {
		return schemas.Errorf(schemas.Conflict, schemas.CodeLastCredential,
			"the account needs a mail address: change it to an address of yours instead")
	}
	w.recordUserEvent(userID, "user.updated", schemas.ResourceRef{Type: "user", ID: userID})
	if _, err := store.ReleaseOwner(w.tx, userID, "email"); err != nil { // the user has decided that the address is not theirs
		return err
	}
	if err := w.apply(schemas.UpdateUser{UserID: userID, Attributes: map[string]any{"email": nil}, At: w.now}); err != nil {
		return err
	}
	return store.EndSessionsOn(w.tx, userID, schemas.ProofOfEmail(u.Text("email")), w.now)
}
