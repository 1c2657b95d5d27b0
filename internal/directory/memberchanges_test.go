package directory

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// TestAudit14ChangedMembers compares resources as the audit log does. A digest is written as #.
func TestAudit14ChangedMembers(t *testing.T) {
	d := &Directory{Options: Options{DigestKey: []byte("key")}}
	type m = map[string]any
	for name, c := range map[string]struct {
		noun    Noun
		old, to any
		want    []string // member: from -> to
	}{
		"nothing":          {Noun{}, m{"a": 1}, m{"a": 1}, nil},
		"a member":         {Noun{}, m{"a": "x", "b": 1}, m{"a": "y", "b": 1}, []string{`a: "x" -> "y"`}},
		"a new resource":   {Noun{}, nil, m{"a": "x", "id": "1", "e": ""}, []string{`a:  -> "x"`}},
		"a deleted one":    {Noun{}, m{"a": m{"b": true}}, nil, []string{`a.b: true -> `}},
		"a list":           {Noun{}, m{"a": []int{1, 2, 3}}, m{"a": []int{3, 4, 1}}, []string{`a: [2] -> [4]`}},
		"an order":         {Noun{}, m{"a": []int{1, 2}}, m{"a": []int{2, 1}}, []string{`a: [1,2] -> [2,1]`}},
		"a single element": {Noun{}, m{singleList: []m{{"b": 1, "c": 2}}}, m{singleList: []m{{"b": 1, "c": 3}}}, []string{`inboundAuthConfig[0].c: 2 -> 3`}},
		"a secret":         {Noun{}, m{"o": m{"secretDigest": "x"}}, m{"o": m{"secretDigest": "y"}}, []string{`o.secretDigest: # -> #`}},
		"a user":           {Noun{isUser: true}, m{"status": "active", "attributes": m{"email": "a"}}, m{"status": "disabled", "attributes": m{"email": "b"}}, []string{`attributes.email: # -> #`, `status: "active" -> "disabled"`}},
		"a long value":     {Noun{}, m{"a": "x"}, m{"a": strings.Repeat("x", maxChangedValue)}, []string{`a: "x" -> #`}},
	} {
		var got []string
		for _, change := range d.memberChanges(c.noun, c.old, c.to) {
			got = append(got, change.Member+": "+withoutDigest(change.From)+" -> "+withoutDigest(change.To))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, expected %q", name, got, c.want)
		}
	}
	many := m{}
	for i := range 100 {
		many[strings.Repeat("a", i+1)] = 1
	}
	if n := len(d.memberChanges(Noun{}, m{}, many)); n != maxChangedMembers+1 {
		t.Errorf("got %d changes of 100, expected %d and the note that there are more", n, maxChangedMembers)
	}
	user := Noun{isUser: true}
	same := d.memberChanges(user, m{"attributes": m{"a": "x", "b": "y"}}, m{"attributes": m{"a": "y", "b": "x"}})
	if same[0].From != same[1].To || same[0].From == same[0].To {
		t.Errorf("got the digests %v, expected equal ones for equal values", same)
	}
}

func withoutDigest(value string) string {
	if strings.HasPrefix(value, "hmac:") && len(value) > 20 {
		return "#"
	}
	return value
}

// TestAudit14EventsHaveChanges changes resources and reads the events.
func TestAudit14EventsHaveChanges(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		_, err := h.AddMember(t.Context(), SystemCall(), h.ids["group"], h.other())
		must(t, err)
		events, err := h.store.Events(t.Context(), schemas.EventQuery{Limit: 1, ResourceID: h.ids["group"]})
		must(t, err)
		if len(events) != 1 || len(events[0].Changes) != 1 || !strings.Contains(events[0].Changes[0].To, h.other().ID) || events[0].Changes[0].From != "" {
			t.Errorf("got the event %+v, expected the added member %s", events, h.other().ID)
		}
	})
}
