package store

import (
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	selectPasswordID   = `SELECT id FROM passwords WHERE user_id = ?`
	selectProviderName = `SELECT name FROM identity_providers WHERE id = ?`

	updateCredentialAddedBy    = `UPDATE credentials SET added_by = ? WHERE id = ?`
	updateIdentityAddedBy      = `UPDATE identities SET added_by = ? WHERE id = ?`
	updateTOTPAddedBy          = `UPDATE totp SET added_by = ? WHERE user_id = ?`
	updateRecoveryCodesAddedBy = `UPDATE recovery_codes SET added_by = ? WHERE user_id = ?`
	updateAddressAddedBy       = `UPDATE address_origins SET added_by = ? WHERE user_id = ?`

	selectAddressOrigin = `SELECT address, set_at, added_by FROM address_origins WHERE user_id = ?`

	upsertAddressOrigin = `INSERT INTO address_origins (user_id, address, set_at, added_by) VALUES (?, ?, ?, ?)
		ON CONFLICT (user_id) DO UPDATE SET address = excluded.address, set_at = excluded.set_at, added_by = excluded.added_by`

	deleteAddressOrigin = `DELETE FROM address_origins WHERE user_id = ?`
)

// PasswordID returns the id of the user's password, "" without one.
func PasswordID(ctx context.Context, r Reader, userID string) (string, error) {
	return readValue[string](ctx, r, selectPasswordID, userID)
}

// Additions returns what was added to the account of a user, with its provenance.
func (s *Store) Additions(ctx context.Context, userID string) ([]schemas.Addition, error) {
	return AdditionsOf(ctx, s, userID)
}

// AdditionsOf is Additions for a Reader.
func AdditionsOf(ctx context.Context, r Reader, userID string) (all []schemas.Addition, err error) {
	for _, read := range []func(context.Context, Reader, string) ([]schemas.Addition, error){passkeyAdditions, identityAdditions, factorAdditions, addressAdditions} {
		some, err := read(ctx, r, userID)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// FormerAdditions returns what was added to the account of a user with former passwords alone, and neither
// kept nor removed since.
func FormerAdditions(ctx context.Context, r Reader, userID string) ([]schemas.Addition, error) {
	all, err := AdditionsOf(ctx, r, userID)
	return schemas.AddedWithFormer(all, schemas.Proof{}, nil), err
}

func passkeyAdditions(ctx context.Context, r Reader, userID string) (list []schemas.Addition, err error) {
	keys, err := CredentialsOf(ctx, r, userID)
	for _, key := range keys {
		list = append(list, key.Addition())
	}
	return list, err
}

func identityAdditions(ctx context.Context, r Reader, userID string) (list []schemas.Addition, err error) {
	identities, err := IdentitiesOf(ctx, r, userID)
	for _, i := range identities {
		provider, err := readValue[string](ctx, r, selectProviderName, i.ProviderID)
		if err != nil {
			return nil, err
		}
		list = append(list, i.Addition(provider))
	}
	return list, err
}

func factorAdditions(ctx context.Context, r Reader, userID string) (list []schemas.Addition, err error) {
	app, err := TOTPOf(ctx, r, userID)
	if err != nil {
		return nil, err
	}
	if app != nil {
		list = append(list, app.Addition())
	}
	codes, err := RecoveryCodesOf(ctx, r, userID)
	if codes != nil {
		list = append(list, codes.Addition())
	}
	return list, err
}

func addressAdditions(ctx context.Context, r Reader, userID string) ([]schemas.Addition, error) {
	return readAll(ctx, r, func(row scanner, a *schemas.Addition) error {
		err := row.Scan(&a.Name, (*microTime)(&a.CreatedAt), provenance{&a.AddedBy})
		a.Type, a.ID, a.Proof = schemas.EmailAddition, schemas.EmailAddition, schemas.ProofOfEmail(a.Name)
		return err
	}, selectAddressOrigin, userID)
}

// setAddedBy changes the provenance of an addition.
func (t *Tx) setAddedBy(userID string, a schemas.Addition, by schemas.Provenance) (err error) {
	switch a.Type {
	case schemas.PasskeyAddition:
		id, wrong := schemas.ParseBytes(a.ID)
		if wrong != nil {
			return wrong
		}
		_, err = t.exec(updateCredentialAddedBy, provenance{&by}, nonNilBytes(id))
	case schemas.IdentityAddition:
		_, err = t.exec(updateIdentityAddedBy, provenance{&by}, a.ID)
	case schemas.AppAddition:
		_, err = t.exec(updateTOTPAddedBy, provenance{&by}, userID)
	case schemas.CodesAddition:
		_, err = t.exec(updateRecoveryCodesAddedBy, provenance{&by}, userID)
	case schemas.EmailAddition:
		_, err = t.exec(updateAddressAddedBy, provenance{&by}, userID)
	}
	return err
}

// keepAddition replaces the provenance of an addition.
func (t *Tx) keepAddition(c schemas.KeepAddition) error {
	if _, err := t.lockUser(c.UserID); err != nil {
		return err
	}
	all, err := AdditionsOf(t.ctx, t, c.UserID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(a schemas.Addition) bool { return a.ID == c.ID })
	if i < 0 {
		return schemas.Errorf(schemas.NotFound, schemas.CodeAdditionNotFound, "the account has no %.64q; it may have been removed", c.ID)
	}
	return t.setAddedBy(c.UserID, all[i], c.AddedBy)
}

// leavePassword marks what a user has added with the password alone that is replaced or removed at a time.
// What the user has confirmed counts as added with the new password, "" for none.
func (t *Tx) leavePassword(userID, newID string, at time.Time, confirmed []schemas.Proof) error {
	if t.createdUser == userID {
		return nil
	}
	id, err := PasswordID(t.ctx, t, userID)
	if err != nil || id == "" {
		return err
	}
	all, err := AdditionsOf(t.ctx, t, userID)
	if err != nil {
		return err
	}
	replaced := schemas.Proof{Kind: schemas.PasswordProof, Of: id}
	former := schemas.AddedWithFormer(all, replaced, confirmed)
	for _, a := range all {
		isFormer := slices.ContainsFunc(former, func(f schemas.Addition) bool { return f.ID == a.ID })
		switch {
		case isFormer && !a.AddedBy.IsFormer():
			err = t.markAddition(userID, a, at)
		case !isFormer && newID != "" && a.AddedBy.RestsOn(replaced):
			err = t.setAddedBy(userID, a, a.AddedBy.Rerooted(replaced, schemas.Proof{Kind: schemas.PasswordProof, Of: newID}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// markAddition marks an addition, limits it if it opens the account, and records that.
func (t *Tx) markAddition(userID string, a schemas.Addition, at time.Time) error {
	if key, _ := schemas.ParseBytes(a.ID); a.Type == schemas.PasskeyAddition {
		if _, err := t.exec(insertFormerPasskey, toMicros(at), nonNilBytes(key)); err != nil {
			return err
		}
	}
	if err := t.setAddedBy(userID, a, a.AddedBy.Former(a.OpensAccount())); err != nil {
		return err
	}
	e := t.actor.event
	e.ID, e.At, e.Action, e.UserID, e.Before, e.After = schemas.NewID(), at, "addition.marked", userID, "", ""
	e.Resource, e.Detail = a.Ref(userID), map[string]string{"type": a.Type}
	if a.Type == schemas.PasskeyAddition {
		e.Action, e.Detail = "passkey.limited", map[string]string{"credentialId": a.ID}
	}
	return t.recordEvent(e)
}

// passOn replaces a credential that a user is about to lose in the provenance of what it has added by the
// credentials that added it: a removed credential must not hide what its additions rest on.
func (t *Tx) passOn(userID string, gone schemas.Proof) error {
	all, lost, err := t.additionOf(userID, gone)
	if lost == nil || err != nil {
		return err
	}
	for _, a := range all {
		if a.IsProvedBy(lost.Proof) || !slices.ContainsFunc(a.AddedBy.Proofs, lost.IsProvedBy) {
			continue
		}
		by := a.AddedBy
		if a.AddedBy.RestsOn(lost.Proof) && lost.AddedBy.IsFormer() && !by.IsFormer() {
			by = by.Former(a.OpensAccount())
		}
		if err := t.setAddedBy(userID, a, by.Rerooted(lost.Proof, lost.AddedBy.Proofs...)); err != nil {
			return err
		}
	}
	return nil
}

// inherited returns the provenance of what replaces the credential of a proof, or the address: see passOn.
func (t *Tx) inherited(userID string, replaced schemas.Proof, by schemas.Provenance) (schemas.Provenance, error) {
	_, lost, err := t.additionOf(userID, replaced)
	if lost == nil || err != nil {
		return by, err
	}
	return by.Rerooted(lost.Proof, lost.AddedBy.Proofs...), nil
}

// additionOf returns the additions of a user, and the one with the proof if its sign-in was recorded.
func (t *Tx) additionOf(userID string, p schemas.Proof) (all []schemas.Addition, with *schemas.Addition, err error) {
	all, err = AdditionsOf(t.ctx, t, userID)
	i := slices.IndexFunc(all, func(a schemas.Addition) bool { return a.IsProvedBy(p) || p.Of == "" && a.Proof.Kind == p.Kind })
	if err != nil || i < 0 || len(all[i].AddedBy.Proofs) == 0 {
		return all, nil, err
	}
	return all, &all[i], nil
}

// setAddressOrigin notes the sign-in that has set the address of a user.
func (t *Tx) setAddressOrigin(old, u *schemas.User, by schemas.Provenance, at time.Time) error {
	former := schemas.ProofOfEmail(old.Text("email"))
	by, err := t.inherited(u.ID, former, by)
	if err != nil {
		return err
	}
	if err := t.passOn(u.ID, former); err != nil {
		return err
	}
	address := schemas.IdentifierKey(u.Text("email"))
	if address == "" || len(by.Proofs) == 0 {
		_, err := t.exec(deleteAddressOrigin, u.ID)
		return err
	}
	_, err = t.exec(upsertAddressOrigin, u.ID, address, toMicros(at), provenance{&by})
	return err
}
