package directory

import (
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// Cipher seals stored secrets. The sealed text is bound to its owner, belongs.
type Cipher interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// completeProviderSecret sets the new secret of a provider or keeps the old one. An
// unchanged secret keeps its sealed form, so that it counts as no change.
func (d *Directory) completeProviderSecret(old, p *schemas.IdentityProvider) {
	kept := orZero(old).SealedSecret
	switch {
	case p.TokenEndpointAuthMethod != "":
	case p.ClientSecret != "" || kept != nil:
		p.TokenEndpointAuthMethod = schemas.AuthMethodBasic
	default:
		p.TokenEndpointAuthMethod = schemas.AuthMethodNone
	}
	switch {
	case !authenticates(p):
		return // checkProviderSecret reports a secret that is set anyway
	case p.ClientSecret == "" || d.isSecret(old, kept, p.ClientSecret):
		p.ClientSecret, p.SealedSecret = "", kept
	default:
		d.sealSecret(p)
	}
}

// isSecret reports whether text is the sealed secret. It returns false if the secret cannot
// be opened because the key was lost.
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
		w.addInvalid("clientSecret", "%s needs the secret that the provider issued; for a client without one set the tokenEndpointAuthMethod %s",
			p.TokenEndpointAuthMethod, schemas.AuthMethodNone)
	case p.TokenEndpointAuthMethod == schemas.AuthMethodNone && p.ClientSecret != "":
		w.addInvalid("clientSecret", "with the authentication %q no secret is used; leave it out", schemas.AuthMethodNone)
	}
}

// authenticates reports whether the provider requires a secret.
func authenticates(p *schemas.IdentityProvider) bool {
	return p.TokenEndpointAuthMethod == schemas.AuthMethodBasic || p.TokenEndpointAuthMethod == schemas.AuthMethodPost
}

// openSecret decrypts the secret of a provider in place.
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

// SecretOwner returns the owner of a provider's secret: the provider at this issuer. An
// attacker who can only change the issuer in the database cannot make the server send the
// secret there.
func SecretOwner(p *schemas.IdentityProvider) string { return p.ID + " " + p.Issuer }
