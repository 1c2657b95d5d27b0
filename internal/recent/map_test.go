package recent

import "testing"

func TestMap(t *testing.T) {
	m := Map[int, string]{Limit: 6}
	if _, found := m.Find(0); found {
		t.Error("an empty map has a value")
	}
	for i := range 100 {
		m.Put(i, "value")
		if v, found := m.Find(i); !found || v != "value" {
			t.Fatalf("the value that was put last: %q %v", v, found)
		}
		if v, found := m.Find(0); !found || v != "value" {
			t.Fatalf("a value that is used all the time, after %d others: %q %v", i, v, found)
		}
		if held := len(m.recent) + len(m.former); held > m.Limit {
			t.Fatalf("%d values, the limit is %d", held, m.Limit)
		}
	}
	if _, found := m.Find(50); found {
		t.Error("a value that was not used for long is still there")
	}
}
