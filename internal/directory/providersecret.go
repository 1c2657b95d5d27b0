package directory

import (
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// Box seals what is kept and secret. What a text belongs to is sealed in.
type Box interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// openSecret puts the secret of a provider into the place of the sealed one.
func (d *Directory) openSecret(p *schemas.IdentityProvider) error {
	if p.SealedSecret == nil {
		return nil
	}
	text, err := d.Box.Open(p.SealedSecret, secretOwner(p))
	if err != nil {
		return fmt.Errorf("directory: opening the secret of the identity provider %q: %w", p.Handle, err)
	}
	p.ClientSecret, p.SealedSecret = string(text), nil
	return nil
}

// sealSecret is the inverse of openSecret.
func (d *Directory) sealSecret(p *schemas.IdentityProvider) {
	p.SealedSecret, p.ClientSecret = d.Box.Seal([]byte(p.ClientSecret), secretOwner(p)), ""
}

// secretOwner is what a secret belongs to: to the provider at this issuer. Whoever
// gives the provider another issuer cannot have the secret sent there.
func secretOwner(p *schemas.IdentityProvider) string { return p.ID + " " + p.Issuer }
