package schemas

import (
	"slices"
	"strings"
	"testing"
)

// A sign-in with a limited credential is worth no more than the sign-in that added it.
func TestLimit(t *testing.T) {
	passkey, attested := []string{"swk", "pop", "user", "mfa"}, []string{"hwk", "pop", "user", "mfa"}
	mail := Provenance{ACR: ACRVouched, Methods: []string{AMREmail}}
	code := Provenance{ACR: ACROneTimeCode, Methods: []string{"otp"}}
	pwd := Provenance{ACR: ACRPassword, Methods: []string{"pwd"}}
	key := Provenance{ACR: ACRPhishingResistant, Methods: []string{"swk", "pop"}}
	two := Provenance{ACR: ACRMultiFactorPR, Methods: []string{"swk", "pop", "user", "mfa"}}
	twoCodes := Provenance{ACR: ACRMultiFactor, Methods: []string{"pwd", "otp", "mfa"}}
	for name, test := range map[string]struct {
		added   Provenance
		methods []string
		acr     string
		want    string // the methods and the class; "" for no limit
	}{
		"no limit":                           {Provenance{}, passkey, ACRMultiFactorPR, ""},
		"a passkey after a mailed code":      {mail, passkey, ACRMultiFactorPR, "limited " + ACRVouched},
		"a passkey after a code of an app":   {code, passkey, ACRMultiFactorPR, "pop limited " + ACROneTimeCode},
		"a passkey after a password":         {pwd, passkey, ACRMultiFactorPR, "limited " + ACRPassword},
		"a passkey after one that was held":  {key, passkey, ACRMultiFactorPR, "pop limited " + ACRPhishingResistant},
		"possession after one that was held": {key, []string{"swk", "pop"}, ACRPhishingResistant, ""},
		"a passkey after two factors":        {twoCodes, passkey, ACRMultiFactorPR, "pop limited " + ACRMultiFactor},
		"a passkey after a verified one":     {two, passkey, ACRMultiFactorPR, ""},
		"an attested one after a synced one": {two, attested, ACRMultiFactorPRProtected, "pop limited " + ACRMultiFactorPR},
		"a password after a password":        {pwd, []string{"pwd"}, ACRPassword, ""},
		"a password after a passkey":         {key, []string{"pwd"}, ACRPassword, "limited " + ACRPassword},
		"a password after two factors":       {two, []string{"pwd"}, ACRPassword, ""},
		"an app after a password":            {pwd, []string{"otp"}, ACROneTimeCode, "limited " + ACROneTimeCode},
		"an app after a passkey":             {key, []string{"otp"}, ACROneTimeCode, ""},
		"recovery codes after a mailed code": {mail, []string{AMRRecovery}, ACRRecovery, "limited " + ACRVouched},
		"after a class that is not known":    {Provenance{ACR: "custom", Methods: []string{"x"}}, []string{"pwd"}, ACRPassword, "limited " + ACRVouched},
	} {
		t.Run(name, func(t *testing.T) {
			methods, acr, less := test.added.Limit(test.methods, test.acr)
			got := ""
			if less {
				got = strings.Join(methods, " ") + " " + acr
			} else if !slices.Equal(methods, test.methods) || acr != test.acr {
				t.Errorf("without a limit it became %v %s", methods, acr)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Two factors of a limited credential and another one are never more than those of the sign-in that
// added it and the other one.
func TestLimitNeverProvesMore(t *testing.T) {
	proofs := []Provenance{
		{ACR: ACRVouched, Methods: []string{AMREmail}}, {ACR: ACRRecovery, Methods: []string{AMRRecovery}}, {ACR: ACROneTimeCode, Methods: []string{"otp"}},
		{ACR: ACRPassword, Methods: []string{"pwd"}}, {ACR: ACRPhishingResistant, Methods: []string{"pop"}}, {ACR: ACRMultiFactor, Methods: []string{"pwd", "otp", "mfa"}},
		{ACR: ACRMultiFactorPR, Methods: []string{"pop", "user", "mfa"}}, {ACR: ACRMultiFactorPRProtected, Methods: []string{"hwk", "pop", "user", "mfa"}},
	}
	join := func(a, b Provenance) string {
		acr, all := CombineACRs(a.ACR, b.ACR), slices.Concat(a.Methods, b.Methods)
		if containsAny(all, KnownMethods()) && containsAny(all, HeldMethods()) {
			acr = CombineACRs(acr, ACRMultiFactor)
		}
		return acr
	}
	for _, added := range proofs {
		for _, nominal := range proofs {
			methods, acr, _ := added.Limit(nominal.Methods, nominal.ACR)
			for _, other := range proofs {
				with, without := join(Provenance{ACR: acr, Methods: methods}, other), join(added, other)
				if !Satisfies(without, with) {
					t.Errorf("%v added by %v, with %v: %s, without it %s", nominal, added, other, with, without)
				}
			}
		}
	}
}
