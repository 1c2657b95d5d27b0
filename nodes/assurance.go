package nodes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// Assurance of a sign-in
//
// Each authenticating kind declares its methods (amr, RFC 8176) and its class (acr, schemas.ACRs).
// They add to what the run has proved before (schemas/proven.go): the resulting class is the
// combination of all, and something known together with something held is two factors (NIST SP
// 800-63B section 2.2). Two factors of the same sort are one: an attacker who steals one usually gets
// both.
//
// A passkey is something held. A passkey that verified its user, with a PIN or biometrics, is two
// factors. A sign-in with a passkey is phishing-resistant as a whole, because an attacker who
// phished the other factors still lacks the passkey. So a password and a passkey without user
// verification are two factors, and phishing-resistant.
//
// The method otp is a code of a generator that the user holds. A code that is sent to an address is
// not a held factor: anyone who reads the mail has it (NIST SP 800-63B section 3.1.3.1).
//
// Outcomes declare the same as facts for the analysis, and decisions state it for the run. The
// facts must not exceed the decisions.

// A credential that was added to an existing account is worth no more than the sign-in that added
// it: see schemas.Provenance and docs/semantics.md. Such a sign-in proves less than the outcome
// declares, and the decision says so. If it is less than the flow guarantees, the attempt fails.

// complementaryMethods returns the methods that make two factors together with the given ones.
func complementaryMethods(methods []string) []string {
	switch {
	case anyOf(methods, schemas.KnownMethods()):
		return schemas.HeldMethods()
	case anyOf(methods, schemas.HeldMethods()):
		return schemas.KnownMethods()
	}
	return nil
}

func anyOf(methods, among []string) bool {
	return slices.ContainsFunc(methods, func(m string) bool { return slices.Contains(among, m) })
}

// leaveProven leaves by success with a user who has just authenticated by a credential that was
// added by a sign-in.
func leaveProven(v *engine.Visit, methods []string, acr string, added schemas.Provenance, by schemas.Proof, changes ...schemas.Change) *engine.Decision {
	limited, class, less := added.Limit(methods, acr)
	d := &engine.Decision{Outcome: successOutcome, Proofs: []schemas.Proof{by.Proving(limited, class)}, Changes: changes, Limited: less}
	lost := func(m string) bool { return slices.Contains(methods, m) && !slices.Contains(limited, m) }
	if less && (!satisfiesClass(v.Authentication.With(d.Proofs...), v.Guarantees.Class()) || slices.ContainsFunc(v.Guarantees.Methods(), lost)) {
		return refuseLimited(v, added)
	}
	return d
}

// satisfiesClass reports whether a sign-in satisfies a class, "" for none.
func satisfiesClass(has, wanted string) bool { return wanted == "" || schemas.Satisfies(has, wanted) }

// refuseLimited leaves by failure with a credential that is worth less than the flow guarantees.
func refuseLimited(v *engine.Visit, added schemas.Provenance) *engine.Decision {
	d := leaveFailed(schemas.Errorf(schemas.Forbidden, schemas.CodeCredentialLimited,
		"this credential was added after a sign-in of the class %s and is worth no more than that; this flow guarantees %s: "+
			"sign in another way, or add the credential again after a stronger sign-in",
		added.ACR, cmp.Or(v.Guarantees.Class(), strings.Join(v.Guarantees.Methods(), ", "))))
	d.Reason = schemas.CodeCredentialLimited
	return d
}

// provenance returns the provenance of a credential that the node adds. It has no limit if this run
// creates the user, or if a waiver of the node accepts that: of the rule chain, or of the rule
// takeover for a user who has not authenticated. Nor has a passkey that an enrolment link adds.
func (n node) provenance(v *engine.Visit) schemas.Provenance {
	if v.Authentication == nil || v.Facts.Has(engine.New) {
		return schemas.Provenance{}
	}
	by := schemas.Provenance{Proofs: schemas.AddedWith(v.Authentication.Proofs)}
	if !n.unlimited && enrolmentOf(v) == nil {
		by.ACR, by.Methods = v.Authentication.ACR, v.Authentication.Methods
	}
	return by
}

// leaveEnrolled leaves by success with a user who has a new credential. A user that this run creates
// is authenticated by it. A user who has authenticated before gains nothing; otherwise a stolen
// password could become phishing-resistant by adding a passkey.
func leaveEnrolled(v *engine.Visit, methods []string, acr string, by schemas.Proof, changes ...schemas.Change) *engine.Decision {
	if v.Authentication == nil || v.Facts.Has(engine.New) {
		by = by.Proving(methods, acr)
	}
	return &engine.Decision{Outcome: successOutcome, Proofs: []schemas.Proof{by}, Changes: changes}
}

// provenFacts returns the facts that hold after an authentication with these methods and at least
// this class.
func provenFacts(methods []string, acr string) []engine.Fact {
	facts := engine.ACRFacts(acr)
	for _, m := range methods {
		facts = append(facts, engine.AMRFact(m))
	}
	return facts
}

// passkeyProof returns what any passkey proves at least. Whether it is synced or attested depends
// on the authenticator. User verification is certain only if it is required.
func passkeyProof(userVerification string) (methods []string, acr string) {
	return passkey.Assurance(&schemas.Credential{}, userVerification == passkey.Required)
}

// withProof adds to an outcome what it proves at least, and that it is the second factor if a
// complementary one came before.
func withProof(o engine.Outcome, methods []string, acr string) engine.Outcome {
	o.Establishes = slices.Concat(o.Establishes, provenFacts(methods, acr))
	o.EstablishesGiven = map[engine.Fact][]engine.Fact{}
	for _, other := range complementaryMethods(methods) {
		o.EstablishesGiven[engine.AMRFact(other)] = provenFacts([]string{schemas.AMRMultiFactor}, schemas.ACRMultiFactor)
	}
	return o
}

// withEnrolment adds to an outcome what it proves of a new user; see leaveEnrolled.
func withEnrolment(o engine.Outcome, methods []string, acr string) engine.Outcome {
	o.EstablishesGiven = map[engine.Fact][]engine.Fact{
		engine.Own: {engine.Authenticated},
		engine.New: provenFacts(methods, acr),
	}
	return o
}
