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
func BenchmarkHundredFlows(b *testing.B) { benchmarkFlows(b, 100) }

// BenchmarkThousandFlows does so with 1,000.
func BenchmarkThousandFlows(b *testing.B) { benchmarkFlows(b, 1000) }

func benchmarkFlows(b *testing.B, n int) {
	system := &schemas.SignInSystem{Flows: map[string]*schemas.Flow{}}
	for i := range n {
		f := *playedFlow(b, playedFlows()[i%len(playedFlows())])
		f.ID = fmt.Sprint("flow ", i)
		system.Flows[f.ID] = &f
		system.Applications = append(system.Applications, schemas.SystemApplication{ID: fmt.Sprint(i), Name: fmt.Sprint(i), FlowIDs: []string{f.ID}})
	}
	kinds := nodes.Kinds(nodes.Deps{})
	for b.Loop() {
		if _, err := (&chains.Checker{Kinds: kinds}).Analyze(b.Context(), system); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLinkedProviders analyzes identity providers that are linked one by one, and a flow that asks
// for all of them.
func BenchmarkLinkedProviders(b *testing.B) {
	for _, n := range []int{6, 11, 40} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			system := linking(b, n)
			for b.Loop() {
				if _, err := chains.Analyze(b.Context(), system); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
