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

// use sets the parts of a flow.
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

// testSubflows stores flows with their sub-flows. A version keeps the sub-flows with which it was
// created, even if they change or are deleted.
func testSubflows(t *testing.T, s *store.Store) {
	ctx, table := t.Context(), store.Flows()
	inner := newSubflow("inner")
	insert(t, s, &inner)
	outer := newSubflow("outer", &inner)
	insert(t, s, &outer)
	first, plain := newFlow(schemas.Authentication, "first"), newFlow(schemas.Authentication, "plain")
	use(&first, &inner, &outer)
	insert(t, s, &first, &plain)
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

// testFlows reads flows like runs do.
func testFlows(t *testing.T, s *store.Store) {
	first, second := newFlow(schemas.Authentication, "a"), newFlow(schemas.Authentication, "b")
	second.IsReadOnly, second.Waive = true, nil
	insert(t, s, &first, &second)
	changed := first
	changed.Handle, changed.Name, changed.Nodes = "c", "Better", first.Nodes[1:]
	update(t, s, func(tx *store.Tx) error { return store.Flows().Replace(tx, &changed, 1) })

	for _, want := range []schemas.Flow{changed, second} {
		reply(s.ActiveVersion(t.Context(), want.ID)).equals(t, "the number of the active version", want.ActiveVersion)
	}
	for _, want := range []schemas.Flow{first, changed, second} {
		reply(s.FlowVersion(t.Context(), want.ID, want.ActiveVersion)).equals(t, "the version", &want)
	}
	for _, unknown := range []string{schemas.NewID(), "a\x00"} {
		reply(s.FlowVersion(t.Context(), unknown, 1)).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)
		reply(s.ActiveVersion(t.Context(), unknown)).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)
	}
	reply(s.FlowVersion(t.Context(), first.ID, 3)).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)
}

func testFlowLists(t *testing.T, s *store.Store) {
	ctx, table := t.Context(), store.Flows()
	first, up, second := newFlow(schemas.Authentication, "a"), newFlow(schemas.Registration, "a"), newFlow(schemas.Authentication, "b")
	second.IsReadOnly = true
	insert(t, s, &first, &up, &second)
	for _, test := range []struct {
		page  store.Page
		want  []schemas.Flow
		total int
	}{
		{store.Page{Limit: 10}, []schemas.Flow{first, up, second}, 3},
		{store.Page{Limit: 1, Offset: 1}, []schemas.Flow{up}, 3},
		{store.Page{Limit: 1, After: first.ID}, []schemas.Flow{up}, 3},
		{store.Page{Limit: 10, Member: "flowType", Value: "AUTHENTICATION"}, []schemas.Flow{first, second}, 2},
		{store.Page{Limit: 10, Member: "flowType", Value: "AUTHENTICATION", After: first.ID}, []schemas.Flow{second}, 2},
		{store.Page{Limit: 10, Member: "handle", Value: "a"}, []schemas.Flow{first, up}, 2},
		{store.Page{Limit: 10, Member: "handle", Value: "a\x00"}, nil, 0},
	} {
		t.Run(fmt.Sprintf("%+v", test.page), func(t *testing.T) {
			reply(table.List(ctx, s, test.page)).equals(t, "the page", test.want)
			reply(table.Count(ctx, s, test.page)).equals(t, "the number of flows", test.total)
		})
	}
	odd := store.Page{Limit: 1, Member: "color", Value: "red"}
	if _, err := table.List(ctx, s, odd); err == nil {
		t.Error("flows were listed by their color")
	}
	if _, err := table.Count(ctx, s, odd); err == nil {
		t.Error("flows were counted by their color")
	}
	reply(table.Get(ctx, s, up.ID)).equals(t, "the flow", &up)
	reply(table.Get(ctx, s, schemas.NewID())).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)
	reply(table.Find(ctx, s, schemas.Registration, "a")).equals(t, "the flow by its handle", &up)
	reply(table.Find(ctx, s, schemas.Registration, "b")).equals(t, "the flow that is not there", (*schemas.Flow)(nil))
}

func testFlowReplace(t *testing.T, s *store.Store) {
	ctx, table := t.Context(), store.Flows()
	first := newFlow(schemas.Authentication, "a")
	insert(t, s, &first)
	replace := func(f *schemas.Flow, was int) error {
		return s.Update(ctx, func(tx *store.Tx) error { return table.Replace(tx, f, was) })
	}
	// The clock stands still, then goes back. The times of versions still increase.
	second, third := first, first
	second.Handle, second.Name, second.Nodes = "b", "Second", first.Nodes[1:]
	must(t, replace(&second, 1))
	early := noon().Add(-time.Hour)
	third.UpdatedAt = &early
	must(t, replace(&third, 2))
	for i, f := range []schemas.Flow{first, second, third} {
		wantEqual(t, "the number", f.ActiveVersion, i+1)
		wantEqual(t, "the time", *f.UpdatedAt, noon().Add(time.Duration(i)*time.Microsecond))
		reply(table.Version(ctx, s, first.ID, i+1)).equals(t, "the version", &f)
	}
	reply(table.Get(ctx, s, first.ID)).equals(t, "the flow", &third)
	reply(table.Version(ctx, s, first.ID, 4)).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)

	author := schemas.Actor{Type: schemas.UserActor, ID: schemas.NewID(), Client: schemas.NewID()}
	update(t, s, func(tx *store.Tx) error { return table.SetAuthor(tx, first.ID, 2, author, "for the audit") })
	commitVersionRuns(t, s, first.ID)
	versions := reply(table.Versions(ctx, s, first.ID, noon(), store.Page{Limit: 2})).get(t)
	wantEqual(t, "the versions", versions, []store.FlowVersion{
		{Version: 3, Name: third.Name, Handle: "a", CreatedAt: *third.UpdatedAt, Active: true, OpenRuns: 1},
		{Version: 2, Name: "Second", Handle: "b", CreatedAt: *second.UpdatedAt, Author: author, Reason: "for the audit", OpenRuns: 2}})
	reply(table.Versions(ctx, s, first.ID, noon(), store.Page{Limit: 2, Offset: 2})).equals(t, "the oldest version", []store.FlowVersion{{Version: 1, Name: first.Name, Handle: "a", CreatedAt: noon()}})

	wantStale(t, replace(&second, 2))
	unknown := newFlow(schemas.Authentication, "unknown")
	wantStale(t, replace(&unknown, 1))
	other := newFlow(schemas.Authentication, "other")
	insert(t, s, &other)
	other.Handle = "a"
	wantError(t, replace(&other, 1), schemas.Conflict, "flow_exists")
	wantError(t, s.Update(ctx, func(tx *store.Tx) error { return table.Insert(tx, &other) }), schemas.Conflict, "flow_exists")
	third.FlowType = schemas.Registration
	wantError(t, replace(&third, 3), schemas.Invalid, schemas.CodeInvalidFlow)
}

// commitVersionRuns stores one open run of version 3 of a flow and two of version 2, and runs that
// do not count: a finished one, an expired one and one of another flow.
func commitVersionRuns(t *testing.T, s *store.Store, id string) {
	t.Helper()
	var runs []*schemas.Run
	for _, version := range []int{3, 2, 2, 2, 2} {
		run := newRun()
		run.FlowID, run.FlowVersion = id, version
		runs = append(runs, run)
	}
	runs[3].Status, runs[4].ExpiresAt = schemas.Complete, noon()
	commit(t, s, append(runs, newRun())...)
}

// testFlowReplaceRace replaces one version many times concurrently: one replacement succeeds.
func testFlowReplaceRace(t *testing.T, s *store.Store) {
	f := newFlow(schemas.Authentication, "a")
	insert(t, s, &f)
	oneWins(t, 8, schemas.CodePreconditionFailed, func(int) error {
		mine := f
		return s.Update(t.Context(), func(tx *store.Tx) error { return store.Flows().Replace(tx, &mine, 1) })
	})
}

func testFlowDelete(t *testing.T, s *store.Store) {
	ctx, table := t.Context(), store.Flows()
	f := newFlow(schemas.Authentication, "a")
	insert(t, s, &f)
	live, over, expired, other := newRun(), newRun(), newRun(), newRun()
	live.FlowID, over.FlowID, expired.FlowID = f.ID, f.ID, f.ID
	over.Status, expired.ExpiresAt = schemas.Complete, noon()
	commit(t, s, live, over, expired, other)
	wantStale(t, s.Update(ctx, func(tx *store.Tx) error { return table.Delete(tx, f.ID, 2) }))
	update(t, s, func(tx *store.Tx) error { return table.Delete(tx, f.ID, 1) })
	wantStale(t, s.Update(ctx, func(tx *store.Tx) error { return table.Delete(tx, f.ID, 1) }))
	reply(s.Run(ctx, live.ID)).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
	wantRuns(t, s, over, other)
	reply(table.Get(ctx, s, f.ID)).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)
	reply(s.FlowVersion(ctx, f.ID, 1)).fails(t, schemas.NotFound, schemas.CodeFlowNotFound)
	// The handle and the id are free, but version 1 of that id has been read and may be cached.
	for want := 2; want < 4; want++ {
		insert(t, s, &f)
		wantEqual(t, "the number of what comes after", f.ActiveVersion, want)
		reply(s.ActiveVersion(ctx, f.ID)).equals(t, "the active version", want)
		update(t, s, func(tx *store.Tx) error { return table.Delete(tx, f.ID, want) })
	}
}
