package draw

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// made makes a picture of n nodes, each reached by an earlier one, and with more
// links to anywhere.
func made(r *rand.Rand, n int) picture {
	p := picture{title: "made", completes: true}
	for i := range n {
		p.nodes = append(p.nodes, box{id: fmt.Sprintf("node-%d", i), kind: "passkey-authenticate"[:r.IntN(20)], last: i > n/2 && r.IntN(8) == 0, standing: standing(r.IntN(4))})
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

// Whatever the flow, nothing lies on anything, all lines lead down and meet in
// neighbouring rows, and every link is drawn.
func TestLayout(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := made(r, 1+r.IntN(60))
		l := layoutOf(p)
		inRows(t, l)
		drawn := 0
		for _, route := range l.routes {
			drawn += len(route.links)
			for i, s := range route.spots[1:] {
				if above := route.spots[i]; l.spots[s].row != l.spots[above].row+1 {
					t.Fatalf("seed %d: a line leads from row %d to row %d", seed, l.spots[above].row, l.spots[s].row)
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

// inRows fails unless each spot stands in its row, in the picture, and beside the
// others.
func inRows(t *testing.T, l *layout) {
	t.Helper()
	n := 0
	for number, row := range l.rows {
		right := margin - sideGap
		for _, s := range row {
			at := l.spots[s]
			if at.row != number || at.x-at.left < right+sideGap || at.x+at.right > l.width-margin {
				t.Fatalf("spot %d in row %d stands at %d of %d pixels, after %d: %+v", s, number, at.x, l.width, right, at)
			}
			if at.y < l.tops[number] || at.y+at.height > l.bottoms[number] || at.y+at.height > l.height {
				t.Fatalf("spot %d reaches out of row %d: %+v", s, number, at)
			}
			right = at.x + at.right
			n++
		}
		if number > 0 && l.tops[number] < l.bottoms[number-1]+below {
			t.Fatalf("row %d begins at %d, the one before ends at %d", number, l.tops[number], l.bottoms[number-1])
		}
	}
	if n != len(l.spots) {
		t.Fatalf("%d of %d spots are in rows", n, len(l.spots))
	}
}

// A link that leads far is named and not drawn: a long flow in which all fail to
// the first node stays as wide as what is in it.
func TestLayoutIsBounded(t *testing.T) {
	p := picture{title: "long", completes: true}
	const n = 1000
	for i := range n {
		p.nodes = append(p.nodes, box{id: fmt.Sprint("node-", i), kind: "prompt"})
		p.links = append(p.links, link{from: i, to: min(i+1, n) % n, outcome: "next"}, link{from: i, to: 0, outcome: "failure"}, link{from: i, to: theEnd, outcome: "leave"})
	}
	l := layoutOf(p)
	inRows(t, l)
	if len(l.spots) > 30*n || l.width > 5000 {
		t.Errorf("%d spots, %d pixels wide", len(l.spots), l.width)
	}
	afar := 0
	for _, r := range l.routes {
		if r.afar != "" {
			afar++
		}
	}
	if afar < n {
		t.Errorf("%d links lead afar", afar)
	}
}

// Links that lead back are few: what the author wrote first stands above, unless
// that order says nothing.
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
		if slices.ContainsFunc(l.routes, func(r route) bool { return r.upwards }) {
			t.Errorf("%v: a link leads back", order)
		}
		for i := range order[1:] {
			if l.spots[order[i]].row >= l.spots[order[i+1]].row || l.spots[order[i]].x != l.spots[order[i+1]].x {
				t.Errorf("%v: %+v", order, l.spots)
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
		{"room for all", []int{0, 50, 90}, []int{1, 1, 1}, []int{0, 10, 10}, []int{0, 50, 90}},
		{"two that push", []int{0, 0}, []int{1, 1}, []int{0, 10}, []int{-5, 5}},
		{"the heavier stays", []int{0, 0}, []int{1, 1000}, []int{0, 10}, []int{-10, 0}},
		{"in the wrong order", []int{100, 0, 0}, []int{1, 1, 1}, []int{0, 10, 10}, []int{23, 33, 43}},
		{"weighted wishes", []int{400, 0}, []int{4, 1}, []int{0, 10}, []int{78, 88}},
	} {
		if got := nearest(tt.want, tt.weight, tt.apart); !slices.Equal(got, tt.place) {
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
