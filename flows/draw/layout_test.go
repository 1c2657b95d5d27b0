package draw

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// made returns a picture of n nodes, each reached from an earlier one, with additional random
// links.
func made(r *rand.Rand, n int) picture {
	p := picture{title: "made", completes: true}
	for i := range n {
		p.nodes = append(p.nodes, box{id: fmt.Sprintf("node-%d", i), kind: "passkey-authenticate"[:r.IntN(20)], terminal: i > n/2 && r.IntN(8) == 0, user: userState(r.IntN(4))})
		if i > 0 {
			p.links = append(p.links, link{from: r.IntN(i), to: i, outcome: "success", gain: "✓ authenticated"})
		}
		for range r.IntN(3) {
			p.links = append(p.links, link{from: i, to: r.IntN(n+1) - 1, outcome: "another"})
		}
		if r.IntN(5) == 0 {
			p.links = append(p.links, link{from: i, to: i, outcome: "failure", retry: true})
		}
	}
	return p
}

// In any flow, nothing overlaps, all lines lead down between neighboring rows, and every link is
// drawn.
func TestLayout(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := made(r, 1+r.IntN(60))
		l := layoutOf(p)
		inRows(t, l)
		drawn := 0
		for _, route := range l.routes {
			drawn += len(route.links)
			for i, s := range route.cells[1:] {
				if upper := route.cells[i]; l.cells[s].row != l.cells[upper].row+1 {
					t.Fatalf("seed %d: a line leads from row %d to row %d", seed, l.cells[upper].row, l.cells[s].row)
				}
			}
		}
		for _, loops := range l.loops {
			drawn += len(loops)
		}
		if drawn != len(p.links) {
			t.Fatalf("seed %d: %d of %d links are drawn", seed, drawn, len(p.links))
		}
	}
}

// inRows fails unless each cell stands in its row, within the picture, and next to the others.
func inRows(t *testing.T, l *layout) {
	t.Helper()
	n := 0
	for number, row := range l.rows {
		right := margin - sideGap
		for _, s := range row {
			at := l.cells[s]
			if at.row != number || at.x-at.left < right+sideGap || at.x+at.right > l.width-margin {
				t.Fatalf("spot %d in row %d stands at %d of %d pixels, after %d: %+v", s, number, at.x, l.width, right, at)
			}
			if at.y < l.tops[number] || at.y+at.height > l.bottoms[number] || at.y+at.height > l.height {
				t.Fatalf("spot %d reaches out of row %d: %+v", s, number, at)
			}
			right = at.x + at.right
			n++
		}
		if number > 0 && l.tops[number] < l.bottoms[number-1]+rowGap {
			t.Fatalf("row %d begins at %d, the one before ends at %d", number, l.tops[number], l.bottoms[number-1])
		}
	}
	if n != len(l.cells) {
		t.Fatalf("%d of %d spots are in rows", n, len(l.cells))
	}
}

// A long link is named instead of drawn: a long flow in which all nodes fail to the first one
// stays as narrow as its content.
func TestLayoutIsBounded(t *testing.T) {
	p := picture{title: "long", completes: true}
	const n = 1000
	for i := range n {
		p.nodes = append(p.nodes, box{id: fmt.Sprint("node-", i), kind: "prompt"})
		p.links = append(p.links, link{from: i, to: min(i+1, n) % n, outcome: "next"}, link{from: i, to: 0, outcome: "failure"}, link{from: i, to: endBox, outcome: "leave"})
	}
	l := layoutOf(p)
	inRows(t, l)
	if len(l.cells) > 30*n || l.width > 5000 {
		t.Errorf("%d spots, %d pixels wide", len(l.cells), l.width)
	}
	afar := 0
	for _, r := range l.routes {
		if r.farTarget != "" {
			afar++
		}
	}
	if afar < n {
		t.Errorf("%d links lead afar", afar)
	}
}

// Few links lead back: the definition's order decides, unless a search finds a better one.
func TestLayoutLeadsDown(t *testing.T) {
	chain := func(order ...int) picture { // node order[i] leads to order[i+1]
		p := picture{nodes: make([]box, len(order))}
		for i := range order[1:] {
			p.links = append(p.links, link{from: order[i], to: order[i+1], outcome: "next"})
		}
		return p
	}
	for _, order := range [][]int{{0, 1, 2, 3}, {0, 3, 2, 1}, {0, 2, 1, 3}} {
		l := layoutOf(chain(order...))
		if slices.ContainsFunc(l.routes, func(r route) bool { return r.reversed }) {
			t.Errorf("%v: a link leads back", order)
		}
		for i := range order[1:] {
			if l.cells[order[i]].row >= l.cells[order[i+1]].row || l.cells[order[i]].x != l.cells[order[i+1]].x {
				t.Errorf("%v: %+v", order, l.cells)
			}
		}
	}
}

func TestInversions(t *testing.T) {
	for _, tt := range []struct {
		list []int
		want int
	}{{nil, 0}, {[]int{1}, 0}, {[]int{0, 1, 2}, 0}, {[]int{2, 1, 0}, 3}, {[]int{1, 1, 0, 0}, 4}, {[]int{0, 3, 1, 2}, 2}} {
		if got := inversions(tt.list); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.list, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, tt := range []struct {
		name                       string
		want, weight, apart, place []int
	}{
		{"space for all", []int{0, 50, 90}, []int{1, 1, 1}, []int{0, 10, 10}, []int{0, 50, 90}},
		{"two that push", []int{0, 0}, []int{1, 1}, []int{0, 10}, []int{-5, 5}},
		{"the heavier stays", []int{0, 0}, []int{1, 1000}, []int{0, 10}, []int{-10, 0}},
		{"in the wrong order", []int{100, 0, 0}, []int{1, 1, 1}, []int{0, 10, 10}, []int{23, 33, 43}},
		{"weighted wishes", []int{400, 0}, []int{4, 1}, []int{0, 10}, []int{78, 88}},
	} {
		if got := placeInOrder(tt.want, tt.weight, tt.apart); !slices.Equal(got, tt.place) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.place)
		}
	}
}

func BenchmarkLayout(b *testing.B) {
	for _, n := range []int{30, 1000} {
		p := made(rand.New(rand.NewPCG(1, 1)), n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				layoutOf(p)
			}
		})
	}
}
