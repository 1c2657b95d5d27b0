package chains

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// No way needs two things that exclude each other, in any built-in flow and recipe, alone and together.
func TestWaysAreConsistent(t *testing.T) {
	kinds := nodes.Kinds(nodes.Deps{})
	all := &schemas.SignInSystem{Flows: map[string]*schemas.Flow{}}
	everything := schemas.SystemApplication{ID: "all", Name: "All"}
	for _, path := range slices.Concat(datatest.Glob(t, "../*.yaml"), datatest.Glob(t, "../recipes/*.yaml"), datatest.Glob(t, "../testdata/good/*.yaml")) {
		if strings.HasSuffix(path, "_test.yaml") {
			continue
		}
		f, _, _ := engine.Check(datatest.ReadFile(t, path), true, kinds)
		if f == nil || f.FlowType == schemas.Subflow {
			continue // it uses a sub-flow
		}
		id := filepath.Base(path)
		all.Flows[id] = f
		all.Applications = append(all.Applications, schemas.SystemApplication{ID: id, Name: id, FlowIDs: []string{id}})
		everything.FlowIDs = append(everything.FlowIDs, id)
	}
	if len(all.Flows) < 50 {
		t.Fatalf("there are %d flows", len(all.Flows))
	}
	whole := *all
	whole.Applications = append(slices.Clone(all.Applications), everything)
	systems := []*schemas.SignInSystem{&whole}
	for _, app := range all.Applications {
		systems = append(systems, &schemas.SignInSystem{Flows: all.Flows, Applications: []schemas.SystemApplication{app}})
	}
	ways := 0
	for _, s := range systems {
		checker := Checker{Kinds: kinds}
		report, err := checker.Analyze(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range report.Ways {
			ways++
			if !isConsistent(w.needed()) {
				t.Errorf("%s", w)
			}
		}
	}
	if ways < 100 {
		t.Errorf("there are %d ways", ways)
	}
}

// needed lists what the way needs at the beginning.
func (w Way) needed() (list []kind) {
	for k, has := range map[kind]bool{aMailbox: w.Means.Mailbox, aPassword: w.Means.Password, manager: w.Means.Manager} {
		if has {
			list = append(list, k)
		}
	}
	for _, c := range w.Conditions {
		list = append(list, kind(c))
	}
	return list
}
