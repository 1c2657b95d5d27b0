package directory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

const codeConsentNotFound = "consent_not_found"

// maxTokenLength is longer than the lifetime of any access token.
const maxTokenLength = 366 * 24 * time.Hour

// Consented is a user's consent to the client of an application.
type Consented struct {
	schemas.Consent
	Application *schemas.Application
}

// Consents returns the consents of a user, newest first. For an unknown user the error is
// user_not_found, Class NotFound.
func (d *Directory) Consents(ctx context.Context, c Call, userID string) ([]Consented, error) {
	found, err := readAccount(ctx, d, c, userID, store.ConsentsOf)
	if err != nil {
		return nil, err
	}
	list := make([]Consented, 0, len(found))
	for _, one := range found {
		app, err := store.Applications().Get(ctx, d.reader(c), one.ApplicationID)
		if schemas.HasClass(err, schemas.NotFound) {
			continue // deleted meanwhile, with the consent
		}
		if err != nil {
			return nil, err
		}
		list = append(list, Consented{one, app})
	}
	return list, nil
}

// ApplicationName returns the name of an application that acts for a user; "" if it was deleted.
func (d *Directory) ApplicationName(ctx context.Context, id string) (string, error) {
	app, err := store.Applications().Get(ctx, d.store, id)
	if schemas.HasClass(err, schemas.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return app.Name, nil
}

// RevokeConsent withdraws a user's consent to the client of an application and revokes the
// client's refresh and access tokens for the user. Without a consent the error is
// consent_not_found, Class NotFound.
func (d *Directory) RevokeConsent(ctx context.Context, c Call, userID, applicationID string) error {
	return d.restrictAccount(ctx, c, userID, func(w *writeContext) error {
		was, err := store.RevokeConsent(w.tx, userID, applicationID, w.now.Add(maxTokenLength))
		if err != nil {
			return err
		}
		if !was {
			return schemas.Errorf(schemas.NotFound, codeConsentNotFound,
				"this user has no consent for the application %.64q; it may have been withdrawn", applicationID)
		}
		w.recordUserEvent(userID, "consent.revoked", schemas.ResourceRef{Type: "application", ID: applicationID})
		return nil
	})
}

// ScopeNames returns the display names of scopes: our own for standard scopes, those of the
// resource server for permissions, and the scope itself for unknown ones.
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
