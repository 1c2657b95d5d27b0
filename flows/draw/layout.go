package draw

// How a picture is laid out
//
// Nodes stand in rows below each other, and every link leads down: one that leads
// back up is laid out as if it led down, and drawn with its arrow at the other
// end. Between two rows of nodes is a row for the words of links, so words never
// lie on anything. Where a link passes a row it has a place there like a node has,
// so lines never run through nodes either. The order in each row is chosen for few
// crossings (order.go), and then the places for straight lines (place.go).
//
// All of it is done in whole pixels, in loops whose number is fixed: the same
// flow looks the same each time and everywhere, and a thousand nodes cost no more
// than thirty times what thirty do. A link that would pass many rows is not drawn
// as a line, which nobody could follow: below its node stand its words, and where
// it leads.

import (
	"cmp"
	"slices"
)

// spot is what has its place in a row: a node, the words of a link, or where a
// link passes.
type spot struct {
	row         int
	left, right int // how far it reaches from its middle
	height      int
	x, y        int // its middle, and its upper side
	up, down    []int
	bend        bool // nothing but a link that passes
}

// route is a link, or all those from one node to another, as it is drawn.
type route struct {
	links []link
	from  int // the spot of the node that it leaves
	// spots are those that it passes, downwards; the first and the last are nodes,
	// but that a link to afar ends at its words.
	spots    []int
	words    int // the spot of its words
	upwards  bool
	afar     string // the name of the node it leads to, if no line does
	straight bool   // it has no words: it is that from the start
}

// layout is a picture with its places. The spots of the nodes come first, with
// their numbers; then those of the start and the end.
type layout struct {
	picture       picture
	spots         []spot
	rows          [][]int
	routes        []route
	loops         [][]link // node → the links to itself
	start, finish int
	tops, bottoms []int // row → where it begins and ends
	width, height int
}

// farthest is how many rows a line may pass, those of words among them.
const farthest = 16

func layoutOf(p picture) *layout {
	l := &layout{picture: p, loops: make([][]link, len(p.nodes)), start: len(p.nodes), finish: len(p.nodes) + 1}
	for _, k := range p.links {
		if k.to == k.from {
			l.loops[k.from] = append(l.loops[k.from], k)
		}
	}
	for i, n := range p.nodes {
		l.spots = append(l.spots, n.spot(l.loops[i]))
	}
	l.spots = append(l.spots, pill("start"), pill("end"))
	l.group()
	l.rank()
	for i := range l.routes {
		l.thread(&l.routes[i])
	}
	l.fill()
	l.order()
	l.place()
	return l
}

// group makes the routes: one for all links from one node to another.
func (l *layout) group() {
	l.routes = []route{{from: l.start, spots: []int{l.start, 0}, straight: true}}
	known := map[[2]int]int{}
	for _, k := range l.picture.links {
		to := k.to
		if to == theEnd {
			to = l.finish
		}
		ends := [2]int{k.from, to}
		switch i, ok := known[ends]; {
		case to == k.from: // a loop is drawn with its node
		case ok:
			l.routes[i].links = append(l.routes[i].links, k)
		default:
			known[ends] = len(l.routes)
			l.routes = append(l.routes, route{links: []link{k}, from: k.from, spots: ends[:]})
		}
	}
}

// rank turns the routes that lead back, and gives the nodes their rows: each below
// all that lead on to it. What is back is told by the order in which the author wrote
// the nodes, which is mostly the order in which people come by them, or by that of
// a walk through the flow if fewer links lead back then.
func (l *layout) rank() {
	written := make([]int, len(l.spots))
	for i := range written {
		written[i] = i
	}
	written[l.start] = -1
	order, walked := written, l.walk()
	if l.back(walked) < l.back(written) {
		order = walked
	}
	under := make([][]int, len(l.spots)) // spot → those that a route leads down to
	for i := range l.routes {
		r := &l.routes[i]
		if r.upwards = order[r.spots[1]] < order[r.from]; r.upwards {
			slices.Reverse(r.spots)
		}
		under[r.spots[0]] = append(under[r.spots[0]], r.spots[1])
	}
	spots := make([]int, len(l.spots))
	for i := range spots {
		spots[i] = i
	}
	slices.SortFunc(spots, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
	for i := range l.picture.nodes {
		l.spots[i].row = 2 // below the start
	}
	for _, s := range spots {
		for _, to := range under[s] {
			l.spots[to].row = max(l.spots[to].row, l.spots[s].row+2)
		}
	}
}

// back counts the routes that lead back in an order of spots.
func (l *layout) back(order []int) (n int) {
	for _, r := range l.routes {
		if order[r.spots[1]] < order[r.from] {
			n++
		}
	}
	return n
}

// walk orders the spots so that each comes before all that are first reached by
// way of it (the reverse postorder of a search in depth): but for links that close
// a circle, all lead on.
func (l *layout) walk() []int {
	leaving := make([][]int, len(l.spots))
	for _, r := range l.routes {
		leaving[r.from] = append(leaving[r.from], r.spots[1])
	}
	seen, order, next := make([]bool, len(l.spots)), make([]int, len(l.spots)), len(l.spots)
	var visit func(int)
	visit = func(s int) {
		seen[s] = true
		for _, to := range slices.Backward(leaving[s]) {
			if !seen[to] {
				visit(to)
			}
		}
		next--
		order[s] = next
	}
	visit(l.start) // a compiled flow reaches all of its nodes
	return order
}

// thread gives a route its spots in the rows between its ends, and its words the
// one next to the node that it leaves.
func (l *layout) thread(r *route) {
	top, bottom := r.spots[0], r.spots[1]
	first, last := l.spots[top].row+1, l.spots[bottom].row-1
	if last-first >= farthest {
		r.afar, r.upwards = l.name(r), false
		top, first = r.from, l.spots[r.from].row+1
		last = first
	}
	at := first
	if r.upwards {
		at = last
	}
	r.spots = []int{top}
	for row := first; row <= last; row++ {
		s := spot{row: row, left: 8, right: 8, bend: true}
		if row == at && !r.straight {
			s, r.words = r.box(row), len(l.spots)
		}
		r.spots = append(r.spots, len(l.spots))
		l.spots = append(l.spots, s)
	}
	if r.afar == "" {
		r.spots = append(r.spots, bottom)
	}
	for i, s := range r.spots[1:] {
		above := r.spots[i]
		l.spots[above].down = append(l.spots[above].down, s)
		l.spots[s].up = append(l.spots[s].up, above)
	}
}

// name is that of the node a route leads to.
func (l *layout) name(r *route) string {
	if to := r.links[0].to; to != theEnd {
		return l.picture.nodes[to].id
	}
	return "end"
}

// fill puts the spots into their rows, in the order in which the routes come by
// them from the top.
func (l *layout) fill() {
	seen := make([]bool, len(l.spots))
	var visit func(int)
	visit = func(s int) {
		seen[s] = true
		for len(l.rows) <= l.spots[s].row {
			l.rows = append(l.rows, nil)
		}
		l.rows[l.spots[s].row] = append(l.rows[l.spots[s].row], s)
		for _, next := range l.spots[s].down {
			if !seen[next] {
				visit(next)
			}
		}
	}
	visit(l.start)
	for i := range l.picture.nodes { // all that lead to one may be afar
		if !seen[i] {
			visit(i)
		}
	}
	if l.picture.completes && !seen[l.finish] {
		visit(l.finish)
	}
}
