package chains_test

import (
	"fmt"
	"testing"

	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// BenchmarkHundredFlows analyzes 100 flows of 100 applications, which differ from each other only in
// their ids, and compiles them first.
func BenchmarkHundredFlows(b *testing.B) {
	system := &schemas.SignInSystem{Flows: map[string]*schemas.Flow{}}
	for i := range 100 {
		f := *playedFlow(b, playedFlows()[i%len(playedFlows())])
		f.ID = fmt.Sprint("flow ", i)
		system.Flows[f.ID] = &f
		system.Applications = append(system.Applications, schemas.SystemApplication{ID: fmt.Sprint(i), Name: fmt.Sprint(i), FlowIDs: []string{f.ID}})
	}
	kinds := nodes.Kinds(nodes.Deps{})
	for b.Loop() {
		if _, err := (&chains.Checker{Kinds: kinds}).Analyze(system); err != nil {
			b.Fatal(err)
		}
	}
}
