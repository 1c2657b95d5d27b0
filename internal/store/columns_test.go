package store

import (
	"reflect"
	"testing"
	"time"
)

func TestLines(t *testing.T) {
	for _, want := range [][]string{nil, {}, {""}, {"a"}, {"a", "", "b c"}, {"", ""}} {
		kept, err := joinLines(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := list(kept); !reflect.DeepEqual(got, want) {
			t.Errorf("%#v comes back as %#v", want, got)
		}
	}
	if _, err := joinLines([]string{"a\nb"}); err == nil {
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
