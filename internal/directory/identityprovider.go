package directory

import (
	"cmp"
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
		noun: Noun{
			Name: "identityProvider", Plural: "identityProviders", Path: "/identity-providers",
			Read: "system:identity-providers:read", Write: "system:identity-providers:write",
			Schema: schemas.IdentityProviderSchema, Key: "handle", Filters: table.Filters(),
		},
		meta:     func(p *schemas.IdentityProvider) meta { return meta{&p.ID, &p.CreatedAt, &p.UpdatedAt} },
		complete: d.completeProvider,
		check:    checkProvider,
		remove:   removeProvider,
		digested: digestedProvider,
	}
}

// completeProvider also chooses the id, because the sealed secret is bound to it.
func (d *Directory) completeProvider(_ *writeContext, old, p *schemas.IdentityProvider) {
	p.ID = cmp.Or(p.ID, orZero(old).ID, schemas.NewID())
	if p.Scopes == nil {
		p.Scopes = []string{openIDScope, "profile", "email"}
	}
	d.completeProviderSecret(old, p)
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
	if len(p.Scopes) > 0 && !slices.Contains(p.Scopes, openIDScope) {
		w.addInvalid("scopes", "expected %q among them: without it the provider does not return the user's identity", openIDScope)
	}
	checkProviderSecret(w, p)
	checkName(w, was.Name, p.Name)
	checkUnique(w, store.IdentityProviders(), "handle", p.Handle, was.ID)
	guardProvider(w, old, p)
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
		Sealed schemas.Bytes
	}{p, p.SealedSecret}
}
