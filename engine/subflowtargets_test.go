package engine_test

import (
	"maps"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// A node of a sub-flow sees its targets in the flow, not the names of the sub-flow's outcomes.
func TestNodesKnowTheirTargets(t *testing.T) {
	said := part("said", "", "yes no", "q route a=yes b=no")
	whole := part("whole", "", "", "q route a=r b=end", "r ask end")
	tests := []struct {
		parts []*schemas.Flow
		flow  []string
		want  map[string]string
	}{
		{nil, []string{"q route a=r b=end", "r ask end"}, map[string]string{"a": "r", "b": "end"}},
		{[]*schemas.Flow{said}, []string{"s sub:said yes=r no=end", "r ask end"}, map[string]string{"a": "r", "b": "end"}},
		{[]*schemas.Flow{said}, []string{"s sub:said r", "r ask end"}, map[string]string{"a": "r", "b": "r"}},
		{[]*schemas.Flow{whole}, []string{"s sub:whole r", "r ask end"}, map[string]string{"a": "s.r", "b": "r"}},
		{[]*schemas.Flow{whole}, []string{"s sub:whole end"}, map[string]string{"a": "s.r", "b": "end"}},
		{[]*schemas.Flow{said, part("around", "", "out", "i sub:said yes=k no=out", "k ask out")}, []string{"s sub:around end"}, map[string]string{"a": "s.k", "b": "end"}},
	}
	for _, test := range tests {
		var got map[string]string
		kinds := subKinds()
		kinds["route"] = &engine.Kind{Name: "route", Asks: true, Outcomes: outcomes("a", "b"), New: func(c *engine.Config) (engine.Executor, []schemas.Problem) {
			got = c.Node.Next.By
			return execute(ask), nil
		}}
		text := datatest.Marshal(t, using(schemas.Registration, test.flow...))
		if _, g, problems := engine.CheckUsing(text, false, kinds, subflowsOf(test.parts...)); g == nil {
			t.Errorf("%v: %v", test.flow, problems)
		}
		if !maps.Equal(got, test.want) {
			t.Errorf("%v: the node leads to %v, want %v", test.flow, got, test.want)
		}
	}
}
