package store

import (
	"github.com/postern-id/postern/schemas"
)

// A password is often changed because others know it. What they added with it would keep working. So
// setting a password marks what the former one alone has added, and limits the passkeys among it.

const (
	selectPasswordID = `SELECT id FROM passwords WHERE user_id = ?`

	updateCredentialAddedBy    = `UPDATE credentials SET added_by = ? WHERE id = ?`
	updateTOTPAddedBy          = `UPDATE totp SET added_by = ? WHERE user_id = ?`
	updateRecoveryCodesAddedBy = `UPDATE recovery_codes SET added_by = ? WHERE user_id = ?`
)

// markAddedWithPassword marks what a user has added with the password alone that c replaces.
func (t *Tx) markAddedWithPassword(c schemas.SetPassword) error {
	if t.createdUser == c.UserID {
		return nil
	}
	id, err := readValue[string](t.ctx, t, selectPasswordID, c.UserID)
	if err != nil || id == "" {
		return err
	}
	former := schemas.Proof{Kind: schemas.PasswordProof, Of: id}
	if err := t.markPasskeys(c, former); err != nil {
		return err
	}
	return t.markFactors(c, former)
}

func (t *Tx) markPasskeys(c schemas.SetPassword, former schemas.Proof) error {
	keys, err := CredentialsOf(t.ctx, t, c.UserID)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if !marks(c, former, key.AddedBy, schemas.Proof{Kind: schemas.PasskeyProof, Of: key.ID.String()}) {
			continue
		}
		if _, err := t.exec(insertFormerPasskey, toMicros(c.At), nonNilBytes(key.ID)); err != nil {
			return err
		}
		limited := key.AddedBy.Former(true)
		if _, err := t.exec(updateCredentialAddedBy, provenance{&limited}, nonNilBytes(key.ID)); err != nil {
			return err
		}
		e := t.actor.event
		e.ID, e.At, e.Action, e.UserID = schemas.NewID(), c.At, "passkey.limited", c.UserID
		e.Resource, e.Before, e.After = schemas.ResourceRef{Type: "passkey", ID: key.ID.String()}, "", ""
		e.Detail = map[string]string{"credentialId": key.ID.String()}
		if err := t.recordEvent(e); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) markFactors(c schemas.SetPassword, former schemas.Proof) error {
	app, err := TOTPOf(t.ctx, t, c.UserID)
	if err != nil {
		return err
	}
	if app != nil && marks(c, former, app.AddedBy, schemas.ProofOfTOTP(app)) {
		marked := app.AddedBy.Former(false)
		if _, err := t.exec(updateTOTPAddedBy, provenance{&marked}, c.UserID); err != nil {
			return err
		}
	}
	codes, err := RecoveryCodesOf(t.ctx, t, c.UserID)
	if err != nil || codes == nil || !marks(c, former, codes.AddedBy, schemas.Proof{Kind: schemas.RecoveryProof}) {
		return err
	}
	marked := codes.AddedBy.Former(false)
	_, err = t.exec(updateRecoveryCodesAddedBy, provenance{&marked}, c.UserID)
	return err
}

// marks reports whether setting a password marks a credential. The user confirms recovery codes with any
// code of the set.
func marks(c schemas.SetPassword, former schemas.Proof, by schemas.Provenance, credential schemas.Proof) bool {
	for _, used := range c.Confirmed {
		if used.IsOf(credential) || used.Kind == credential.Kind && credential.Of == "" {
			return false
		}
	}
	return by.RestsOn(former) && !by.IsFormer()
}
