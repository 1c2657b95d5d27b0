package store

import (
	"context"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// IdentityProviders is the table of the identity providers, with their sealed
// secrets.
func IdentityProviders() *Table[schemas.IdentityProvider] {
	return newTable("identity provider", schemas.CodeProviderNotFound, "identity_providers", identityProviderFields())
}

func identityProviderFields() fields[schemas.IdentityProvider] {
	type provider = schemas.IdentityProvider
	return fields[provider]{
		{column: "id", member: func(v *provider) any { return &v.ID }},
		{column: "handle", member: func(v *provider) any { return &v.Handle }, filter: "handle", unique: true},
		{column: "name", member: func(v *provider) any { return &v.Name }},
		{column: "issuer", member: func(v *provider) any { return &v.Issuer }},
		{column: "client_id", member: func(v *provider) any { return &v.ClientID }},
		{column: "secret", member: func(v *provider) any { return (*[]byte)(&v.SealedSecret) }},
		{column: "token_endpoint_auth_method", member: func(v *provider) any { return &v.TokenEndpointAuthMethod }},
		{column: "scopes", member: func(v *provider) any { return (*lines)(&v.Scopes) }},
		{column: "mapping", member: func(v *provider) any { return jsonColumn{member: &v.Mapping, empty: v.Mapping == nil} }},
		{column: "created_at", member: func(v *provider) any { return (*microTime)(&v.CreatedAt) }},
		{column: "updated_at", member: func(v *provider) any { return (*microTime)(&v.UpdatedAt) }},
	}
}

// IdentityProvider returns the identity provider with the handle. An unknown one is
// identity_provider_not_found, Class NotFound.
func (s *Store) IdentityProvider(ctx context.Context, handle string) (*schemas.IdentityProvider, error) {
	return readOne(s.row(ctx, selectIdentityProvider, handle), identityProviderFields().scan, func() error {
		return schemas.Errorf(schemas.NotFound, schemas.CodeProviderNotFound, "there is no identity provider with the handle %.64q", handle)
	})
}

// MappingProviders returns the identity providers with a mapping, sorted by id.
func MappingProviders(ctx context.Context, r Reader) ([]schemas.IdentityProvider, error) {
	fields := identityProviderFields()
	return readAll(ctx, r, fields.scan, "SELECT "+strings.Join(fields.columns(), ", ")+" FROM identity_providers WHERE mapping IS NOT NULL ORDER BY id")
}
