package store

import (
	"context"

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
