package simulation_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/postern-id/postern/internal/simulation"
)

// access is a call of a register: a write of a value, or a read that returned it. A lost write has
// no reply.
type access struct {
	write, lost bool
	value       int
}

func stepRegister(value int, a access) []int {
	switch {
	case a.lost:
		return []int{value, a.value}
	case a.write:
		return []int{a.value}
	case value == a.value:
		return []int{value}
	}
	return nil
}

func TestLinearize(t *testing.T) {
	type call = simulation.Call[access]
	write := func(start, end, v int) call { return call{start, end, access{write: true, value: v}} }
	read := func(start, end, v int) call { return call{start, end, access{value: v}} }
	lost := func(start, end, v int) call { return call{start, end, access{lost: true, value: v}} }
	for name, test := range map[string]struct {
		calls []call
		want  []int
	}{
		"nothing":                                {nil, []int{0}},
		"one after the other":                    {[]call{write(1, 2, 5), read(3, 4, 5)}, []int{5}},
		"an old value after a write":             {[]call{write(1, 2, 5), read(3, 4, 0)}, nil},
		"an old value during a write":            {[]call{write(1, 4, 5), read(2, 3, 0)}, []int{5}},
		"a new value during a write":             {[]call{write(1, 4, 5), read(2, 3, 5)}, []int{5}},
		"back to the old value during a write":   {[]call{write(1, 6, 5), read(2, 3, 5), read(4, 5, 0)}, nil},
		"two writes in an unknown order":         {[]call{write(1, 3, 5), write(2, 4, 6)}, []int{5, 6}},
		"two writes, and a read tells the order": {[]call{write(1, 3, 5), write(2, 4, 6), read(5, 6, 5)}, []int{5}},
		"a lost write":                           {[]call{lost(1, 2, 5)}, []int{0, 5}},
		"a lost write that took effect":          {[]call{lost(1, 2, 5), read(3, 4, 5)}, []int{5}},
		"a lost write that did not":              {[]call{lost(1, 2, 5), read(3, 4, 0)}, []int{0}},
		"a lost write that took effect late":     {[]call{lost(1, 2, 5), read(3, 4, 0), read(5, 6, 5)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := simulation.Linearize([]int{0}, test.calls, stepRegister, strconv.Itoa)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %v, %v, expected %v", got, err, test.want)
			}
		})
	}
}

func TestLinearizeLimits(t *testing.T) {
	if _, err := simulation.Linearize([]int{0}, make([]simulation.Call[access], 65), stepRegister, strconv.Itoa); err == nil {
		t.Error("65 concurrent calls were accepted")
	}
}
