package flowtest

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// recovery is the set of a user's recovery codes.
type recovery struct {
	schemas.SetRecoveryCodes
	used [][]byte
}

// has reports whether there is an unused code with the hash.
func (r recovery) has(hash []byte) bool {
	return r.issued(hash) && !slices.ContainsFunc(r.used, func(other []byte) bool { return bytes.Equal(hash, other) })
}

func (r recovery) issued(hash []byte) bool {
	return slices.ContainsFunc(r.Hashes, func(other []byte) bool { return bytes.Equal(hash, other) })
}

func isPassword(userID string) func(schemas.SetPassword) bool {
	return func(p schemas.SetPassword) bool { return p.UserID == userID }
}

func isPasskey(id schemas.Bytes) func(schemas.Credential) bool {
	return func(c schemas.Credential) bool { return bytes.Equal(c.ID, id) }
}

func isTOTP(userID string) func(schemas.TOTP) bool {
	return func(t schemas.TOTP) bool { return t.UserID == userID }
}

func isRecovery(userID string) func(recovery) bool {
	return func(r recovery) bool { return r.UserID == userID }
}

func isIdentity(id string) func(schemas.Identity) bool {
	return func(i schemas.Identity) bool { return i.ID == id }
}

func isSubject(providerID, subject string) func(schemas.Identity) bool {
	return func(i schemas.Identity) bool { return i.ProviderID == providerID && i.Subject == subject }
}

// Password returns the user's password, the zero value if the user has none.
func (m *Memory) Password(_ context.Context, userID string) (schemas.Password, error) {
	p := cmp.Or(find(m.records(), isPassword(userID)), &schemas.SetPassword{})
	return schemas.Password{Hash: p.Hash, ID: p.ID, AddedBy: p.AddedBy}, nil
}

// Credentials returns the user's passkeys, oldest first.
func (m *Memory) Credentials(_ context.Context, userID string) ([]schemas.Credential, error) {
	return all(m.records(), func(c schemas.Credential) bool { return c.UserID == userID }), nil
}

// Credential returns a passkey by its ID, for any user.
func (m *Memory) Credential(_ context.Context, id schemas.Bytes) (*schemas.Credential, error) {
	return require(m.records(), isPasskey(id), schemas.CodeCredentialNotFound, "passkey", id.String())
}

// TOTP returns the user's authenticator app, nil if the user has none.
func (m *Memory) TOTP(_ context.Context, userID string) (*schemas.TOTP, error) {
	return find(m.records(), isTOTP(userID)), nil
}

// RecoveryCode returns the user's recovery code with the hash, nil if there is no such code.
func (m *Memory) RecoveryCode(_ context.Context, userID string, hash []byte) (*schemas.RecoveryCode, error) {
	codes := find(m.records(), isRecovery(userID))
	if codes == nil || !codes.issued(hash) {
		return nil, nil
	}
	return &schemas.RecoveryCode{AddedBy: codes.AddedBy, Used: !codes.has(hash)}, nil
}

// RecoveryCodes returns how many recovery codes the user has, nil if none were issued.
func (m *Memory) RecoveryCodes(_ context.Context, userID string) (*schemas.RecoveryCodes, error) {
	codes := find(m.records(), isRecovery(userID))
	if codes == nil {
		return nil, nil
	}
	return &schemas.RecoveryCodes{Total: len(codes.Hashes), Left: len(codes.Hashes) - len(codes.used), CreatedAt: codes.At, AddedBy: codes.AddedBy}, nil
}

// AttributeOwners returns nothing: scenarios have no owners of attributes.
func (m *Memory) AttributeOwners(context.Context, string) ([]schemas.AttributeOwner, error) {
	return nil, nil
}

// Additions returns what was added to the account of the user. The addresses of scenarios have no origin.
func (m *Memory) Additions(ctx context.Context, userID string) (list []schemas.Addition, err error) {
	keys, err := m.Credentials(ctx, userID)
	for _, key := range keys {
		list = append(list, key.Addition())
	}
	for _, i := range all(m.records(), func(i schemas.Identity) bool { return i.UserID == userID }) {
		list = append(list, i.Addition(""))
	}
	if app := find(m.records(), isTOTP(userID)); app != nil {
		list = append(list, app.Addition())
	}
	if codes := find(m.records(), isRecovery(userID)); codes != nil {
		list = append(list, (&schemas.RecoveryCodes{CreatedAt: codes.At, AddedBy: codes.AddedBy}).Addition())
	}
	return list, err
}

// Identity returns the identity of the subject at the provider, nil if it is not linked.
func (m *Memory) Identity(_ context.Context, providerID, subject string) (*schemas.Identity, error) {
	return find(m.records(), isSubject(providerID, subject)), nil
}

// UserIdentities returns the identities of a user, in the order of their linking.
func (m *Memory) UserIdentities(_ context.Context, userID string) ([]schemas.Identity, error) {
	list := all(m.records(), func(i schemas.Identity) bool { return i.UserID == userID })
	slices.SortStableFunc(list, func(a, b schemas.Identity) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list, nil
}

// requireProofs checks that a user still has the credentials of a sign-in.
func (r records) requireProofs(c schemas.RequireProofs) error {
	gone := func(p schemas.Proof) bool { return !r.hasProof(c.UserID, p) }
	if find(r, isUser(c.UserID)) == nil || len(c.Proofs) == 0 || slices.ContainsFunc(c.Proofs, gone) {
		return schemas.ErrSuperseded()
	}
	return r.requireActive(c.UserID, c.At)
}

// hasProof reports whether a user has the credential of a proof.
func (r records) hasProof(userID string, p schemas.Proof) bool {
	switch p.Kind {
	case schemas.PasswordProof:
		return find(r, func(set schemas.SetPassword) bool { return set.UserID == userID && set.ID == p.Of }) != nil
	case schemas.PasskeyProof:
		return find(r, func(k schemas.Credential) bool { return k.UserID == userID && k.ID.String() == p.Of }) != nil
	case schemas.TOTPProof:
		return find(r, func(app schemas.TOTP) bool { return app.UserID == userID && schemas.ProofOfTOTP(&app).IsOf(p) }) != nil
	case schemas.RecoveryProof:
		is := func(hash []byte) bool { return schemas.ProofOfRecoveryCode(hash).IsOf(p) }
		return find(r, func(codes recovery) bool { return codes.UserID == userID && slices.ContainsFunc(codes.Hashes, is) }) != nil
	case schemas.IdentityProof:
		return find(r, func(i schemas.Identity) bool { return i.UserID == userID && i.ID == p.Of }) != nil
	case schemas.EmailProof:
		return find(r, func(u schemas.User) bool { return u.ID == userID && schemas.ProofOfEmail(u.Text("email")).IsOf(p) }) != nil
	case schemas.InvitationProof:
		return find(r, func(l schemas.Link) bool { return l.UserID == userID && l.RunID != "" && l.Proof().IsOf(p) }) != nil
	case schemas.SessionProof:
		return find(r, func(s schemas.Session) bool { return s.UserID == userID && s.ID == p.Of }) != nil
	}
	return false
}
