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

// newSubflow is a sub-flow, which may use others.
func newSubflow(handle string, uses ...*schemas.Flow) schemas.Flow {
	f := newFlow(schemas.Subflow, handle)
	f.Guarantees, f.Waive = schemas.Guarantees{}, nil
	f.Requires = schemas.Requires{Facts: []string{"user"}, Inputs: map[string]schemas.InputType{"username": schemas.TextInput}}
	f.Outcomes = map[string]string{"passed": "They passed."}
	use(&f, uses...)
	return f
}

// use gives a flow its parts, as they are.
func use(f *schemas.Flow, uses ...*schemas.Flow) {
	f.Parts = nil
	for _, u := range uses {
		if f.Parts == nil {
			f.Parts = map[string]*schemas.Flow{}
		}
		part := *u
		part.CreatedAt, part.UpdatedAt = nil, nil // these are the stored flow's
		f.Parts[u.Handle] = &part
	}
	f.Uses = schemas.UsesOf(f.Parts)
}

// testSubflows keeps flows with what they use. A version keeps to the sub-flows that
// it was made with, whatever becomes of them.
func testSubflows(t *testing.T, s *store.Store) {
	ctx, table := t.Context(), store.Flows()
	inner := newSubflow("inner")
	insertFlows(t, s, &inner)
	outer := newSubflow("outer", &inner)
	insertFlows(t, s, &outer)
	first, plain := newFlow(schemas.Authentication, "first"), newFlow(schemas.Authentication, "plain")
	use(&first, &inner, &outer)
	insertFlows(t, s, &first, &plain)
	for _, want := range []*schemas.Flow{&inner, &outer, &first, &plain} {
		reply(table.Get(ctx, s, want.ID)).equals(t, "the flow", want)
	}
	users := func(f *schemas.Flow) []schemas.SubflowUser {
		t.Helper()
		list := reply(table.Users(ctx, s, f.ID)).get(t)
		return list
	}
	wantEqual(t, "who uses the inner one", users(&inner), []schemas.SubflowUser{{ID: first.ID, Handle: "first", FlowType: schemas.Authentication, Version: 1}, {ID: outer.ID, Handle: "outer", FlowType: schemas.Subflow, Version: 1}})
	wantEqual(t, "who uses the first", users(&first), []schemas.SubflowUser(nil))

	newer := inner
	newer.Name = "Newer"
	update(t, s, func(tx *store.Tx) error { return table.Replace(tx, &newer, 1) })
	second := first
	use(&second, &newer)
	update(t, s, func(tx *store.Tx) error { return table.Replace(tx, &second, 1) })
	for _, want := range []*schemas.Flow{&first, &second} {
		reply(s.FlowVersion(ctx, first.ID, want.ActiveVersion)).equals(t, "the version", want)
	}
	wantEqual(t, "who uses the inner one then", users(&inner), []schemas.SubflowUser{{ID: first.ID, Handle: "first", FlowType: schemas.Authentication, Version: 2}, {ID: outer.ID, Handle: "outer", FlowType: schemas.Subflow, Version: 1}})
	wantEqual(t, "who uses the outer one then", users(&outer), []schemas.SubflowUser(nil))
	wantEqual(t, "the number of uses", len(reply(store.Uses(ctx, s, "flow", inner.ID)).get(t)), 2)
	reply(store.Uses(ctx, s, "flow", outer.ID)).equals(t, "the uses by an older version", []store.Use(nil))
	update(t, s, func(tx *store.Tx) error { return table.Delete(tx, outer.ID, 1) })
	reply(s.FlowVersion(ctx, first.ID, 1)).equals(t, "the older version without what it used", &first)
	update(t, s, func(tx *store.Tx) error { return table.Delete(tx, first.ID, 2) })
	wantEqual(t, "who uses the inner one in the end", users(&inner), []schemas.SubflowUser(nil))
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
		reply(s.ActiveVersion(ctx, want.ID)).equals(t, "the number of the active version", want.ActiveVersion)
	}
	for _, want := range []schemas.Flow{first, changed, second} {
		reply(s.FlowVersion(ctx, want.ID, want.ActiveVersion)).equals(t, "the version", &want)
	}
	for _, unknown := range []string{schemas.NewID(), "a\x00"} {
		reply(s.FlowVersion(ctx, unknown, 1)).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)
		reply(s.ActiveVersion(ctx, unknown)).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)
	}
	reply(s.FlowVersion(ctx, first.ID, 3)).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)
}
