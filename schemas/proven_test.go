package schemas_test

import (
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// proof returns a proof of a credential, a number of minutes after noon.
func proof(kind schemas.ProofKind, of, methods, acr string, minute int) schemas.Proof {
	at := time.Date(2030, 1, 2, 12, minute, 0, 0, time.UTC)
	return schemas.Proof{Kind: kind, Of: of, At: at, ACR: acr, AMR: methods}
}

// The time of a class is that of the oldest proof without which it would not hold.
func TestProvenSince(t *testing.T) {
	passkey := proof(schemas.PasskeyProof, "k", "pop user mfa", schemas.ACRMultiFactorPR, 0)
	touched := proof(schemas.PasskeyProof, "k", "pop", schemas.ACRPhishingResistant, 20)
	password := proof(schemas.PasswordProof, "p", "pwd", schemas.ACRPassword, 30)
	code := proof(schemas.TOTPProof, "t", "otp", schemas.ACROneTimeCode, 40)
	required := schemas.Proof{Kind: schemas.IdentityProof, Of: "i"}
	for name, test := range map[string]struct {
		proofs []schemas.Proof
		acr    string // that is claimed; "" for that of the sign-in
		class  string // of the sign-in
		minute int
	}{
		"one proof":                                  {[]schemas.Proof{passkey}, "", schemas.ACRMultiFactorPR, 0},
		"a password does not renew a passkey":        {[]schemas.Proof{passkey, password}, "", schemas.ACRMultiFactorPR, 0},
		"a password is new for who asks for no more": {[]schemas.Proof{passkey, password}, schemas.ACRPassword, schemas.ACRMultiFactorPR, 30},
		"a code does not renew a passkey":            {[]schemas.Proof{passkey, code}, "", schemas.ACRMultiFactorPR, 0},
		"a touch does not renew a verified passkey":  {[]schemas.Proof{passkey, touched}, "", schemas.ACRMultiFactorPR, 0},
		"a touch renews what a touch proves":         {[]schemas.Proof{passkey, touched}, schemas.ACRPhishingResistant, schemas.ACRMultiFactorPR, 20},
		"two factors are as old as the older":        {[]schemas.Proof{code, password}, "", schemas.ACRMultiFactor, 30},
		"two new factors renew two factors":          {[]schemas.Proof{passkey, password, code}, schemas.ACRMultiFactor, schemas.ACRMultiFactorPR, 30},
		"what is only required has no time":          {[]schemas.Proof{required, password}, "", schemas.ACRPassword, 30},
	} {
		class := schemas.ProvenACR(test.proofs)
		acr := test.acr
		if acr == "" {
			acr = class
		}
		if since := schemas.ProvenSince(test.proofs, acr); class != test.class || since.Minute() != test.minute {
			t.Errorf("%s: %s since %s, want %s since minute %d", name, class, since, test.class, test.minute)
		}
	}
}

// A merged sign-in never proves less than before, and rests only on credentials that the user has.
func TestMergeProofsKeepsWhatWasProved(t *testing.T) {
	password := proof(schemas.PasswordProof, "old", "pwd", schemas.ACRPassword, 0)
	changed := schemas.Proof{Kind: schemas.PasswordProof, Of: "new"}
	verified, touched := proof(schemas.PasskeyProof, "k", "pop user mfa", schemas.ACRMultiFactorPR, 0), proof(schemas.PasskeyProof, "k", "pop", schemas.ACRPhishingResistant, 5)
	again := proof(schemas.PasskeyProof, "k", "pop user mfa", schemas.ACRMultiFactorPR, 9)
	for name, test := range map[string]struct {
		before, added schemas.Proof
		count         int
		class         string
		minute        int
		of            string // of the first proof
	}{
		"a password was replaced":     {password, changed, 1, schemas.ACRPassword, 0, "new"},
		"a passkey was touched":       {verified, touched, 2, schemas.ACRMultiFactorPR, 0, "k"},
		"a passkey was used again":    {verified, again, 1, schemas.ACRMultiFactorPR, 9, "k"},
		"a passkey is better now":     {touched, again, 1, schemas.ACRMultiFactorPR, 9, "k"},
		"a credential is only needed": {password, schemas.Proof{Kind: schemas.PasskeyProof, Of: "k"}, 2, schemas.ACRPassword, 0, "old"},
	} {
		merged := schemas.MergeProofs([]schemas.Proof{test.before}, []schemas.Proof{test.added})
		class := schemas.ProvenACR(merged)
		if len(merged) != test.count || class != test.class || schemas.ProvenSince(merged, class).Minute() != test.minute || merged[0].Of != test.of {
			t.Errorf("%s: %+v", name, merged)
		}
	}
}

// A session without the times of its proofs is as old as it is.
func TestSessionAuthTime(t *testing.T) {
	began := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	s := schemas.Session{ID: "s", CreatedAt: began, AMR: []string{"pop", "user", "mfa"}, ACR: schemas.ACRMultiFactorPR,
		Proofs: []schemas.Proof{{Kind: schemas.PasskeyProof, Of: "k"}}}
	if got := s.AuthTime(s.ACR); !got.Equal(began) {
		t.Errorf("of an earlier release: %s", got)
	}
	s.Proofs = append(s.Proofs, proof(schemas.PasswordProof, "p", "pwd", schemas.ACRPassword, 30))
	limit := 600
	now := began.Add(35 * time.Minute)
	if rules := (schemas.LoginRules{MaxAge: &limit}); rules.Accept(&s, now) {
		t.Error("a password renews the passkey")
	}
	if rules := (schemas.LoginRules{MaxAge: &limit, ACRValues: []string{schemas.ACRPassword}}); !rules.Accept(&s, now) {
		t.Error("a client that asks for a password does not get the new one")
	}
}
