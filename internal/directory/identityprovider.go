package directory

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// openIDScope makes an authorization request an OpenID Connect request (Core 1.0 §3.1.2.1).
const openIDScope = "openid"

func (d *Directory) providerCollection() *collection[schemas.IdentityProvider] {
	table := store.IdentityProviders()
	return &collection[schemas.IdentityProvider]{
		d: d, table: table,
		noun:     newNoun(Noun{Name: "identityProvider", Schema: schemas.IdentityProviderSchema, Key: "handle", Filters: table.Filters(), Prefixes: table.Prefixes()}),
		meta:     func(p *schemas.IdentityProvider) meta { return meta{&p.ID, &p.CreatedAt, &p.UpdatedAt} },
		before:   d.readFlowNames,
		prepare:  d.readIssuer,
		complete: d.completeProvider,
		check:    checkProvider,
		touched:  d.touchProvider,
		remove:   removeProvider,
		digested: digestedProvider,
	}
}

// completeProvider also chooses the id, because the sealed secret is bound to it.
func (d *Directory) completeProvider(w *writeContext, old, p *schemas.IdentityProvider) {
	if p.ID = cmp.Or(p.ID, orZero(old).ID); p.ID == "" {
		p.ID = w.call.NewID() // the same one when the write is made again
	}
	if p.Scopes == nil {
		p.Scopes = []string{openIDScope, "profile", "email"}
	}
	d.completeProviderSecret(old, p)
	completeMapping(w, p)
}

// checkProvider refuses a change of the issuer: a subject identifies a user at one issuer
// only (OpenID Connect Core 1.0 §5.7), and another issuer could use it for another user. It
// does so without linked users too, because a sign-in may be in progress.
func checkProvider(w *writeContext, old, p *schemas.IdentityProvider) {
	was := orZero(old)
	if wrong := issuerFault(p.Issuer); wrong != "" && p.Issuer != "" {
		w.addInvalid("issuer", "%s", wrong)
	} else if old != nil && p.Issuer != old.Issuer {
		w.addInvalid("issuer", "expected %s, got %.200q: the issuer of an identity provider never changes; create a new provider", old.Issuer, p.Issuer)
	}
	if read, _ := w.prepared.(issuerCheck); old == nil && read.fault != "" {
		w.addInvalid("issuer", "%s", read.fault)
	}
	if len(p.Scopes) > 0 && !slices.Contains(p.Scopes, openIDScope) {
		w.addInvalid("scopes", "expected %q among them: without it the provider does not return the user's identity", openIDScope)
	}
	checkProviderSecret(w, p)
	checkName(w, was.Name, p.Name)
	checkUnique(w, store.IdentityProviders(), "handle", p.Handle, was.ID)
	checkMapping(w, old, p)
	guardProvider(w, old, p)
}

// issuerCheck is what the metadata of a new provider shows to be wrong with its issuer; "" for nothing.
type issuerCheck struct{ fault string }

// readIssuer reads the metadata of a new provider, whose issuer cannot be changed later. It does not in
// a transaction, which would last as long as the provider takes to reply: files, imports and seeds may
// name providers that do not run yet.
func (d *Directory) readIssuer(ctx context.Context, call Call, at *target, p *schemas.IdentityProvider) (any, error) {
	if d.IssuerFault == nil || at != nil || call.tx != nil || issuerFault(p.Issuer) != "" {
		return nil, nil
	}
	// A caller who has lost the permission must not make the server send a request.
	call.DryRun = true
	if err := d.Transact(ctx, call, func(Call) error { return nil }); err != nil {
		return nil, err
	}
	return issuerCheck{d.IssuerFault(ctx, p.Issuer)}, nil
}

// issuerFault returns what is wrong with an issuer (OpenID Connect Discovery 1.0 §3); "" if
// it is valid. An attacker on the network could change replies over plain http.
func issuerFault(issuer string) string {
	u, err := url.Parse(issuer)
	switch {
	case err != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return "expected an https:// URL such as https://login.example.com; plain http is for the loopback addresses only (localhost, 127.0.0.1, [::1])"
	case u.User != nil || strings.ContainsAny(issuer, "?#"):
		return "expected no query, no fragment, and no name or password before the host"
	}
	return hostFault(u)
}

// removeProvider refuses to delete a provider that flows name or users are linked to.
func removeProvider(w *writeContext, p *schemas.IdentityProvider) {
	guardProvider(w, p, nil)
	linked, err := store.CountIdentities(w.ctx, w.tx, p.ID)
	if !w.fail(err) && linked > 0 {
		w.refusal = schemas.Errorf(schemas.Conflict, schemas.CodeInUse,
			"the identity provider is in use: %d accounts are linked to it and could no longer sign in with it. Unlink them first (DELETE /identity-providers/%s/identities)", linked, p.ID)
	}
}

// digestedProvider returns the provider with its sealed secret, which changes with the
// secret.
func digestedProvider(p *schemas.IdentityProvider) any {
	return struct {
		*schemas.IdentityProvider
		Sealed schemas.Bytes `json:"secretDigest"`
	}{p, p.SealedSecret}
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
