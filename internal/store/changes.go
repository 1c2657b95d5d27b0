package store

import (
	"fmt"

	"github.com/postern-id/postern/schemas"
)

func (t *Tx) applyOne(change schemas.Change) error {
	switch c := change.(type) {
	case schemas.CreateUser:
		return t.createUser(c.User)
	case schemas.VerifyEmail:
		return t.verifyEmail(c)
	case schemas.SetPassword:
		return t.setPassword(c)
	case schemas.RemovePassword:
		return t.removePassword(c)
	case schemas.RehashPassword:
		return t.rehashPassword(c)
	case schemas.RequireProofs:
		return t.requireProofs(c)
	case schemas.RequireAuthority:
		return nil // checked before all changes
	case schemas.CreateCredential:
		return t.createCredential(c.Credential)
	case schemas.UseCredential:
		return t.useCredential(c)
	case schemas.RenameCredential:
		return t.renameCredential(c)
	case schemas.DeleteCredential:
		return t.deleteCredential(c)
	case schemas.RemoveCredentials:
		return t.removeCredentials(c)
	case schemas.SetTOTP:
		return t.setTOTP(c.TOTP)
	case schemas.UseTOTP:
		return t.useTOTP(c)
	case schemas.DeleteTOTP:
		return t.deleteTOTP(c)
	case schemas.SetRecoveryCodes:
		return t.setRecoveryCodes(c)
	case schemas.UseRecoveryCode:
		return t.useRecoveryCode(c)
	case schemas.DeleteRecoveryCodes:
		return t.deleteRecoveryCodes(c)
	case schemas.LinkIdentity:
		return t.linkIdentity(c)
	case schemas.UseIdentity:
		return t.useIdentity(c)
	case schemas.MapIdentity:
		return t.mapIdentity(c)
	case schemas.UnlinkIdentity:
		return t.unlinkIdentity(c)
	case schemas.KeepAddition:
		return t.keepAddition(c)
	case schemas.UpdateUser:
		return t.updateUser(c)
	case schemas.EndAccess:
		return t.endAccess(c)
	}
	return t.applySession(change)
}

// applySession applies a change of sessions, tokens, authorization requests or the audit log.
func (t *Tx) applySession(change schemas.Change) error {
	switch c := change.(type) {
	case schemas.StartSession:
		return t.startSession(c)
	case schemas.UseSession:
		return t.later(upsertSessionUse, toMicros(c.At), c.SessionID, c.ApplicationID)
	case schemas.EndSession:
		return t.endBrowserSessions(c)
	case schemas.RevokeToken:
		return t.revokeToken(c)
	case schemas.RevokeFamily:
		return t.revokeFamily(c.ID, c.Until)
	case schemas.CreateAuthRequest:
		return t.createAuthRequest(c.Request)
	case schemas.GrantAuthRequest:
		return t.grantAuthRequest(c)
	case schemas.QueueDelivery:
		return t.queueDelivery(c.Delivery)
	case schemas.RefuseAuthRequest:
		return t.decideAuthRequest(updateRefusal, c.ID, c.BrowserHash, c.At, c.Refusal)
	case schemas.ApproveAuthRequest:
		return t.decideAuthRequest(updateApproval, c.ID, c.BrowserHash, c.At, c.Approval)
	case schemas.KeepRunValues:
		return t.keepRunValues(c)
	case schemas.CreateLink:
		return t.createLink(c.Link)
	case schemas.AcceptInvitation:
		return t.acceptInvitation(c)
	case schemas.UseEnrolment:
		return t.useEnrolment(c)
	case schemas.GrantConsent:
		return t.grantConsent(c)
	}
	return fmt.Errorf("store: change of unknown type %T", change)
}
