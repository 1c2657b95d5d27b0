package schemas

import "time"

// GuessedSecret is a kind of secret that is short enough to be guessed.
type GuessedSecret string

// The kinds of secrets. Passkeys and tokens are not guessed: they have 128 bits and more.
const (
	PasswordSecret GuessedSecret = "password"
	// MailedSecret is a code that was mailed to the address of an account.
	MailedSecret GuessedSecret = "mailed code"
	// TOTPSecret is a code of an authenticator app.
	TOTPSecret     GuessedSecret = "authenticator app"
	RecoverySecret GuessedSecret = "recovery code"
	// AddressSecret is a code that was mailed to an address without an account.
	AddressSecret GuessedSecret = "address"
)

// AccountSecrets lists the secrets of accounts.
func AccountSecrets() []GuessedSecret {
	return []GuessedSecret{PasswordSecret, MailedSecret, TOTPSecret, RecoverySecret}
}

// secret returns the secret that a credential of the kind is proved with, "" for none that can be
// guessed.
func (k ProofKind) secret() GuessedSecret {
	return map[ProofKind]GuessedSecret{
		PasswordProof: PasswordSecret, EmailProof: MailedSecret, TOTPProof: TOTPSecret, RecoveryProof: RecoverySecret,
	}[k]
}

// SecretsOf returns the secrets that proofs were made with.
func SecretsOf(proofs []Proof) (secrets []GuessedSecret) {
	for _, p := range proofs {
		if secret := p.Kind.secret(); secret != "" {
			secrets = append(secrets, secret)
		}
	}
	return secrets
}

// The actions of the events about guesses.
const (
	// GuessesExhausted records that a secret is not accepted from unknown browsers any more.
	GuessesExhausted = "guesses.exhausted"
	// FactorDisabled records the same of a secret that follows another proof. The caller
	// has made that proof, so the user gets a notice.
	FactorDisabled = "factor.disabled"
	// GuessesForgotten records that all counts of a user were reset.
	GuessesForgotten = "guesses.forgotten"
)

// Guess is one attempt at a secret of an account.
type Guess struct {
	Secret GuessedSecret
	// Name is the name of the account that the client sent; the user's id if the client has proved
	// another factor.
	Name string
	// UserID is the stored user whose account it is, "" if there is none.
	UserID string
	// Event is recorded if this guess is the last of its kind of caller. It is about the user.
	Event Event
}

// FailedGuess is a guess to be counted.
type FailedGuess struct {
	Secret   GuessedSecret
	UserID   string // "" for a name that no user has
	Counters []GuessCounter
	At       time.Time
	// Event is recorded once a counter reaches its EventAt, if there is a user.
	Event Event
}

// GuessCounter counts consecutive failures under a digest. Above Limit it counts none.
type GuessCounter struct {
	Digest         []byte
	Limit, EventAt int
}

// BlockedSecret is a secret of a user that unknown browsers, or the known ones, cannot use until the
// count of failed guesses is reset.
type BlockedSecret struct {
	Secret GuessedSecret `json:"secret"`
	At     time.Time     `json:"at"`
}

// ProvedSecrets returns the secrets whose counts of failed guesses the sign-in of the session resets:
// those that it used. A sign-in with one factor does not reset the count of another: otherwise a
// stolen password would yield more guesses at the second factor. enables reports whether it also
// resets the counts that have reached their limit: it proved two factors, and the
// attacker can have guessed only one of them.
func (s *Session) ProvedSecrets() (secrets []GuessedSecret, enables bool) {
	return SecretsOf(s.Proofs), Satisfies(s.ACR, ACRMultiFactor)
}
