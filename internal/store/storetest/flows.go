package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func newFlow(t schemas.FlowType, handle string) schemas.Flow {
	created, updated := noon(), noon()
	return schemas.Flow{
		ID: schemas.NewID(), Handle: handle, Name: "Sign in", FlowType: t, CreatedAt: &created, UpdatedAt: &updated,
		Waive: []schemas.Waiver{{Rule: "takeover", Node: "key", Reason: "supervised"}},
		Nodes: []schemas.Node{
			{ID: "who", Use: "prompt", With: json.RawMessage(`{"title":"\u0000","n":1e3}`),
				Next: schemas.Next{By: map[string]string{"go": "done"}}},
			{ID: "done", Use: "authorization-code", Next: schemas.Next{To: schemas.End}},
		},
		ActiveVersion: 1,
	}
}

func testFlows(t *testing.T, s *store.Store) {
	ctx := t.Context()
	in, up := newFlow(schemas.Authentication, "b"), newFlow(schemas.Registration, "a")
	second := newFlow(schemas.Authentication, "a")
	second.IsReadOnly, second.Waive = true, nil
	for _, f := range []schemas.Flow{up, in, second} {
		must(t, s.CreateFlow(ctx, f))
	}
	got, err := s.Flow(ctx, in.ID)
	must(t, err)
	wantEqual(t, "the flow", got, &in)
	got, err = s.FlowByHandle(ctx, schemas.Authentication, "a")
	must(t, err)
	wantEqual(t, "the flow by handle", got, &second)
	all, err := s.Flows(ctx)
	must(t, err)
	wantEqual(t, "the flows", all, []schemas.Flow{second, in, up})

	_, err = s.Flow(ctx, schemas.NewID())
	wantError(t, err, schemas.NotFound, schemas.CodeFlowNotFound)
	_, err = s.FlowByHandle(ctx, schemas.Registration, "b")
	wantError(t, err, schemas.NotFound, schemas.CodeFlowNotFound)
}

func testFlowVersions(t *testing.T, s *store.Store) {
	ctx := t.Context()
	first := newFlow(schemas.Authentication, "in")
	must(t, s.CreateFlow(ctx, first))
	second := first
	updated := noon().Add(time.Hour)
	second.Handle, second.Name, second.UpdatedAt, second.ActiveVersion = "renamed", "Better", &updated, 2
	second.Nodes = second.Nodes[1:]
	version, err := s.AddFlowVersion(ctx, second)
	must(t, err)
	wantEqual(t, "the version", version, 2)

	for _, want := range []schemas.Flow{first, second} {
		got, err := s.FlowVersion(ctx, first.ID, want.ActiveVersion)
		must(t, err)
		wantEqual(t, "the version", got, &want)
	}
	got, err := s.Flow(ctx, first.ID)
	must(t, err)
	wantEqual(t, "the active version", got, &second)
	active, err := s.ActiveVersion(ctx, first.ID)
	must(t, err)
	wantEqual(t, "the active version's number", active, 2)
	_, err = s.ActiveVersion(ctx, schemas.NewID())
	wantError(t, err, schemas.NotFound, schemas.CodeFlowNotFound)
	_, err = s.FlowByHandle(ctx, schemas.Authentication, "in")
	wantError(t, err, schemas.NotFound, schemas.CodeFlowNotFound)

	_, err = s.FlowVersion(ctx, first.ID, 3)
	wantError(t, err, schemas.NotFound, schemas.CodeFlowNotFound)
	_, err = s.AddFlowVersion(ctx, newFlow(schemas.Authentication, "unknown"))
	wantError(t, err, schemas.NotFound, schemas.CodeFlowNotFound)
	second.FlowType = schemas.Registration
	_, err = s.AddFlowVersion(ctx, second)
	wantError(t, err, schemas.Invalid, schemas.CodeInvalidFlow)
}

func testFlowVersionRace(t *testing.T, s *store.Store) {
	const writers = 16
	ctx, f := t.Context(), newFlow(schemas.Authentication, "in")
	must(t, s.CreateFlow(ctx, f))
	var versions [writers]int
	together(writers, func(i int) {
		mine := f
		mine.Name = fmt.Sprint("by ", i)
		var err error
		if versions[i], err = s.AddFlowVersion(ctx, mine); err != nil {
			t.Error(err)
		}
	})
	seen := map[int]bool{}
	for i, version := range versions {
		got, err := s.FlowVersion(ctx, f.ID, version)
		must(t, err)
		wantEqual(t, "the name", got.Name, fmt.Sprint("by ", i))
		seen[version] = version >= 2 && version <= writers+1
	}
	wantEqual(t, "the number of versions", len(seen), writers)
	got, err := s.Flow(ctx, f.ID)
	must(t, err)
	wantEqual(t, "the active version", got.ActiveVersion, writers+1)
}

func testFlowsUnique(t *testing.T, s *store.Store) {
	ctx := t.Context()
	first, second := newFlow(schemas.Authentication, "a"), newFlow(schemas.Authentication, "b")
	must(t, s.CreateFlow(ctx, first))
	must(t, s.CreateFlow(ctx, second))
	must(t, s.CreateFlow(ctx, newFlow(schemas.Registration, "a")))
	wantError(t, s.CreateFlow(ctx, newFlow(schemas.Authentication, "a")), schemas.Conflict, "flow_exists")
	second.Handle = "a"
	_, err := s.AddFlowVersion(ctx, second)
	wantError(t, err, schemas.Conflict, "flow_exists")
	got, err := s.Flow(ctx, second.ID)
	must(t, err)
	wantEqual(t, "the handle", got.Handle, "b")
	wantEqual(t, "the version", got.ActiveVersion, 1)
}
