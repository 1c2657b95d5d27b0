package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

const selectIdentityProvider query = `SELECT id, handle, name, issuer, client_id, secret, token_endpoint_auth_method, scopes,
	created_at, updated_at FROM identity_providers WHERE handle = ?`

// IdentityProviders is the table of the identity providers, with their sealed
// secrets.
func IdentityProviders() *Table[schemas.IdentityProvider] {
	return &Table[schemas.IdentityProvider]{
		noun: "identity provider", code: schemas.CodeProviderNotFound, name: "identity_providers",
		columns: []string{"id", "handle", "name", "issuer", "client_id", "secret", "token_endpoint_auth_method", "scopes",
			"created_at", "updated_at"},
		filters: map[string]string{"handle": "handle = ?"},
		id:      func(v *schemas.IdentityProvider) string { return v.ID },
		values: func(v *schemas.IdentityProvider) ([]any, error) {
			scopes, err := joinLines(v.Scopes)
			return []any{v.ID, v.Handle, v.Name, v.Issuer, v.ClientID, []byte(v.SealedSecret), v.TokenEndpointAuthMethod, scopes,
				toMicros(v.CreatedAt), toMicros(v.UpdatedAt)}, err
		},
		scan: scanIdentityProvider,
	}
}

func scanIdentityProvider(row scanner, v *schemas.IdentityProvider) error {
	var scopes sql.NullString
	err := row.Scan(&v.ID, &v.Handle, &v.Name, &v.Issuer, &v.ClientID, (*[]byte)(&v.SealedSecret), &v.TokenEndpointAuthMethod,
		&scopes, (*microTime)(&v.CreatedAt), (*microTime)(&v.UpdatedAt))
	v.Scopes = list(scopes)
	return err
}

// IdentityProvider returns the identity provider with the handle. An unknown one is
// identity_provider_not_found, Class NotFound.
func (s *Store) IdentityProvider(ctx context.Context, handle string) (*schemas.IdentityProvider, error) {
	var found []schemas.IdentityProvider
	if isStorable(handle) {
		err := s.each(ctx, selectIdentityProvider, func(row scanner) error {
			found = append(found, schemas.IdentityProvider{})
			return scanIdentityProvider(row, &found[len(found)-1])
		}, handle)
		if err != nil {
			return nil, fmt.Errorf("store: reading an identity provider: %w", err)
		}
	}
	if len(found) == 0 {
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeProviderNotFound, "There is no identity provider with the handle %.64q.", handle)
	}
	return &found[0], nil
}
