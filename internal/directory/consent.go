package directory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// codeConsentNotFound is that of the error that a user lets a client have nothing.
const codeConsentNotFound = "consent_not_found"

// maxTokenLength is longer than any access token lasts.
const maxTokenLength = 366 * 24 * time.Hour

// Consented is what a user lets the client of an application have.
type Consented struct {
	schemas.Consent
	Application *schemas.Application
}

// Consents returns what a user lets clients have, the newest first. An unknown user
// is user_not_found, Class NotFound.
func (d *Directory) Consents(ctx context.Context, c Call, userID string) ([]Consented, error) {
	r := d.reader(c)
	if err := mayRead(ctx, r, c, userID); err != nil {
		return nil, err
	}
	found, err := store.ConsentsOf(ctx, r, userID)
	if err != nil {
		return nil, err
	}
	list := make([]Consented, 0, len(found))
	for _, one := range found {
		app, err := store.Applications().Get(ctx, r, one.ApplicationID)
		if schemas.HasClass(err, schemas.NotFound) {
			continue // it has just gone, and the consent with it
		}
		if err != nil {
			return nil, err
		}
		list = append(list, Consented{one, app})
	}
	return list, nil
}

// RevokeConsent takes back what a user lets the client of an application have: its
// refresh and access tokens of the user are worthless from now on. Where there is
// nothing it is consent_not_found, Class NotFound.
func (d *Directory) RevokeConsent(ctx context.Context, c Call, userID, applicationID string) error {
	return d.transact(ctx, c, func(w *writeContext) error {
		if err := mayManage(w.ctx, w.tx, w.call, userID, w.now); err != nil {
			return err
		}
		was, err := store.RevokeConsent(w.tx, userID, applicationID, w.now.Add(maxTokenLength))
		if err != nil {
			return err
		}
		if !was {
			return schemas.Errorf(schemas.NotFound, codeConsentNotFound,
				"This user lets the application %.64q have nothing; it may have been taken back.", applicationID)
		}
		w.recordUserEvent(userID, "consent.revoked", schemas.ResourceRef{Type: "application", ID: applicationID})
		return nil
	})
}

// ScopeNames says what scopes mean, for people: those that mean the same everywhere
// in our words, permissions in those of the resource server that has them. One that
// nobody knows is its own word.
func (d *Directory) ScopeNames(ctx context.Context, scopes []string) (map[string]string, error) {
	words, err := d.store.PermissionNames(ctx, slices.DeleteFunc(slices.Clone(scopes), func(scope string) bool {
		return schemas.PlainScopes()[scope] != ""
	}))
	if err != nil {
		return nil, err
	}
	for _, scope := range scopes {
		words[scope] = cmp.Or(schemas.PlainScopes()[scope], words[scope], scope)
	}
	return words, nil
}
