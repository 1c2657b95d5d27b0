package store

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"unicode/utf8"
)

// ExplainPrefixes returns, for each member of a resource that a list can be filtered by a prefix of,
// the plans of PostgreSQL for a page and the number of the resources. Small tables are read as a
// whole unless the planner must not do so.
func ExplainPrefixes(t *testing.T, s *Store) map[string]string {
	plans := map[string]string{}
	explainTable(t, s, Units(), plans)
	explainTable(t, s, UserTypes(), plans)
	explainTable(t, s, Users(), plans)
	explainTable(t, s, Groups(), plans)
	explainTable(t, s, ResourceServers(), plans)
	explainTable(t, s, Roles(), plans)
	explainTable(t, s, Applications(), plans)
	explainTable(t, s, IdentityProviders(), plans)
	explainTable(t, s, Flows().Table, plans)
	return plans
}

func explainTable[T any](t *testing.T, s *Store, of *Table[T], plans map[string]string) {
	t.Helper()
	for _, member := range of.Prefixes() {
		p := Page{Limit: 3, Member: member, Value: "a", Prefix: true}
		for what, ask := range map[string]func(Reader) error{
			"page":  func(r Reader) error { _, err := of.List(t.Context(), r, p); return err },
			"count": func(r Reader) error { _, err := of.Count(t.Context(), r, p); return err },
		} {
			noError(t, s.Snapshot(t.Context(), func(r Reader) error {
				e := &explainer{Reader: r}
				_, err := readAll(t.Context(), r, scanValue[string], `SELECT set_config(name, 'off', true) FROM unnest('{enable_seqscan,enable_bitmapscan,enable_sort}'::text[]) name`)
				if err == nil {
					err = ask(e)
				}
				plans[of.noun+" "+member+" "+what] = strings.Join(e.steps, "\n")
				return err
			}))
		}
	}
}

// explainer is a Reader that has PostgreSQL explain the first query.
type explainer struct {
	Reader
	steps []string
}

func (e *explainer) query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	if e.steps == nil {
		var err error
		if e.steps, err = readAll(ctx, e.Reader, scanValue[string], "EXPLAIN "+q, args...); err != nil {
			return nil, err
		}
	}
	return e.Reader.query(ctx, q, args...)
}

func TestEndOfPrefix(t *testing.T) {
	for prefix, want := range map[string]string{
		"a": "b", "az": "a{", "é": "ê", "\u007f": "\u0080", "\ud7ff": "\ue000", "a\U0010ffff\U0010ffff": "b", "\U0010ffff": "", "": "", "a\U0010fffe": "a\U0010ffff",
	} {
		end := endOfPrefix(prefix)
		if end != want || !utf8.ValidString(end) {
			t.Errorf("%q: got %q, expected %q", prefix, end, want)
		}
		for _, after := range []string{"", "a", "é", "\U0010ffff"} {
			if end != "" && prefix+after >= end {
				t.Errorf("%q is not before %q", prefix+after, end)
			}
		}
	}
}
