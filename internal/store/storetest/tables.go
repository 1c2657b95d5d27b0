package storetest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// tableCase describes a table for testTable.
type tableCase[T any] struct {
	table *store.Table[T]
	code  string // the code for a missing resource
	// fresh returns the n-th resource, which differs from all others; its id and times are not set.
	fresh func(n int) T
	// full sets every member of a resource, and edit changes all of them.
	full    func() T
	edit    func(*T)
	filters []string // members, in order
	// prefixes are the members by whose prefixes lists can be filtered, in order.
	prefixes []string
}

// testTable tests all operations of a table.
func testTable[T any](open func(*testing.T) *store.Store, c tableCase[T]) func(*testing.T) {
	return func(t *testing.T) {
		t.Run("read back", func(t *testing.T) { testTableRoundTrip(t, open(t), c) })
		t.Run("lists", func(t *testing.T) { testTableLists(t, open(t), c) })
		t.Run("conflicts", func(t *testing.T) { testTableConflicts(t, open(t), c) })
	}
}

// stamp sets the times of a resource, and its id unless it has one.
func (c *tableCase[T]) stamp(v T, at time.Time) T {
	fields := reflect.ValueOf(&v).Elem()
	if id := fields.FieldByName("ID"); id.String() == "" {
		id.SetString(schemas.NewID())
	}
	fields.FieldByName("CreatedAt").Set(reflect.ValueOf(noon()))
	fields.FieldByName("UpdatedAt").Set(reflect.ValueOf(at))
	return v
}

// memberOf returns a text member of a resource, or an attribute of a user.
func memberOf(t *testing.T, resource any, name string) string {
	t.Helper()
	var members map[string]any
	must(t, json.Unmarshal([]byte(text(resource)), &members))
	value, found := members[name].(string)
	if attributes, ok := members["attributes"].(map[string]any); ok && !found {
		value, _ = attributes[name].(string)
	}
	return value
}

func testTableRoundTrip[T any](t *testing.T, s *store.Store, c tableCase[T]) {
	ctx := t.Context()
	for _, v := range []T{c.stamp(c.fresh(1), noon()), c.stamp(c.full(), noon())} {
		id := c.table.ID(&v)
		reply(c.table.Get(ctx, s, id)).fails(t, schemas.NotFound, c.code)
		update(t, s, func(tx *store.Tx) error {
			must(t, c.table.Insert(tx, &v))
			got, err := c.table.Get(ctx, tx, id) // a transaction sees what it has written
			must(t, err)
			wantEqual(t, "the resource in its transaction", got, &v)
			return nil
		})
		got := reply(c.table.Get(ctx, s, id)).get(t)
		wantEqual(t, "the resource", got, &v)

		changed := *got
		c.edit(&changed)
		changed = c.stamp(changed, noon().Add(time.Microsecond))
		update(t, s, func(tx *store.Tx) error { return c.table.Replace(tx, &changed, noon()) })
		reply(c.table.Get(ctx, s, id)).equals(t, "the changed resource", &changed)

		wantStale(t, s.Update(ctx, func(tx *store.Tx) error { return c.table.Replace(tx, &v, noon()) }))
		wantStale(t, s.Update(ctx, func(tx *store.Tx) error { return c.table.Delete(tx, id, noon()) }))
		reply(c.table.Get(ctx, s, id)).equals(t, "the resource after what came too late", &changed)
		update(t, s, func(tx *store.Tx) error { return c.table.Delete(tx, id, noon().Add(time.Microsecond)) })
		reply(c.table.Get(ctx, s, id)).fails(t, schemas.NotFound, c.code)
	}
}

func wantStale(t *testing.T, err error) {
	t.Helper()
	wantError(t, err, schemas.Precondition, schemas.CodePreconditionFailed)
}

func testTableLists[T any](t *testing.T, s *store.Store, c tableCase[T]) {
	ctx := t.Context()
	there, err := c.table.List(ctx, s, store.Page{Limit: 100}) // the resources of the fixture
	must(t, err)
	for i := range 7 {
		v := c.stamp(c.fresh(i), noon())
		update(t, s, func(tx *store.Tx) error { return c.table.Insert(tx, &v) })
		there = append(there, v)
	}
	full := c.stamp(c.full(), noon())
	update(t, s, func(tx *store.Tx) error { return c.table.Insert(tx, &full) })
	there = append(there, full)
	slices.SortFunc(there, func(a, b T) int { return cmp.Compare(c.table.ID(&a), c.table.ID(&b)) })

	wantList(t, s, c.table, store.Page{Limit: 100}, there, len(there))
	wantList(t, s, c.table, store.Page{Limit: 3}, there[:3], len(there))
	wantList(t, s, c.table, store.Page{Limit: 3, Offset: 2}, there[2:5], len(there))
	wantList(t, s, c.table, store.Page{Limit: 3, After: c.table.ID(&there[3])}, there[4:7], len(there))
	wantList(t, s, c.table, store.Page{Limit: 3, After: c.table.ID(&there[len(there)-1])}, nil, len(there))

	wantEqual(t, "the filters", c.table.Filters(), c.filters)
	for _, member := range c.filters {
		wantFiltered(t, s, c.table, member, there)
	}
	wantEqual(t, "the members with a prefix", c.table.Prefixes(), c.prefixes)
	for _, member := range c.prefixes {
		wantPrefixed(t, s, c.table, member, there)
	}
	if _, err := c.table.List(ctx, s, store.Page{Limit: 1, Member: "color", Value: "red"}); err == nil {
		t.Error("a list was filtered by what is no filter")
	}
	if _, err := c.table.Count(ctx, s, store.Page{Member: "color", Value: "red"}); err == nil {
		t.Error("a list was counted by what is no filter")
	}
	if _, err := c.table.List(ctx, s, store.Page{Limit: 1, Member: c.filters[len(c.filters)-1] + "x", Value: "r", Prefix: true}); err == nil {
		t.Error("a list was filtered by a prefix of what has none")
	}
}

// wantFiltered filters by each value of the resources, and by values that none of them has.
func wantFiltered[T any](t *testing.T, s *store.Store, table *store.Table[T], member string, there []T) {
	t.Helper()
	matched := 0
	value := func(v T) string { return memberOf(t, v, member) }
	for _, v := range there {
		wanted := value(v)
		if wanted == "" && member != "parentId" { // the units without a parent are a list
			continue
		}
		matched++
		matching := slices.DeleteFunc(slices.Clone(there), func(o T) bool { return value(o) != wanted })
		page := store.Page{Limit: 100, Member: member, Value: wanted}
		wantList(t, s, table, page, matching, len(matching))
		page.After = table.ID(&matching[0])
		wantList(t, s, table, page, matching[1:], len(matching))
		page.After, page.Offset = "", 1
		wantList(t, s, table, page, matching[1:], len(matching))
		reply(table.Find(t.Context(), s, member, wanted)).equals(t, "the one found by "+member, &matching[0])
	}
	if matched == 0 {
		t.Errorf("no sample has the member %s", member)
	}
	for _, odd := range []string{"", "nobody has this", "a\x00b", "\xff"} {
		if slices.ContainsFunc(there, func(v T) bool { return value(v) == odd }) {
			continue // of some members "" is a value
		}
		wantList(t, s, table, store.Page{Limit: 100, Member: member, Value: odd}, nil, 0)
		reply(table.Find(t.Context(), s, member, odd)).equals(t, "the one found by "+member, (*T)(nil))
	}
}

// wantPrefixed filters by each prefix of each value, and by texts that are not a prefix of any
// value. The samples have letters in lower case only, except one.
func wantPrefixed[T any](t *testing.T, s *store.Store, table *store.Table[T], member string, there []T) {
	t.Helper()
	key := func(v T) string {
		if member == "username" || member == "email" {
			return schemas.IdentifierKey(memberOf(t, v, member))
		}
		return memberOf(t, v, member)
	}
	ordered := slices.Clone(there)
	slices.SortStableFunc(ordered, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	tried := map[string]bool{}
	for _, v := range there {
		for end := range key(v) + "." {
			prefix := key(v)[:end]
			if end == 0 || tried[prefix] {
				continue
			}
			tried[prefix] = true
			matching := slices.DeleteFunc(slices.Clone(ordered), func(o T) bool { return !strings.HasPrefix(key(o), prefix) })
			page := store.Page{Limit: 100, Member: member, Value: prefix, Prefix: true}
			wantList(t, s, table, page, matching, len(matching))
			page.Limit, page.Offset = 2, 1
			wantList(t, s, table, page, matching[min(1, len(matching)):min(3, len(matching))], len(matching))
		}
	}
	if len(tried) < 4 {
		t.Errorf("the samples have %d prefixes of %s", len(tried), member)
	}
	for _, odd := range []string{"", "%", "_", "use%", "\\", "nobody has this", "a\x00b", "\xff"} {
		wantList(t, s, table, store.Page{Limit: 100, Member: member, Value: odd, Prefix: true}, nil, 0)
	}
}

func wantList[T any](t *testing.T, s *store.Store, table *store.Table[T], p store.Page, want []T, total int) {
	t.Helper()
	got := reply(table.List(t.Context(), s, p)).get(t)
	if len(got) != len(want) {
		t.Fatalf("the page %+v has %d resources, expected %d:\n got %s\nwant %s", p, len(got), len(want), text(got), text(want))
	}
	for i := range got {
		wantEqual(t, fmt.Sprintf("number %d of the page %+v", i, p), got[i], want[i])
	}
	reply(table.Count(t.Context(), s, p)).equals(t, fmt.Sprintf("the number of resources in the list of %+v", p), total)
}

// testTableConflicts writes conflicting resources, and fails a transaction after it has written.
func testTableConflicts[T any](t *testing.T, s *store.Store, c tableCase[T]) {
	ctx, broken := t.Context(), errors.New("broken")
	v := c.stamp(c.fresh(1), noon())
	err := s.Update(ctx, func(tx *store.Tx) error {
		must(t, c.table.Insert(tx, &v))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("the error is %v, expected the transaction's own", err)
	}
	reply(c.table.Get(ctx, s, c.table.ID(&v))).fails(t, schemas.NotFound, c.code)

	update(t, s, func(tx *store.Tx) error { return c.table.Insert(tx, &v) })
	sameID := c.fresh(2)
	reflect.ValueOf(&sameID).Elem().FieldByName("ID").SetString(c.table.ID(&v))
	sameID = c.stamp(sameID, noon())
	sameName := c.stamp(c.fresh(1), noon())
	for _, other := range []T{sameID, sameName} {
		err := s.Update(ctx, func(tx *store.Tx) error { return c.table.Insert(tx, &other) })
		if !schemas.HasClass(err, schemas.Conflict) {
			t.Fatalf("what is in the way of another was answered with %v, expected a conflict", err)
		}
	}
	reply(c.table.Get(ctx, s, c.table.ID(&sameName))).fails(t, schemas.NotFound, c.code)
}
