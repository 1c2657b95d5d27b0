package schemas

import (
	"encoding/hex"
	"strconv"
	"time"
)

// ProofKind is a kind of credential.
type ProofKind string

// The kinds of proofs, and the meaning of Of for each.
const (
	PasswordProof ProofKind = "password" // the id of the password, which a rehash keeps
	PasskeyProof  ProofKind = "passkey"  // the credential id
	TOTPProof     ProofKind = "totp"     // when the authenticator app was enrolled
	RecoveryProof ProofKind = "recovery" // the hash of one code of the set
	IdentityProof ProofKind = "identity" // the id of the linked identity
	EmailProof    ProofKind = "email"    // the hash of the address
	SessionProof  ProofKind = "session"  // the id of an earlier session
	// InvitationProof holds only for the run that has accepted the invitation. Its text is the hash
	// of the link's token.
	InvitationProof ProofKind = "invitation"
	// EnrolmentProof is the same for an enrolment link.
	EnrolmentProof ProofKind = "enrolment"
)

// Proof identifies the credential of an authentication, precisely enough to check later whether the
// user still has it, and states what its use proved. It contains no secret.
type Proof struct {
	Kind ProofKind `json:"kind"`
	Of   string    `json:"of"`
	// At is when the user proved it, ACR the class that this proves alone, and AMR the methods
	// (RFC 8176), separated by spaces. They are zero for a credential that the sign-in only
	// requires, and in what releases before these members stored.
	At  time.Time `json:"at,omitzero"`
	ACR string    `json:"acr,omitempty"`
	AMR string    `json:"amr,omitempty"`
}

// Credential returns the proof without what its use proved: two proofs with the same one are of the
// same credential.
func (p Proof) Credential() Proof { return Proof{Kind: p.Kind, Of: p.Of} }

// IsOf reports whether both proofs are of the same credential.
func (p Proof) IsOf(q Proof) bool { return p.Credential() == q.Credential() }

// ProofOfEmail is the proof that the user reads the mail of an address.
func ProofOfEmail(address string) Proof {
	return Proof{Kind: EmailProof, Of: hex.EncodeToString(HashSecret(IdentifierKey(address)))}
}

// ProofOfTOTP is the proof that the user has an authenticator app.
func ProofOfTOTP(app *TOTP) Proof {
	return Proof{Kind: TOTPProof, Of: strconv.FormatInt(app.CreatedAt.UnixMicro(), 10)}
}

// ProofOfRecoveryCode is the proof of a set of recovery codes, one with the hash.
func ProofOfRecoveryCode(hash []byte) Proof {
	return Proof{Kind: RecoveryProof, Of: hex.EncodeToString(hash)}
}

// single reports whether a user has at most one credential of the kind: a new one
// replaces the old one.
func (k ProofKind) single() bool {
	return k == PasswordProof || k == TOTPProof || k == RecoveryProof || k == EmailProof
}

// Method returns the authentication method (amr, RFC 8176) of a session that started with a
// credential of the kind; "" for none.
func (k ProofKind) Method() string {
	return map[ProofKind]string{
		PasswordProof: "pwd", PasskeyProof: "pop", TOTPProof: "otp",
		RecoveryProof: AMRRecovery, IdentityProof: AMRFederated, EmailProof: AMREmail,
	}[k]
}

// RequireProofs is the precondition of every commit that depends on an authentication: the user
// exists and is active, and still has every credential of the authentication. If not, the whole
// commit fails with authentication_superseded, or account_disabled or account_locked.
//
// The store checks it after the other changes of the commit, so proofs refer to the credentials
// after these changes. It locks the user before all of them: a concurrent change of the user's
// credentials is either visible to this check, or happens after this commit.
type RequireProofs struct {
	UserID string
	// Proofs must not be empty: every authentication has a proof.
	Proofs []Proof
	At     time.Time
}

// CodeSuperseded is the error code for a credential of the authentication that was changed or
// removed meanwhile. Its class is Conflict.
const CodeSuperseded = "authentication_superseded"

// ErrSuperseded is the error of an authentication that is no longer valid.
func ErrSuperseded() *Error {
	return Errorf(Conflict, CodeSuperseded,
		"The credential that you signed in with was changed or removed, or this session was ended. Sign in again.")
}

func (c RequireProofs) change() lock { return reads(c.UserID) }
