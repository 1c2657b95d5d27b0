package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/schemas"
)

// Mappings of providers
//
// A provider states attributes and groups of its users; the mapping of the provider says what becomes of them. It
// is applied when an identity is linked and whenever it signs in, in the transaction of that step. A run keeps the claims of
// an unlinked identity, and applies the mapping that the provider has when it links the identity.
//
// A claim that does not fit must not lock the user out: the attribute stays as it is, and the audit log has the
// reason. Only a mapping with required: true refuses the sign-in.

// errMissingClaim is the fault of a provider that does not state what its mapping requires.
func errMissingClaim(claims []string) *federation.Error {
	return &federation.Error{Check: "claims", Reason: "the mapping requires the claim " + strings.Join(claims, ", ") +
		", which the provider does not state, or not with a suitable value: request a scope that releases it"}
}

// mapIdentity returns the change that applies a mapping to a user with an identity.
func (d Deps) mapIdentity(ctx context.Context, v *engine.Visit, p *schemas.IdentityProvider, mapped *federation.Mapped, user *schemas.User, identityID string) (*schemas.MapIdentity, error) {
	c, err := d.fitMapping(ctx, user, p, mapped)
	if err != nil {
		return nil, err
	}
	c.By = v.Authority()
	c.By.UserID = user.ID
	c.AddedBy = schemas.Provenance{ACR: schemas.ACRVouched, Methods: []string{schemas.AMRFederated},
		Proofs: []schemas.Proof{{Kind: schemas.IdentityProof, Of: identityID}}}
	c.At, c.Event = v.Now, proof(v, schemas.IdentityMapped, user.ID, nil).Event
	return c, nil
}

// mapSignIn returns the change that applies the mapping to the user of a linked identity, nil for none. The fault
// is that of a provider that does not state what the mapping requires.
func (d Deps) mapSignIn(ctx context.Context, v *engine.Visit, p *schemas.IdentityProvider, who *federation.Identity, linked *schemas.Identity) (schemas.Change, *federation.Error, error) {
	if p.Mapping.IsZero() {
		return nil, nil, nil
	}
	mapped := who.Statement.Map(p.Mapping)
	if len(mapped.Missing) > 0 {
		return nil, errMissingClaim(mapped.Missing), nil
	}
	user, err := d.Store.User(ctx, linked.UserID)
	if err != nil {
		return nil, nil, err
	}
	c, err := d.mapIdentity(ctx, v, p, mapped, user, linked.ID)
	if err != nil {
		return nil, nil, err
	}
	return *applyOnce(c), nil, nil
}

// fitMapping returns the change with the values that the user's type accepts.
func (d Deps) fitMapping(ctx context.Context, user *schemas.User, p *schemas.IdentityProvider, mapped *federation.Mapped) (*schemas.MapIdentity, error) {
	t, err := d.Directory.UserType(ctx, user.Type)
	if err != nil {
		return nil, err
	}
	c := &schemas.MapIdentity{
		UserID: user.ID, ProviderID: p.ID, Values: mapped.Values, Groups: mapped.Groups, Permissions: p.Mapping.Permissions, Skipped: mapped.Skipped,
	}
	unknown := unknownAttributes(t)
	for _, name := range mapped.Absent {
		if !t.Requires(name) && !unknown(name) {
			c.Absent = append(c.Absent, name)
		}
	}
	maps.DeleteFunc(c.Values, func(name string, _ any) bool { return unknown(name) })
	maps.DeleteFunc(c.Skipped, func(name string, _ string) bool { return unknown(name) })
	for _, a := range p.Mapping.Attributes {
		if !a.Refreshes() {
			c.Once = append(c.Once, a.To)
		}
	}
	dropForeign(c.Values, t.CredentialAttribute())
	if err := d.dropMisfits(ctx, user, c); err != nil {
		return nil, err
	}
	for statement, name := range schemas.VerificationAttributes() {
		if c.Values[name] != nil && !mapped.Unverified[name] {
			c.Values[statement] = true
		}
	}
	c.Account = t.AccountAttributes(slices.Concat(slices.Sorted(maps.Keys(c.Values)), c.Absent))
	return c, nil
}

// unknownAttributes returns the function that reports whether users of a type cannot have an attribute: a mapping is for
// users of several types.
func unknownAttributes(t *schemas.UserType) func(name string) bool {
	names, open := t.AttributeNames()
	return func(name string) bool { return !open && !slices.Contains(names, name) }
}

// dropForeign removes attributes that no provider states: a password would be stored in the clear, and whether an
// address is verified is a matter of trust.
func dropForeign(values map[string]any, credential string) {
	maps.DeleteFunc(values, func(name string, _ any) bool { return name == credential || attestedAttribute(name) })
}

// dropMisfits removes the values that the user type does not accept. Removing one can make another one fit or
// not, so it repeats.
func (d Deps) dropMisfits(ctx context.Context, user *schemas.User, c *schemas.MapIdentity) error {
	for {
		changed := maps.Clone(c.Values)
		for _, name := range c.Absent {
			changed[name] = nil
		}
		misfit, err := d.checkType(ctx, user.With(changed))
		if err != nil && misfit == nil {
			return err
		}
		dropped := false
		for _, p := range misfit {
			if name := attributeAt(p.Path, maps.Keys(changed)); name != "" {
				delete(c.Values, name)
				c.Absent = slices.DeleteFunc(c.Absent, func(absent string) bool { return absent == name })
				c.Skipped[name], dropped = schemas.SkippedMisfit, true
			}
		}
		if !dropped {
			return nil
		}
	}
}

// applyOnce removes from the change what is applied only when the identity is linked.
func applyOnce(c *schemas.MapIdentity) *schemas.MapIdentity {
	for _, name := range c.Once {
		delete(c.Values, name)
		delete(c.Skipped, name)
	}
	c.Absent = slices.DeleteFunc(c.Absent, func(name string) bool { return slices.Contains(c.Once, name) })
	return c
}

// statementOf returns what a run keeps of a provider's statement, nil for nothing.
func statementOf(p *schemas.IdentityProvider, who *federation.Identity) json.RawMessage {
	kept := who.Statement.For(p.Mapping)
	if kept == nil {
		return nil
	}
	return must(json.Marshal(kept))
}

// heldMapping returns the provider of the run's identity, and what it states; nil without a mapping. A provider that
// was replaced in the meantime has none.
func (d Deps) heldMapping(ctx context.Context, held *engine.Identity) (*schemas.IdentityProvider, *federation.Statement, error) {
	if held == nil || len(held.Statement) == 0 {
		return nil, nil, nil
	}
	p, err := d.Directory.IdentityProvider(ctx, held.Handle)
	if schemas.HasCode(err, schemas.CodeProviderNotFound) || err == nil && (p.ID != held.ProviderID || p.Mapping.IsZero()) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	s := new(federation.Statement)
	if err := json.Unmarshal(held.Statement, s); err != nil {
		return nil, nil, fmt.Errorf("decode the statement of an identity provider: %w", err)
	}
	return p, s, nil
}

// mapLinked returns the change that applies the mapping when an identity is linked, nil for none.
func (d Deps) mapLinked(ctx context.Context, v *engine.Visit, link *schemas.Identity) (schemas.Change, error) {
	p, s, err := d.heldMapping(ctx, v.Identity)
	if p == nil || err != nil {
		return nil, err
	}
	user, err := d.subjectUser(ctx, v)
	if err != nil {
		return nil, err
	}
	c, err := d.mapIdentity(ctx, v, p, s.Map(p.Mapping), user, link.ID)
	if err != nil {
		return nil, err
	}
	c.Linked, c.Created = true, v.Facts.Has(engine.New)
	return *c, nil
}

// mapDraft returns a new user with the attributes that the provider of the run's identity states, besides those
// that the run has asked for and those that identify: the user type can require them. Without an identity it returns
// the user unchanged.
func (d Deps) mapDraft(ctx context.Context, held *engine.Identity, draft *schemas.User) (*schemas.User, error) {
	p, s, err := d.heldMapping(ctx, held)
	if p == nil || err != nil {
		return draft, err
	}
	mapped := s.Map(p.Mapping)
	for _, name := range append(slices.Collect(maps.Keys(draft.Attributes)), schemas.IdentifyingAttributes()...) {
		delete(mapped.Values, name)
	}
	c, err := d.fitMapping(ctx, draft, p, mapped)
	if err != nil {
		return nil, err
	}
	return draft.With(c.Values), nil
}
