package schemas

import "time"

// GuessedSecret is a kind of secret that is short enough to be guessed.
type GuessedSecret string

// The kinds of secrets. Passkeys and tokens are not guessed: they have 128 bits and more.
const (
	// NameSecret is a password, or a code that stands alone: entered with a name.
	NameSecret GuessedSecret = "password"
	// MailedSecret is a code that was mailed to the address of an account.
	MailedSecret GuessedSecret = "mailed code"
	// FactorSecret is a code of a second factor.
	FactorSecret GuessedSecret = "second factor"
	// AddressSecret is a code that was mailed to an address without an account.
	AddressSecret GuessedSecret = "address"
)

// Guess is one try at a secret of an account.
type Guess struct {
	Secret GuessedSecret
	// Name is what the client called the account; of a FactorSecret the user's id.
	Name string
	// UserID is the stored user whose account it is, "" if there is none.
	UserID string
	// Event is recorded if this guess is the last for unknown networks, or for a known browser. It
	// is about the user.
	Event Event
}

// FailedGuess is a guess that was wrong, counted by the digest of what it was made
// with.
type FailedGuess struct {
	Digest []byte
	Secret GuessedSecret
	UserID string // "" for a name that no user has
	Limit  int    // of consecutive failures, for this kind of caller
	At     time.Time
	// Event is recorded with the failure that is so many in a row, if there is a user.
	Event   Event
	EventAt int
}

// ProvedSecrets returns the kinds of secrets of the user whose failed guesses the
// sign-in of the session proves harmless. A sign-in by one factor shows nothing about
// guesses at another: a thief of the password must not gain guesses at the second factor
// by signing in with it. A sign-in by two factors clears all: all is true.
func (s *Session) ProvedSecrets() (secrets []GuessedSecret, all bool) {
	if Satisfies(s.ACR, ACRMultiFactor) {
		return nil, true
	}
	for _, p := range s.Proofs {
		switch p.Kind {
		case PasswordProof, TOTPProof, RecoveryProof: // a code that stands alone is a NameSecret
			secrets = append(secrets, NameSecret)
		case EmailProof:
			secrets = append(secrets, MailedSecret)
		}
	}
	return secrets, false
}
