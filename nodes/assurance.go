package nodes

import (
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// proved states in d that the subject proved who they are by these methods
// (amr, RFC 8176) and class. What they proved in this run before still counts:
// the class is the stronger of both, and something known together with
// something held makes it multi-factor.
func proved(v *engine.Visit, d *engine.Decision, methods []string, acr string) {
	d.Methods, d.ACR = methods, acr
	before := v.Authentication
	if before == nil {
		return
	}
	if schemas.ACRStrength(before.ACR) > schemas.ACRStrength(acr) {
		d.ACR = before.ACR
	}
	all := slices.Concat(before.Methods, methods)
	if slices.Contains(all, "pwd") && slices.Contains(all, "pop") {
		d.Methods = append(slices.Clone(methods), "mfa")
	}
}

// enrolled states in d how the subject is authenticated after binding a new
// credential. A new user is what they have just bound. Somebody who proved
// before who they are gains nothing: else a stolen password, by way of adding a
// passkey, would pass for phishing-resistant.
func enrolled(v *engine.Visit, d *engine.Decision, methods []string, acr string) {
	switch {
	case v.Authentication == nil:
		d.Methods, d.ACR = methods, acr
	case v.Facts.Has(engine.New):
		proved(v, d, methods, acr)
	default:
		d.ACR = v.Authentication.ACR
	}
}

// provenFacts are the facts that hold of how a user is authenticated who has just
// proved it by these methods and at least this class: what proved states, as far
// as it is certain before.
func provenFacts(methods []string, acr string) []engine.Fact {
	facts := []engine.Fact{engine.ACRFact(acr)}
	for _, m := range methods {
		facts = append(facts, engine.AMRFact(m))
	}
	return facts
}

// passkeyFacts are those of any passkey: whether it is synced is up to who made
// it, and whether it verified its user is certain only where that is required.
func passkeyFacts(userVerification string) []engine.Fact {
	methods := []string{"pop"}
	if userVerification == "required" {
		methods = append(methods, "user")
	}
	return provenFacts(methods, schemas.ACRPhishingResistant)
}

func passwordFacts() []engine.Fact { return provenFacts([]string{"pwd"}, schemas.ACRPassword) }

// proves adds to an outcome what it proves at least. With what is known from
// before, the one of password and passkey that was missing makes two factors.
func proves(o engine.Outcome, facts []engine.Fact, other string) engine.Outcome {
	o.Establishes = slices.Concat(o.Establishes, facts)
	o.EstablishesGiven = map[engine.Fact][]engine.Fact{engine.AMRFact(other): {engine.AMRFact("mfa")}}
	return o
}

// enrols adds to an outcome what it proves of a new user: see enrolled.
func enrols(o engine.Outcome, facts []engine.Fact) engine.Outcome {
	o.EstablishesGiven = map[engine.Fact][]engine.Fact{
		engine.Own: {engine.Authenticated},
		engine.New: facts,
	}
	return o
}
