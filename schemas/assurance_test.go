package schemas_test

import (
	"slices"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// The classes are a partial order: the judgements of flows, sessions and requests all
// rest on it.
func TestAudit06ClassesArePartiallyOrdered(t *testing.T) {
	all := schemas.ACRs()
	for _, a := range all {
		if !schemas.Satisfies(a, a) {
			t.Errorf("%s does not satisfy itself", a)
		}
		for _, b := range all {
			if a != b && schemas.Satisfies(a, b) && schemas.Satisfies(b, a) {
				t.Errorf("%s and %s satisfy each other", a, b)
			}
			if a != b && schemas.Satisfies(a, b) && slices.Index(all, a) < slices.Index(all, b) {
				t.Errorf("%s is listed before %s, which it satisfies", a, b)
			}
			for _, c := range all {
				if schemas.Satisfies(a, b) && schemas.Satisfies(b, c) && !schemas.Satisfies(a, c) {
					t.Errorf("%s satisfies %s, that satisfies %s, and the first does not satisfy the last", a, b, c)
				}
			}
		}
	}
}

// A class is worth exactly its plain classes: sets of these, united on a path and intersected at
// joins, give the results of Satisfies.
func TestAudit06PlainClassesMatchTheOrder(t *testing.T) {
	all := schemas.ACRs()
	for _, a := range all {
		plain := schemas.PlainACRs(a)
		if got := schemas.CombineACRs(plain...); got != a {
			t.Errorf("the plain classes of %s add up to %s", a, got)
		}
		for _, b := range all {
			subset := !slices.ContainsFunc(schemas.PlainACRs(b), func(c string) bool { return !slices.Contains(plain, c) })
			if subset != schemas.Satisfies(a, b) {
				t.Errorf("%s satisfies %s: %v; by its plain classes %v", a, b, schemas.Satisfies(a, b), subset)
			}
			checkBounds(t, a, b)
		}
	}
	if got := schemas.CombineACRs("high", "", schemas.ACRPassword); got != schemas.ACRPassword {
		t.Error("classes that are not known:", got)
	}
	if got := schemas.CombineACRs("high"); got != "" {
		t.Error("no known class:", got)
	}
}

// checkBounds checks the weakest class that satisfies both, and the strongest that
// both satisfy.
func checkBounds(t *testing.T, a, b string) {
	t.Helper()
	both := schemas.CombineACRs(a, b)
	var shared []string
	for _, c := range schemas.PlainACRs(a) {
		if slices.Contains(schemas.PlainACRs(b), c) {
			shared = append(shared, c)
		}
	}
	certain := schemas.CombineACRs(shared...)
	if !schemas.Satisfies(both, a) || !schemas.Satisfies(both, b) || !schemas.Satisfies(a, certain) || !schemas.Satisfies(b, certain) {
		t.Errorf("%s and %s: together %s, certain of both %s", a, b, both, certain)
	}
	for _, c := range schemas.ACRs() {
		if schemas.Satisfies(c, a) && schemas.Satisfies(c, b) && !schemas.Satisfies(c, both) {
			t.Errorf("%s satisfies %s and %s, and not %s", c, a, b, both)
		}
		if schemas.Satisfies(a, c) && schemas.Satisfies(b, c) && !schemas.Satisfies(certain, c) {
			t.Errorf("%s and %s satisfy %s, and what is certain of both, %s, does not", a, b, c, certain)
		}
	}
}

// The order, as docs/second-factors.md states it.
func TestAudit06PossessionAloneIsOneFactor(t *testing.T) {
	for _, one := range []struct {
		has, wanted string
		want        bool
	}{
		{schemas.ACRPhishingResistant, schemas.ACRMultiFactor, false},
		{schemas.ACRPhishingResistantProtected, schemas.ACRMultiFactor, false},
		{schemas.ACRPhishingResistant, schemas.ACRPassword, true},
		{schemas.ACRMultiFactor, schemas.ACRPhishingResistant, false},
		{schemas.ACRMultiFactor, schemas.ACRPassword, true},
		{schemas.ACRMultiFactorPR, schemas.ACRMultiFactor, true},
		{schemas.ACRMultiFactorPR, schemas.ACRPhishingResistant, true},
		{schemas.ACRMultiFactorPR, schemas.ACRPhishingResistantProtected, false},
		{schemas.ACRMultiFactorPRProtected, schemas.ACRPhishingResistantProtected, true},
		{schemas.ACRMultiFactorPRProtected, schemas.ACRMultiFactorPR, true},
		{"high", "high", true},
		{"high", schemas.ACRVouched, false},
		{schemas.ACRMultiFactorPRProtected, "high", false},
	} {
		if got := schemas.Satisfies(one.has, one.wanted); got != one.want {
			t.Errorf("%s satisfies %s: %v", one.has, one.wanted, got)
		}
	}
}

// A client that requests classes gets one that it can compare.
func TestAudit06TheClassThatAClientAskedForIsAnswered(t *testing.T) {
	for _, one := range []struct {
		has   string
		asked []string
		want  string
	}{
		{schemas.ACRMultiFactorPR, nil, schemas.ACRMultiFactorPR},
		{schemas.ACRMultiFactorPR, []string{"phr"}, "phr"},
		{schemas.ACRMultiFactorPR, []string{"high", "phrh", schemas.ACRMultiFactor, "phr"}, schemas.ACRMultiFactor},
		{schemas.ACRPassword, []string{"phr", schemas.ACRMultiFactor}, schemas.ACRPassword},
		{"high", []string{"phr"}, "high"},
	} {
		if got := schemas.AnsweredACR(one.has, one.asked); got != one.want {
			t.Errorf("%s, asked for %v: %s", one.has, one.asked, got)
		}
	}
}
