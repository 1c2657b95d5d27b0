package directory

import (
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// Cipher seals what is kept and secret. What a text belongs to is sealed in.
type Cipher interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// completeProviderSecret gives a provider the secret that is said, or the one it had.
// Said once more it stays as it is sealed, so that what changes nothing writes
// nothing.
func (d *Directory) completeProviderSecret(old, p *schemas.IdentityProvider) {
	var kept schemas.Bytes
	if old != nil {
		kept = old.SealedSecret
	}
	switch {
	case p.TokenEndpointAuthMethod != "":
	case p.ClientSecret != "" || kept != nil:
		p.TokenEndpointAuthMethod = schemas.AuthMethodBasic
	default:
		p.TokenEndpointAuthMethod = schemas.AuthMethodNone
	}
	switch {
	case !authenticates(p):
		return // that there is a secret all the same is for checkProviderSecret to tell
	case p.ClientSecret == "" || d.isSecret(old, kept, p.ClientSecret):
		p.ClientSecret, p.SealedSecret = "", kept
	default:
		d.sealSecret(p)
	}
}

// isSecret reports whether the text is what is sealed. What cannot be opened any more,
// because the key was lost, it is not.
func (d *Directory) isSecret(old *schemas.IdentityProvider, sealed schemas.Bytes, text string) bool {
	if sealed == nil {
		return false
	}
	opened := *old
	return d.openSecret(&opened) == nil && opened.ClientSecret == text
}

func checkProviderSecret(w *writeContext, p *schemas.IdentityProvider) {
	switch {
	case authenticates(p) && p.SealedSecret == nil:
		w.addInvalid("clientSecret", "%s needs the secret that the provider has given out; without one the tokenEndpointAuthMethod is %s",
			p.TokenEndpointAuthMethod, schemas.AuthMethodNone)
	case p.TokenEndpointAuthMethod == schemas.AuthMethodNone && p.ClientSecret != "":
		w.addInvalid("clientSecret", "with the authentication %q no secret is used; leave it out", schemas.AuthMethodNone)
	}
}

// authenticates reports whether the provider asks for a secret.
func authenticates(p *schemas.IdentityProvider) bool {
	return p.TokenEndpointAuthMethod == schemas.AuthMethodBasic || p.TokenEndpointAuthMethod == schemas.AuthMethodPost
}

// openSecret puts the secret of a provider into the place of the sealed one.
func (d *Directory) openSecret(p *schemas.IdentityProvider) error {
	if p.SealedSecret == nil {
		return nil
	}
	text, err := d.Box.Open(p.SealedSecret, SecretOwner(p))
	if err != nil {
		return fmt.Errorf("directory: opening the secret of the identity provider %q: %w", p.Handle, err)
	}
	p.ClientSecret, p.SealedSecret = string(text), nil
	return nil
}

// sealSecret is the inverse of openSecret.
func (d *Directory) sealSecret(p *schemas.IdentityProvider) {
	p.SealedSecret, p.ClientSecret = d.Box.Seal([]byte(p.ClientSecret), SecretOwner(p)), ""
}

// SecretOwner is what a secret belongs to: to the provider at this issuer. Whoever can
// write the row of another issuer, and no more, cannot have the secret sent there.
func SecretOwner(p *schemas.IdentityProvider) string { return p.ID + " " + p.Issuer }
