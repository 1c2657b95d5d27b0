package schemas

import "time"

// GuessedSecret is a kind of secret that is short enough to be guessed.
type GuessedSecret string

// The kinds of secrets. Passkeys and tokens are not guessed: they have 128 bits and more.
const (
	// NameSecret is a password, or a code that is the only factor. The user enters it with a name.
	NameSecret GuessedSecret = "password"
	// MailedSecret is a code that was mailed to the address of an account.
	MailedSecret GuessedSecret = "mailed code"
	// FactorSecret is a code of a second factor.
	FactorSecret GuessedSecret = "second factor"
	// AddressSecret is a code that was mailed to an address without an account.
	AddressSecret GuessedSecret = "address"
)

// Guess is one attempt at a secret of an account.
type Guess struct {
	Secret GuessedSecret
	// Name is the name of the account that the client sent; for a FactorSecret, the user's id.
	Name string
	// UserID is the stored user whose account it is, "" if there is none.
	UserID string
	// Event is recorded if this guess is the last for unknown networks, or for a known browser. It
	// is about the user.
	Event Event
}

// FailedGuess is a wrong guess, counted under a digest of the name and the kind of caller.
type FailedGuess struct {
	Digest []byte
	Secret GuessedSecret
	UserID string // "" for a name that no user has
	Limit  int    // of consecutive failures, for this kind of caller
	At     time.Time
	// Event is recorded with the consecutive failure number EventAt, if there is a user.
	Event   Event
	EventAt int
}

// ProvedSecrets returns the kinds of secrets whose counts of failed guesses the sign-in of the
// session resets. A sign-in with one factor does not reset the count of another: otherwise a stolen
// password would yield more guesses at the second factor. A sign-in with two factors resets all
// counts: all is true.
func (s *Session) ProvedSecrets() (secrets []GuessedSecret, all bool) {
	if Satisfies(s.ACR, ACRMultiFactor) {
		return nil, true
	}
	for _, p := range s.Proofs {
		switch p.Kind {
		case PasswordProof, TOTPProof, RecoveryProof: // a code that is the only factor is a NameSecret
			secrets = append(secrets, NameSecret)
		case EmailProof:
			secrets = append(secrets, MailedSecret)
		}
	}
	return secrets, false
}
