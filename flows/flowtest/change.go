package flowtest

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

func (r *records) apply(changes []schemas.Change) error {
	for _, c := range changes {
		if err := r.change(c); err != nil {
			return err
		}
	}
	return nil
}

func (r *records) change(change schemas.Change) error {
	switch c := change.(type) {
	case schemas.CreateUser:
		return r.createUser(c.User)
	case schemas.VerifyEmail:
		return r.verifyEmail(c)
	case schemas.UpdateUser:
		return r.updateUser(c)
	case schemas.RequireProofs:
		return r.requireProofs(c)
	case schemas.RequireAuthority:
		return nil // the nodes check it, with the permissions of the scenario
	case schemas.StartSession:
		*r = append(*r, c.Session)
		return r.requireActive(c.Session.UserID, c.Session.CreatedAt)
	case schemas.UseSession:
		return nil // scenarios have no clock between two sign-ins
	case schemas.EndSession:
		remove(r, func(s schemas.Session) bool { return s.ID == c.ID })
	case schemas.CreateAuthRequest:
		*r = append(*r, c.Request)
	case schemas.GrantAuthRequest:
		return r.decide(c.ID, c.BrowserHash, c.At, func(a *schemas.AuthRequest) { a.Grant = &c.Grant })
	case schemas.RefuseAuthRequest:
		return r.decide(c.ID, c.BrowserHash, c.At, func(a *schemas.AuthRequest) { a.Refusal = &c.Refusal })
	case schemas.ApproveAuthRequest:
		return r.decide(c.ID, c.BrowserHash, c.At, func(a *schemas.AuthRequest) { a.Approval = &c.Approval })
	case schemas.GrantConsent:
		r.consent(c)
	case schemas.KeepRunValues:
		*r = append(*r, c)
	case schemas.CreateLink:
		*r = append(*r, c.Link)
	case schemas.AcceptInvitation:
		return r.acceptInvitation(c)
	case schemas.UseEnrolment:
		return fmt.Errorf("flowtest: scenarios have no enrolment links")
	case schemas.QueueDelivery:
		*r = append(*r, c.Delivery)
	case schemas.RecordEvent:
		*r = append(*r, c.Event)
	default:
		return r.changeCredential(change)
	}
	return nil
}

// decide answers an authorization request, unless the run ended in another browser.
func (r *records) decide(id string, browser []byte, at time.Time, decision func(*schemas.AuthRequest)) error {
	isOpen := func(a schemas.AuthRequest) bool {
		return a.ID == id && a.Grant == nil && a.Refusal == nil && at.Before(a.ExpiresAt)
	}
	found := edit(r, isOpen, func(a *schemas.AuthRequest) {
		if bytes.Equal(browser, a.BrowserHash) {
			decision(a)
		}
	})
	if !found {
		return noAuthRequest(id)
	}
	return nil
}

func isConsent(userID, applicationID string) func(schemas.Consent) bool {
	return func(c schemas.Consent) bool { return c.UserID == userID && c.ApplicationID == applicationID }
}

// consent adds scopes to the user's consent for an application.
func (r *records) consent(g schemas.GrantConsent) {
	c := schemas.Consent{UserID: g.UserID, ApplicationID: g.ApplicationID, GrantedAt: g.At}
	if !g.AskAgainAt.IsZero() {
		c.AskAgainAt = &g.AskAgainAt
	}
	is := isConsent(g.UserID, g.ApplicationID)
	if before := find(*r, is); before != nil {
		c.Scopes = slices.DeleteFunc(slices.Clone(before.Scopes), func(s schemas.ConsentedScope) bool { return slices.Contains(g.Scopes, s.Scope) })
	}
	for _, scope := range g.Scopes {
		c.Scopes = append(c.Scopes, schemas.ConsentedScope{Scope: scope, GrantedAt: g.At, AskAgainAt: c.AskAgainAt, Claims: g.Claims[scope]})
	}
	put(r, c, is)
}

// changeCredential applies a change to a password, a passkey, a second factor or an identity.
func (r *records) changeCredential(change schemas.Change) error {
	switch c := change.(type) {
	case schemas.SetPassword:
		put(r, c, isPassword(c.UserID))
	case schemas.RehashPassword:
		isVerified := func(p schemas.SetPassword) bool { return p.UserID == c.UserID && p.Hash == c.Verified }
		edit(r, isVerified, func(p *schemas.SetPassword) { p.Hash = c.Hash })
	case schemas.CreateCredential:
		if find(*r, isPasskey(c.Credential.ID)) != nil {
			return schemas.Errorf(schemas.Conflict, schemas.CodeCredentialExists, "the passkey is registered already")
		}
		*r = append(*r, c.Credential)
	case schemas.UseCredential:
		return r.editPasskey(c.ID, func(k *schemas.Credential) {
			k.SignCount, k.BackupState, k.LastUsedAt = max(k.SignCount, c.SignCount), c.BackupState, &c.At
		})
	case schemas.DeleteCredential:
		err := r.editPasskey(c.ID, func(*schemas.Credential) {})
		remove(r, isPasskey(c.ID))
		return err
	case schemas.RemoveCredentials:
		for _, removal := range c.Remove {
			if find(*r, isPasskey(removal.ID)) != nil {
				remove(r, isPasskey(removal.ID))
				*r = append(*r, removal.Event)
			}
		}
	case schemas.LinkIdentity:
		return r.linkIdentity(c.Identity)
	case schemas.UseIdentity:
		edit(r, isIdentity(c.ID), func(i *schemas.Identity) {
			if i.LastUsedAt == nil || i.LastUsedAt.Before(c.At) {
				i.LastUsedAt = &c.At
			}
		})
		_, err := require(*r, isIdentity(c.ID), schemas.CodeIdentityNotFound, "identity", c.ID)
		return err
	case schemas.UnlinkIdentity:
		remove(r, isIdentity(c.ID))
	default:
		return r.changeFactor(change)
	}
	return nil
}

func (r *records) editPasskey(id schemas.Bytes, change func(*schemas.Credential)) error {
	_, err := require(*r, isPasskey(id), schemas.CodeCredentialNotFound, "passkey", id.String())
	edit(r, isPasskey(id), change)
	return err
}

func (r *records) linkIdentity(linked schemas.Identity) error {
	is := isSubject(linked.ProviderID, linked.Subject)
	switch before := find(*r, is); {
	case before == nil:
		*r = append(*r, linked)
	case before.UserID != linked.UserID:
		return schemas.Errorf(schemas.Conflict, schemas.CodeIdentityTaken, "the identity belongs to another user")
	default:
		edit(r, is, func(i *schemas.Identity) { i.Name = linked.Name })
	}
	_, err := r.user(linked.UserID)
	return err
}

// changeFactor applies a change to a second factor.
func (r *records) changeFactor(change schemas.Change) error {
	used := true
	switch c := change.(type) {
	case schemas.SetTOTP:
		put(r, c.TOTP, isTOTP(c.TOTP.UserID))
		_, err := r.user(c.TOTP.UserID)
		return err
	case schemas.UseTOTP:
		isNew := func(app schemas.TOTP) bool { return app.UserID == c.UserID && c.Step > app.LastStep }
		used = edit(r, isNew, func(app *schemas.TOTP) { app.LastStep, app.LastUsedAt = c.Step, &c.At })
	case schemas.DeleteTOTP:
		remove(r, isTOTP(c.UserID))
	case schemas.SetRecoveryCodes:
		put(r, recovery{SetRecoveryCodes: c}, isRecovery(c.UserID))
		_, err := r.user(c.UserID)
		return err
	case schemas.UseRecoveryCode:
		has := func(codes recovery) bool { return codes.UserID == c.UserID && codes.has(c.Hash) }
		used = edit(r, has, func(codes *recovery) { codes.used = append(slices.Clip(codes.used), c.Hash) })
	case schemas.DeleteRecoveryCodes:
		remove(r, isRecovery(c.UserID))
	default:
		return fmt.Errorf("flowtest: change of unknown type %T", change)
	}
	if !used {
		return schemas.Errorf(schemas.Conflict, schemas.CodeUsed, "the code has been used")
	}
	return nil
}
