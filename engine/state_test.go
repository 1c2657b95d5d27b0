package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// A run that started in an earlier release does not complete with more than its user proved.
func TestAudit06RunsOfAnEarlierReleaseAreRevalued(t *testing.T) {
	g := &Graph{flow: &schemas.Flow{}, nodes: []node{{id: "ask"}}}
	load := func(format int) *run {
		kept := state{
			Facts:  []Fact{User, Authenticated, Own, "acr.phr", "acr.urn:postern:acr:mfa", "acr.urn:postern:acr:password", "amr.hwk", "amr.pop"},
			Auth:   &Authentication{ACR: "phrh", Methods: []string{"hwk", "pop"}},
			Ask:    &Ask{},
			Format: format,
		}
		text := datatest.Marshal(t, kept)
		r, err := loadRun(&schemas.Run{ID: "run", Node: "ask", State: text}, g, &schemas.Application{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := load(0)
	if r.state.Auth.ACR != "phr" || !slices.Equal(r.state.Auth.Methods, []string{"pop"}) {
		t.Errorf("authenticated as %+v", r.state.Auth)
	}
	if r.facts.Has("acr.urn:postern:acr:mfa") || r.facts.Has("amr.hwk") || !r.facts.Has(Authenticated) || !r.facts.Has("acr.phr") {
		t.Errorf("facts %v", r.facts)
	}
	for _, f := range r.facts {
		if !r.backs(f) {
			t.Errorf("unfounded: %s", f)
		}
	}
	if r := load(stateFormat); r.state.Auth.ACR != "phrh" {
		t.Errorf("a run of this release became %+v", r.state.Auth)
	}
}

// A run of an earlier release keeps what its user proved, with the oldest time that it can have.
func TestRunsOfAnEarlierReleaseKeepTheirProofs(t *testing.T) {
	g := &Graph{flow: &schemas.Flow{}, nodes: []node{{id: "ask"}}}
	began := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	text := datatest.Marshal(t, state{
		Facts: []Fact{User, Authenticated, Own, "acr.phr", "amr.pop"}, Ask: &Ask{}, Format: 1,
		Auth: &Authentication{ACR: "phr", Methods: []string{"pop"}, Time: began.Add(time.Minute), Proofs: []schemas.Proof{{Kind: schemas.PasskeyProof, Of: "k"}}},
	})
	r, err := loadRun(&schemas.Run{ID: "run", Node: "ask", State: text, CreatedAt: began}, g, &schemas.Application{}, began.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if auth := r.state.Auth; auth.ACR != "phr" || !slices.Equal(auth.Methods, []string{"pop"}) || !auth.Time.Equal(began) || !r.facts.Has("acr.phr") {
		t.Errorf("authenticated as %+v, with the facts %v", auth, r.facts)
	}
}
