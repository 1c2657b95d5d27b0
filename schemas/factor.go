package schemas

import "time"

// Second factors: what users have in addition to passwords and passkeys.

// TOTP is a user's authenticator app (RFC 6238). Secret is sealed: what an app and
// the server share, as internal/totp has it. LastStep is the time step of the last
// code that was used; no code of that or an earlier one counts.
type TOTP struct {
	UserID     string
	Secret     []byte
	LastStep   int64
	CreatedAt  time.Time
	LastUsedAt *time.Time
	AddedBy    Provenance
}

// SetTOTP gives a user an authenticator app. It replaces the one they have, if any,
// and ends the sessions that rest on that.
type SetTOTP struct{ TOTP TOTP }

// UseTOTP records that a code of a time step was used. Of those who use codes of
// one step at the same time one does: the others' commit fails with code_used, and
// so does that of a code of an earlier step, or of a user who has no app.
type UseTOTP struct {
	UserID string
	Step   int64
	At     time.Time
}

// DeleteTOTP takes a user's authenticator app away, and ends the sessions that rest
// on it; that there is none is no error.
type DeleteTOTP struct {
	UserID string
	At     time.Time
}

// RecoveryCodes are how many recovery codes a user was given, and how many are
// left.
type RecoveryCodes struct {
	Total, Left int
	CreatedAt   time.Time
	AddedBy     Provenance
}

// SetRecoveryCodes gives a user recovery codes in place of all that they have.
// Each is a SHA-256: a code has more than the 112 bits of entropy for which that
// is enough (NIST SP 800-63B §3.1.2.2).
type SetRecoveryCodes struct {
	UserID  string
	Hashes  [][]byte
	At      time.Time
	AddedBy Provenance
}

// UseRecoveryCode uses a recovery code up. Of those who use one at the same time
// one does: the others' commit fails with code_used.
type UseRecoveryCode struct {
	UserID string
	Hash   []byte
	At     time.Time
}

// DeleteRecoveryCodes takes all recovery codes of a user away, and ends the sessions
// that rest on one; that there are none is no error.
type DeleteRecoveryCodes struct {
	UserID string
	At     time.Time
}

// TOTPOffer is a new key for an authenticator app, which its first code activates.
type TOTPOffer struct {
	URI          string `json:"uri"`    // otpauth://…, the content of the QR code
	Secret       string `json:"secret"` // in base32, for users who type it
	QRCode       string `json:"qrCode"` // a data URI of a PNG
	SessionToken string `json:"sessionToken"`
}

// RecoveryCodesOffer is a set of new recovery codes, which become valid when the user accepts them.
type RecoveryCodesOffer struct {
	Codes        []string `json:"recoveryCodes"`
	SessionToken string   `json:"sessionToken"`
}

func (SetTOTP) change()             {}
func (UseTOTP) change()             {}
func (DeleteTOTP) change()          {}
func (SetRecoveryCodes) change()    {}
func (UseRecoveryCode) change()     {}
func (DeleteRecoveryCodes) change() {}
