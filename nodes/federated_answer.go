package nodes

import (
	"context"
	"errors"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/schemas"
)

// finish handles the provider's answer: it signs in the linked user, or holds an identity that is
// not linked.
func (f *federatedOIDC) finish(ctx context.Context, v *engine.Visit, p *schemas.IdentityProvider) (*engine.Decision, error) {
	in := v.Answer.Inputs
	who, err := f.deps.Federation.Finish(ctx, p, v.NodeState, federation.Response{
		Code: in[authorizationCodeInput], State: in[stateInput], Issuer: in[issuerInput], Error: in[errorInput],
	}, v.Now)
	if fault, ok := errors.AsType[*federation.Error](err); ok {
		return f.refused(v, p, fault), nil
	}
	if err != nil {
		return nil, err
	}
	linked, err := f.deps.Directory.Identity(ctx, p.ID, who.Subject)
	switch {
	case err != nil:
		return nil, err
	case linked == nil:
		return f.leaveUnknown(v, p, who), nil
	}
	mapping, missing, err := f.deps.mapSignIn(ctx, v, p, who, linked)
	switch {
	case err != nil:
		return nil, err
	case missing != nil:
		return f.refused(v, p, missing), nil
	}
	return f.signIn(v, p, who, linked, mapping), nil
}

// signIn leaves by success unless the run is about another user: an entered name must not be
// answered with another user's account. The mapping is nil for none.
func (f *federatedOIDC) signIn(v *engine.Visit, p *schemas.IdentityProvider, who *federation.Identity, linked *schemas.Identity, mapping schemas.Change) *engine.Decision {
	if isAboutOther(v.Subject, linked.UserID) {
		d := leaveFailed(identityTaken())
		d.Reason = schemas.ReasonIdentityOfOther
		return d
	}
	changes := []schemas.Change{schemas.UseIdentity{ID: linked.ID, At: v.Now}, proof(v, "identity.used", linked.UserID, map[string]string{"provider": p.Handle})}
	if mapping != nil {
		changes = append(changes, mapping)
	}
	d := leaveProven(v, []string{schemas.AMRFederated}, schemas.ACRVouched, linked.AddedBy, schemas.Proof{Kind: schemas.IdentityProof, Of: linked.ID}, changes...)
	if !v.Subject.Known() {
		d.Subject = &engine.Subject{UserID: linked.UserID}
	}
	for i := range d.Proofs {
		d.Proofs[i].At = who.AuthTime
	}
	return d
}

func identityTaken() *schemas.Error {
	return schemas.Errorf(schemas.Conflict, schemas.CodeIdentityTaken,
		"the identity is linked to an account other than the one signing in; use another identity, or start again to sign in to that account")
}

// leaveUnknown leaves by unknown with the identity and the claims that the flow requests.
func (f *federatedOIDC) leaveUnknown(v *engine.Visit, p *schemas.IdentityProvider, who *federation.Identity) *engine.Decision {
	d := engine.LeaveBy(unknownOutcome)
	d.Set = map[string]string{}
	if !p.Mapping.IsZero() {
		if missing := who.Statement.Map(p.Mapping).Missing; len(missing) > 0 {
			return f.refused(v, p, errMissingClaim(missing))
		}
	}
	for identifier, claim := range f.Claims {
		in := field{Identifier: identifier, Type: claimType(claim)}
		if value, fault := in.accept(who.Claims[claim]); fault == "" && value != "" {
			d.Set[identifier] = value
		} else {
			d.Drop = append(d.Drop, identifier)
		}
	}
	for _, identifier := range f.Required {
		if d.Set[identifier] == "" {
			return f.refused(v, p, &federation.Error{Check: "claims", Reason: "the ID token has no claim " + f.Claims[identifier] + ", or an unsuitable one: request a scope that releases it"})
		}
	}
	d.Identity = &engine.Identity{ProviderID: p.ID, Issuer: p.Issuer, Subject: who.Subject, Name: who.Name, Handle: p.Handle, Statement: statementOf(p, who)}
	return d
}

// refused leaves by failure. The client learns what the user can do about it; the reason is in the
// audit log.
func (f *federatedOIDC) refused(v *engine.Visit, p *schemas.IdentityProvider, fault *federation.Error) *engine.Decision {
	d := engine.LeaveBy("failure")
	if fault.Check == federation.CheckDenied {
		d.Notice = schemas.Errorf(schemas.Invalid, schemas.CodeFederationDeclined, "the sign-in at the identity provider %s did not complete; try again, or sign in another way", p.Handle)
		return d
	}
	d.Changes = []schemas.Change{event(v, "identity.refused", v.Subject.UserID, map[string]string{
		"provider": p.Handle, "check": string(fault.Check), "reason": fault.Reason,
	})}
	if fault.Check == federation.CheckReachable || fault.Check == federation.CheckMetadata || fault.Check == federation.CheckSettings {
		d.Notice = schemas.Errorf(schemas.Unavailable, schemas.CodeFederationUnavailable,
			"the identity provider %s is unavailable; try again later, or sign in another way", p.Handle)
		return d
	}
	d.Failed, d.Reason = true, schemas.FederationReasonPrefix+string(fault.Check)
	d.Notice = schemas.Errorf(schemas.Invalid, schemas.CodeFederationFailed, "the response of the identity provider %s was rejected; try again, or sign in another way", p.Handle)
	return d
}
