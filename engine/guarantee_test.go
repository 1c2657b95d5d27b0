package engine_test

import (
	"fmt"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// guaranteeKinds adds kinds that prove details of an authentication.
func guaranteeKinds() engine.Kinds {
	kinds := testKinds()
	proof := func(name, acr string, methods ...string) {
		o := engine.On("success", engine.NoEffect(), engine.Outcome{Establishes: append(engine.ACRFacts(acr), engine.User, engine.Authenticated)})
		for _, m := range methods {
			o.Establishes = append(o.Establishes, engine.AMRFact(m))
		}
		kinds[name] = &engine.Kind{Name: name, Asks: true, New: maker(prove), Outcomes: []engine.Outcome{o, engine.On("failure", engine.NoEffect(), engine.Outcome{Optional: true})}}
	}
	proof("password", schemas.ACRPassword, "pwd")
	proof("passkey", schemas.ACRPhishingResistant, "pop")
	proof("verified", schemas.ACRMultiFactorPR, "pop", "user")
	proof("twofactors", schemas.ACRMultiFactor, "pwd", "otp")
	enrolled := append(engine.ACRFacts(schemas.ACRPassword), engine.Authenticated)
	kinds["enrol"] = &engine.Kind{Name: "enrol", Asks: true, New: maker(bind), Outcomes: []engine.Outcome{
		engine.On("success", engine.NoEffect(), engine.Outcome{Establishes: []engine.Fact{engine.Credential}, EstablishesGiven: map[engine.Fact][]engine.Fact{engine.New: enrolled}})}}
	recent := append(engine.ACRFacts(schemas.ACRPassword), engine.User, engine.Authenticated)
	kinds["recent"] = &engine.Kind{Name: "recent", New: maker(session), Outcomes: []engine.Outcome{
		engine.On("active", engine.NoEffect(), engine.Outcome{NewSubject: true, Establishes: recent}), engine.On("none", engine.NoEffect(), engine.Outcome{})}}
	return kinds
}

// The weakest path decides what a flow guarantees.
func TestGuarantees(t *testing.T) {
	const auth, reg = schemas.Authentication, schemas.Registration
	tests := []struct {
		name string
		flow *schemas.Flow
		want schemas.Guarantees
	}{
		{"a passkey", flowOf(auth, "key passkey done", "done finish"),
			schemas.Guarantees{ACR: "phr", AMR: []string{"pop"}, PhishingResistant: true, NoEnumeration: true}},
		{"one that verifies", flowOf(auth, "key verified end"),
			schemas.Guarantees{ACR: schemas.ACRMultiFactorPR, AMR: []string{"pop", "user"}, PhishingResistant: true, UserVerified: true, NoEnumeration: true}},
		{"a passkey or a password", flowOf(auth, "q ask a=key b=secret", "key passkey done", "secret password done", "done finish"),
			schemas.Guarantees{ACR: schemas.ACRPassword, NoEnumeration: true}},
		{"at two ends", flowOf(auth, "q ask a=key b=secret", "key passkey end", "secret password done", "done finish"),
			schemas.Guarantees{ACR: schemas.ACRPassword, NoEnumeration: true}},
		{"a password and a passkey", flowOf(auth, "secret password key", "key passkey done", "done finish"),
			schemas.Guarantees{ACR: "phr", AMR: []string{"pop", "pwd"}, PhishingResistant: true, NoEnumeration: true}},
		{"two factors or a passkey, which do not compare", flowOf(auth, "q ask a=key b=two", "key passkey done", "two twofactors done", "done finish"),
			schemas.Guarantees{ACR: schemas.ACRPassword, NoEnumeration: true}},
		{"two factors and a passkey", flowOf(auth, "two twofactors key", "key passkey done", "done finish"),
			schemas.Guarantees{ACR: schemas.ACRMultiFactorPR, AMR: []string{"otp", "pop", "pwd"}, PhishingResistant: true, NoEnumeration: true}},
		{"a class that two paths prove in different ways", flowOf(reg, "q ask a=new b=key", "new create enrol", "key passkey enrol", "enrol enrol done", "done finish"),
			schemas.Guarantees{ACR: schemas.ACRPassword, NoEnumeration: true}},
		{"that class and a session", flowOf(reg, "s recent active=enrol none=q", "q ask a=new b=key", "new create enrol", "key passkey enrol", "enrol enrol done", "done finish"),
			schemas.Guarantees{ACR: schemas.ACRPassword, NoEnumeration: true}},
		{"any session", flowOf(auth, "s session active=done none=key", "key passkey done", "done finish"), schemas.Guarantees{NoEnumeration: true}},
		{"another user after the passkey", flowOf(reg, "key passkey new", "new create bind", "bind bind done", "done finish"), schemas.Guarantees{NoEnumeration: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, problems := engine.Compile(tt.flow, guaranteeKinds())
			if g == nil {
				t.Fatal(problems)
			}
			if got := g.Guarantees(); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// A declared guarantee is proven, or rejected with the shortest run that violates it.
func TestGuaranteesAreChecked(t *testing.T) {
	weak := func() *schemas.Flow {
		return flowOf(schemas.Authentication, "q ask a=key b=p", "p pass a=secret b=secret", "key verified done", "secret password success=done failure=q", "done finish")
	}
	tests := []struct {
		name, path string
		want       schemas.Guarantees
		trace      string
	}{
		{"nothing", "", schemas.Guarantees{}, ""},
		{"what holds", "", schemas.Guarantees{ACR: schemas.ACRPassword}, ""},
		{"too strong a class", "guarantees.acr", schemas.Guarantees{ACR: "phr"}, "q —b→ p —a→ secret —success→ done"},
		{"the strongest class", "guarantees.acr", schemas.Guarantees{ACR: "phrh"}, "q —a→ key —success→ done"},
		{"two factors", "guarantees.acr", schemas.Guarantees{ACR: schemas.ACRMultiFactor}, "q —b→ p —a→ secret —success→ done"},
		{"phishing-resistant", "guarantees.phishingResistant", schemas.Guarantees{PhishingResistant: true}, "q —b→ p —a→ secret —success→ done"},
		{"user verified", "guarantees.userVerified", schemas.Guarantees{UserVerified: true}, "q —b→ p —a→ secret —success→ done"},
		{"a method", "guarantees.amr[0]", schemas.Guarantees{AMR: []string{"pwd"}}, "q —a→ key —success→ done"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := weak()
			f.Guarantees = tt.want
			g, problems := engine.Compile(f, guaranteeKinds())
			if (g != nil) != (tt.path == "") {
				t.Fatal(problems)
			}
			for _, p := range problems {
				if p.Rule != engine.RuleGuarantee || p.Path != tt.path || p.Trace.String() != tt.trace || p.Node != "done" {
					t.Errorf("%+v: %s", p, p.Trace)
				}
			}
		})
	}
}

// A node that claims a class without proving it is stopped at run time.
func TestUnprovenFactsAreReported(t *testing.T) {
	kinds := guaranteeKinds() // their executors prove class "1" by method "sec"
	for _, use := range []string{"passkey", "password"} {
		g, problems := engine.Compile(flowOf(schemas.Authentication, "key "+use+" done", "done finish"), kinds)
		if g == nil {
			t.Fatal(problems)
		}
		w := newFixtureOf(t, g)
		s := w.start(nil)
		if _, err := w.trySend(s, "a", "secret", "right"); err == nil || schemas.AsError(err).Class != schemas.Internal {
			t.Errorf("%s: got %v", use, err)
		}
	}
}
