package nodes

import (
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// What a sign-in is worth
//
// Every kind that authenticates says by which methods (amr, RFC 8176) and of
// which class (acr, schemas.ACRs) it does. What a run has proved before still
// counts: the class is the combination of all, and something known together with
// something held is two factors (NIST SP 800-63B §2.2). Two of a sort are not:
// whoever reads along, or finds the bag with the key and the phone, gets both.
//
// A passkey is something held. If it verified its user, by PIN or biometrics, it is
// two factors by itself. A sign-in as a whole is phishing-resistant if a passkey was
// part of it: whoever phished the rest still lacks that. So a password and a passkey
// without user verification are two factors, and phishing-resistant.
//
// otp is a code of a generator that the user holds. A code that is sent to an
// address is none: whoever can read the mail has it (NIST SP 800-63B §3.1.3.1).
//
// The same is declared as facts, for the analysis, and stated in decisions, for
// the run. The facts must be no more than what is stated.

// mfa is the method that says that there were two factors.
const mfa = "mfa"

// knowledgeMethods are the methods that prove something known, holding those that prove
// something held.
func knowledgeMethods() []string  { return []string{"pwd"} }
func possessionMethods() []string { return schemas.HeldMethods() }

// complementaryMethods are the methods of which one more makes these two factors.
func complementaryMethods(methods []string) []string {
	switch {
	case anyOf(methods, knowledgeMethods()):
		return possessionMethods()
	case anyOf(methods, possessionMethods()):
		return knowledgeMethods()
	}
	return nil
}

func anyOf(methods, among []string) bool {
	return slices.ContainsFunc(methods, func(m string) bool { return slices.Contains(among, m) })
}

// recordProof states in d that the subject proved who they are by these methods and
// class, on top of what they proved in this run before.
func recordProof(v *engine.Visit, d *engine.Decision, methods []string, acr string) {
	d.Methods, d.ACR = methods, acr
	before := v.Authentication
	if before == nil {
		return
	}
	d.ACR = schemas.CombineACRs(before.ACR, acr)
	all := slices.Concat(before.Methods, methods)
	if anyOf(all, knowledgeMethods()) && anyOf(all, possessionMethods()) {
		d.ACR = schemas.CombineACRs(d.ACR, schemas.ACRMultiFactor)
		if !slices.Contains(methods, mfa) {
			d.Methods = append(slices.Clone(methods), mfa)
		}
	}
}

// recordEnrolment states in d how the subject is authenticated after binding a new
// credential. A new user is what they have just bound. Somebody who proved
// before who they are gains nothing: else a stolen password, by way of adding a
// passkey, would pass for phishing-resistant.
func recordEnrolment(v *engine.Visit, d *engine.Decision, methods []string, acr string) {
	switch {
	case v.Authentication == nil:
		d.Methods, d.ACR = methods, acr
	case v.Facts.Has(engine.New):
		recordProof(v, d, methods, acr)
	default:
		d.ACR = v.Authentication.ACR
	}
}

// provenFacts are the facts that hold of how a user is authenticated who has just
// proved it by these methods and at least this class: what proved states, as far
// as it is certain before.
func provenFacts(methods []string, acr string) []engine.Fact {
	facts := engine.ACRFacts(acr)
	for _, m := range methods {
		facts = append(facts, engine.AMRFact(m))
	}
	return facts
}

// passkeyProof is what any passkey proves. Whether it is synced, or attested, is up to
// who made it, and whether it verified its user is certain only where that is
// required.
func passkeyProof(userVerification string) (methods []string, acr string) {
	return passkey.Assurance(&schemas.Credential{}, userVerification == passkey.Required)
}

// withProof adds to an outcome what it proves at least, and that it is two factors
// if one of the other sort is known from before.
func withProof(o engine.Outcome, methods []string, acr string) engine.Outcome {
	o.Establishes = slices.Concat(o.Establishes, provenFacts(methods, acr))
	o.EstablishesGiven = map[engine.Fact][]engine.Fact{}
	for _, other := range complementaryMethods(methods) {
		o.EstablishesGiven[engine.AMRFact(other)] = provenFacts([]string{mfa}, schemas.ACRMultiFactor)
	}
	return o
}

// withEnrolment adds to an outcome what it proves of a new user: see enrolled.
func withEnrolment(o engine.Outcome, methods []string, acr string) engine.Outcome {
	o.EstablishesGiven = map[engine.Fact][]engine.Fact{
		engine.Own: {engine.Authenticated},
		engine.New: provenFacts(methods, acr),
	}
	return o
}
