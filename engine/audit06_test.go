package engine_test

import (
	"slices"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// The facts of paths combine like the classes: the union along one path, and the intersection of
// two paths.
func TestAudit06FactsMatchTheOrderOfClasses(t *testing.T) {
	hasACR := func(facts engine.Facts, class string) bool {
		return !slices.ContainsFunc(engine.ACRFacts(class), func(f engine.Fact) bool { return !facts.Has(f) })
	}
	for _, a := range schemas.ACRs() {
		for _, b := range schemas.ACRs() {
			both := engine.NewFacts(slices.Concat(engine.ACRFacts(a), engine.ACRFacts(b))...)
			if want := schemas.CombineACRs(a, b); both.ACR() != want {
				t.Errorf("%s and %s: %s, expected %s", a, b, both.ACR(), want)
			}
			for _, c := range schemas.ACRs() {
				if hasACR(both, c) != schemas.Satisfies(schemas.CombineACRs(a, b), c) {
					t.Errorf("%s and %s: has %s: %v", a, b, c, hasACR(both, c))
				}
			}
			if hasACR(engine.NewFacts(engine.ACRFacts(a)...), b) != schemas.Satisfies(a, b) {
				t.Errorf("%s has %s: %v", a, b, !schemas.Satisfies(a, b))
			}
		}
	}
}

// Where paths of incomparable classes meet, what both satisfy is certain; where one follows the
// other, both are.
func TestAudit06JoinsOfIncomparableClasses(t *testing.T) {
	kinds := guaranteeKinds()
	for name, test := range map[string]struct {
		flow *schemas.Flow
		want string
	}{
		"two paths": {flowOf(schemas.Authentication, "q ask a=key b=two", "key passkey done", "two twofactors done", "done finish"), schemas.ACRPassword},
		"one path":  {flowOf(schemas.Authentication, "key passkey two", "two twofactors done", "done finish"), schemas.ACRMultiFactorPR},
	} {
		g, problems := engine.Compile(test.flow, kinds)
		if g == nil {
			t.Fatal(problems)
		}
		if got := g.Guarantees().ACR; got != test.want {
			t.Errorf("%s: guarantees %s, expected %s", name, got, test.want)
		}
	}
}
