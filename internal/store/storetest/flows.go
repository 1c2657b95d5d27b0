package storetest

import (
	"encoding/json"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func newFlow(t schemas.FlowType, handle string) schemas.Flow {
	created, updated := noon(), noon()
	return schemas.Flow{
		ID: schemas.NewID(), Handle: handle, Name: "Sign in", FlowType: t, CreatedAt: &created, UpdatedAt: &updated,
		Guarantees: schemas.Guarantees{ACR: schemas.ACRPassword, AMR: []string{"pwd"}, NoEnumeration: true},
		Waive:      []schemas.Waiver{{Rule: "takeover", Node: "key", Reason: "supervised"}},
		Nodes: []schemas.Node{
			{ID: "who", Use: "prompt", With: json.RawMessage(`{"title":"\u0000","n":1e3}`),
				Next: schemas.Next{By: map[string]string{"go": "done"}}},
			{ID: "done", Use: "authorization-code", Next: schemas.Next{To: schemas.End}},
		},
		ActiveVersion: 1,
	}
}

// testFlows reads flows the way runs do.
func testFlows(t *testing.T, s *store.Store) {
	ctx := t.Context()
	first, second := newFlow(schemas.Authentication, "a"), newFlow(schemas.Authentication, "b")
	second.IsReadOnly, second.Waive = true, nil
	insertFlows(t, s, &first, &second)
	changed := first
	changed.Handle, changed.Name, changed.Nodes = "c", "Better", first.Nodes[1:]
	update(t, s, func(tx *store.Tx) error { return store.Flows().Replace(tx, &changed, 1) })

	for _, want := range []schemas.Flow{changed, second} {
		active, err := s.ActiveVersion(ctx, want.ID)
		must(t, err)
		wantEqual(t, "the number of the active version", active, want.ActiveVersion)
	}
	for _, want := range []schemas.Flow{first, changed, second} {
		got, err := s.FlowVersion(ctx, want.ID, want.ActiveVersion)
		must(t, err)
		wantEqual(t, "the version", got, &want)
	}
	for _, unknown := range []string{schemas.NewID(), "a\x00"} {
		_, err := s.FlowVersion(ctx, unknown, 1)
		wantError(t, err, schemas.NotFound, schemas.CodeFlowNotFound)
		_, err = s.ActiveVersion(ctx, unknown)
		wantError(t, err, schemas.NotFound, schemas.CodeFlowNotFound)
	}
	_, err := s.FlowVersion(ctx, first.ID, 3)
	wantError(t, err, schemas.NotFound, schemas.CodeFlowNotFound)
}
