package engine

import (
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A code may be the second factor of a session with a password, and is none of one with a passkey.
func TestMayBeSecondFactor(t *testing.T) {
	code := Outcome{Establishes: []Fact{User, Authenticated, AMRFact("otp")}}
	password := Outcome{Establishes: []Fact{User, Authenticated, AMRFact("pwd")}}
	for _, test := range []struct {
		outcome Outcome
		session string
		want    bool
	}{
		{code, schemas.ACRPassword, true},
		{code, schemas.ACRVouched, true},
		{code, schemas.ACRPhishingResistant, false},
		{code, schemas.ACRMultiFactor, false},
		{code, schemas.ACRMultiFactorPR, false},
		{password, schemas.ACRPassword, false},
		{password, schemas.ACRPhishingResistant, false},
	} {
		if got := mayBeSecondFactor(test.outcome, test.session); got != test.want {
			t.Errorf("%v after a session of class %s: %v, want %v", test.outcome.Establishes, test.session, got, test.want)
		}
	}
}
