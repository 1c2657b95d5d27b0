package schemas

import "time"

// Second factors: what users have in addition to passwords and passkeys.

// TOTP is a user's authenticator app (RFC 6238). Secret is the sealed key that the app and the
// server share (internal/totp). LastStep is the time step of the last code that was used; codes of
// that step or an earlier one are rejected.
type TOTP struct {
	UserID     string
	Secret     []byte
	LastStep   int64
	CreatedAt  time.Time
	LastUsedAt *time.Time
	AddedBy    Provenance
}

// SetTOTP adds an authenticator app to a user. It replaces the existing one, if any, and ends the
// sessions that started with that.
type SetTOTP struct {
	TOTP TOTP
	// ReplacesUnused permits to replace an app that was never used to sign in: see
	// Authority.MayReplaceUnused.
	ReplacesUnused bool
}

// UseTOTP records that a code of a time step was used. Only one of several concurrent uses of a
// time step succeeds; the commits of the others fail with code_used. So does a commit for an
// earlier step, or for a user without an app.
type UseTOTP struct {
	UserID string
	Step   int64
	At     time.Time
}

// DeleteTOTP removes a user's authenticator app, and ends the sessions that started with it. If
// there is none, it does nothing.
type DeleteTOTP struct {
	UserID string
	At     time.Time
}

// RecoveryCodes contains the number of recovery codes that a user got, and how many are unused.
type RecoveryCodes struct {
	Total, Left int
	CreatedAt   time.Time
	AddedBy     Provenance
}

// RecoveryCode is a recovery code of a user, without the code.
type RecoveryCode struct {
	AddedBy Provenance
	Used    bool
}

// SetRecoveryCodes replaces all recovery codes of a user. Each is a SHA-256 hash, which is
// sufficient because a code has more than 112 bits of entropy (NIST SP 800-63B §3.1.2.2).
type SetRecoveryCodes struct {
	UserID  string
	Hashes  [][]byte
	At      time.Time
	AddedBy Provenance
}

// UseRecoveryCode invalidates a recovery code that was used. Only one of several concurrent uses
// succeeds; the commits of the others fail with code_used.
type UseRecoveryCode struct {
	UserID string
	Hash   []byte
	At     time.Time
}

// DeleteRecoveryCodes removes all recovery codes of a user, and ends the sessions that started with
// one. If there are none, it does nothing.
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

func (c SetTOTP) change() lock             { return writes(c.TOTP.UserID) }
func (UseTOTP) change() lock               { return noLock() }
func (c DeleteTOTP) change() lock          { return writes(c.UserID) }
func (c SetRecoveryCodes) change() lock    { return writes(c.UserID) }
func (UseRecoveryCode) change() lock       { return noLock() }
func (c DeleteRecoveryCodes) change() lock { return writes(c.UserID) }
