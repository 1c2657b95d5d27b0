package flowtest

import (
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// requireProofs checks that a user still has the credentials of a sign-in.
func (m *Memory) requireProofs(c schemas.RequireProofs) error {
	gone := func(p schemas.Proof) bool { return !m.hasProof(c.UserID, p) }
	if m.checkUserExists(c.UserID) != nil || len(c.Proofs) == 0 || slices.ContainsFunc(c.Proofs, gone) {
		return schemas.ErrSuperseded()
	}
	return m.requireActive(c.UserID, c.At)
}

// requireActive rejects a user who may not sign in at that time.
func (m *Memory) requireActive(userID string, at time.Time) error {
	u := m.users[userID]
	if inactive := u.CheckActive(at); inactive != nil {
		return inactive
	}
	return nil
}

// hasProof reports whether a user has the credential of a proof.
func (m *Memory) hasProof(userID string, p schemas.Proof) bool {
	switch p.Kind {
	case schemas.PasswordProof:
		set, ok := m.passwords[userID]
		return ok && set.ID == p.Of
	case schemas.PasskeyProof:
		return slices.ContainsFunc(m.credentials, func(k schemas.Credential) bool { return k.UserID == userID && k.ID.String() == p.Of })
	case schemas.TOTPProof:
		app, ok := m.totps[userID]
		return ok && schemas.ProofOfTOTP(&app) == p
	case schemas.RecoveryProof:
		return slices.ContainsFunc(m.recovery[userID].given.Hashes, func(hash []byte) bool { return schemas.ProofOfRecoveryCode(hash) == p })
	case schemas.IdentityProof:
		return slices.ContainsFunc(m.identities, func(i schemas.Identity) bool { return i.UserID == userID && i.ID == p.Of })
	case schemas.EmailProof:
		u := m.users[userID]
		return schemas.ProofOfEmail(u.Text("email")) == p
	case schemas.SessionProof:
		return slices.ContainsFunc(m.sessions, func(s schemas.Session) bool { return s.UserID == userID && s.ID == p.Of })
	}
	return false
}
