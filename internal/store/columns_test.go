package store

import (
	"reflect"
	"testing"
	"time"
)

func TestLines(t *testing.T) {
	for _, want := range [][]string{nil, {}, {""}, {"a"}, {"a", "", "b c"}, {"", ""}} {
		kept, err := (*lines)(&want).Value()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := (*lines)(&got).Scan(kept); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%#v comes back as %#v (%v)", want, got, err)
		}
	}
	if _, err := (&lines{"a\nb"}).Value(); err == nil {
		t.Error("a word of two lines was kept")
	}
}

func TestMoment(t *testing.T) {
	for _, want := range []time.Time{{}, time.Unix(0, 0).UTC(), time.Date(2026, 2, 29, 1, 2, 3, 456789000, time.UTC)} {
		if got := fromMicros(toMicros(want)); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%v comes back as %v", want, got)
		}
	}
}
