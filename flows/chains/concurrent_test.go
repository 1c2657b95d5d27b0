package chains_test

import (
	"reflect"
	"sync"
	"testing"

	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// Analyses of one checker at the same time report the same as an analysis alone. They share the compiled flows.
func TestConcurrentAnalyses(t *testing.T) {
	system := &schemas.SignInSystem{Flows: map[string]*schemas.Flow{}}
	for _, name := range []string{"password", "code to passkey", "recovery to passkey"} {
		f := playedFlow(t, name)
		system.Flows[f.ID] = f
		system.Applications = append(system.Applications, schemas.SystemApplication{ID: f.ID, Name: f.ID, FlowIDs: []string{f.ID}})
	}
	kinds := nodes.Kinds(nodes.Deps{})
	want, err := (&chains.Checker{Kinds: kinds}).Analyze(t.Context(), system)
	if err != nil || len(want.Ways) == 0 {
		t.Fatalf("%+v, %v", want, err)
	}
	shared := &chains.Checker{Kinds: kinds}
	var analyses sync.WaitGroup
	for range 8 {
		analyses.Go(func() {
			if got, err := shared.Analyze(t.Context(), system); err != nil || !reflect.DeepEqual(got.Ways, want.Ways) {
				t.Errorf("%+v, %v, want %+v", got, err, want)
			}
		})
	}
	analyses.Wait()
}
