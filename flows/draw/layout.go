package draw

// Layout
//
// Nodes stand in rows, and every link leads down: a link to a higher row is laid out as if it
// led down, and drawn with its arrow at the other end. Between two rows of nodes is a row for
// the labels of links, so labels never overlap anything. A link that crosses a row has a cell
// there like a node, so lines never cross nodes. The cells of each row are ordered for few
// crossings (order.go) and then placed for straight lines (place.go).
//
// The layout uses whole pixels and a fixed number of iterations. The same flow looks the same
// each time and everywhere, and a thousand nodes cost no more than thirty times what thirty
// nodes do. A link across many rows is not drawn as a line, which readers could not follow: its label
// and the name of its target stand below its node.

import (
	"cmp"
	"slices"
)

// cell is the place of something in a row: a node, the label of a link, or a link that crosses
// the row.
type cell struct {
	row         int
	left, right int // the extent to both sides of its center
	height      int
	x, y        int      // its center and its upper edge
	near        [2][]int // the cells that lines lead to, by side
	position    int      // in its row
	passing     bool     // only a link that crosses the row
}

// side is a side of a cell.
type side int

const (
	above side = iota
	below
)

func (s side) opposite() side { return 1 - s }

// route is all links from one node to another, drawn as one line.
type route struct {
	links []link
	from  int // the cell of the node that it leaves
	// cells are the cells on the line, downwards. The first and the last are nodes; a route with
	// a farTarget ends at its label.
	cells     []int
	labelAt   int // the cell of its label
	reversed  bool
	farTarget string // the name of its target, if no line leads there
	unlabeled bool   // the line from the start, which has no label
}

// layout is a picture with positions. The cells of the nodes come first, by index; then those of
// the start and the end.
type layout struct {
	picture       picture
	cells         []cell
	rows          [][]int
	routes        []route
	loops         [][]link // the links of a node to itself, by node
	start, finish int
	tops, bottoms []int // the upper and the lower edge of each row
	width, height int
}

// maxSpan is the number of rows that a line may cross, including rows of labels.
const maxSpan = 16

func layoutOf(p picture) *layout {
	l := &layout{picture: p, loops: make([][]link, len(p.nodes)), start: len(p.nodes), finish: len(p.nodes) + 1}
	for _, k := range p.links {
		if k.to == k.from {
			l.loops[k.from] = append(l.loops[k.from], k)
		}
	}
	for i, n := range p.nodes {
		l.cells = append(l.cells, n.cell(l.loops[i]))
	}
	l.cells = append(l.cells, terminalCell("start"), terminalCell("end"))
	l.buildRoutes()
	l.assignRows()
	for i := range l.routes {
		l.addCells(&l.routes[i])
	}
	l.fillRows()
	l.orderRows()
	l.placeCells()
	return l
}

// buildRoutes creates one route for all links from one node to another.
func (l *layout) buildRoutes() {
	l.routes = []route{{from: l.start, cells: []int{l.start, 0}, unlabeled: true}}
	known := map[[2]int]int{}
	for _, k := range l.picture.links {
		to := k.to
		if to == endBox {
			to = l.finish
		}
		ends := [2]int{k.from, to}
		switch i, ok := known[ends]; {
		case to == k.from: // a loop is drawn with its node
		case ok:
			l.routes[i].links = append(l.routes[i].links, k)
		default:
			known[ends] = len(l.routes)
			l.routes = append(l.routes, route{links: []link{k}, from: k.from, cells: ends[:]})
		}
	}
}

// assignRows reverses the routes that lead back, and puts each node below all nodes that lead to
// it. The order in the definition decides what leads back, which is mostly the order in which
// users meet the nodes, or the order of a depth-first search if fewer links lead back then.
func (l *layout) assignRows() {
	written := make([]int, len(l.cells))
	for i := range written {
		written[i] = i
	}
	written[l.start] = -1
	order, walked := written, l.depthFirstOrder()
	if l.countReversed(walked) < l.countReversed(written) {
		order = walked
	}
	under := make([][]int, len(l.cells)) // cells that a route leads down to, by cell
	for i := range l.routes {
		r := &l.routes[i]
		if r.reversed = order[r.cells[1]] < order[r.from]; r.reversed {
			slices.Reverse(r.cells)
		}
		under[r.cells[0]] = append(under[r.cells[0]], r.cells[1])
	}
	spots := make([]int, len(l.cells))
	for i := range spots {
		spots[i] = i
	}
	slices.SortFunc(spots, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
	for i := range l.picture.nodes {
		l.cells[i].row = 2 // below the start
	}
	for _, s := range spots {
		for _, to := range under[s] {
			l.cells[to].row = max(l.cells[to].row, l.cells[s].row+2)
		}
	}
}

// countReversed counts the routes that lead back in an order of cells.
func (l *layout) countReversed(order []int) (n int) {
	for _, r := range l.routes {
		if order[r.cells[1]] < order[r.from] {
			n++
		}
	}
	return n
}

// depthFirstOrder returns the reverse postorder of a depth-first search: only links that close a
// cycle lead back.
func (l *layout) depthFirstOrder() []int {
	leaving := make([][]int, len(l.cells))
	for _, r := range l.routes {
		leaving[r.from] = append(leaving[r.from], r.cells[1])
	}
	seen, order, next := make([]bool, len(l.cells)), make([]int, len(l.cells)), len(l.cells)
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

// addCells creates the cells of a route in the rows between its ends. The label is in the row
// next to the node that the route leaves.
func (l *layout) addCells(r *route) {
	top, bottom := r.cells[0], r.cells[1]
	first, last := l.cells[top].row+1, l.cells[bottom].row-1
	if last-first >= maxSpan {
		r.farTarget, r.reversed = l.targetName(r), false
		top, first = r.from, l.cells[r.from].row+1
		last = first
	}
	at := first
	if r.reversed {
		at = last
	}
	r.cells = []int{top}
	for row := first; row <= last; row++ {
		s := cell{row: row, left: 8, right: 8, passing: true}
		if row == at && !r.unlabeled {
			s, r.labelAt = r.labelCell(row), len(l.cells)
		}
		r.cells = append(r.cells, len(l.cells))
		l.cells = append(l.cells, s)
	}
	if r.farTarget == "" {
		r.cells = append(r.cells, bottom)
	}
	for i, s := range r.cells[1:] {
		upper := r.cells[i]
		l.cells[upper].near[below] = append(l.cells[upper].near[below], s)
		l.cells[s].near[above] = append(l.cells[s].near[above], upper)
	}
}

// targetName returns the name of the node that a route leads to.
func (l *layout) targetName(r *route) string {
	if to := r.links[0].to; to != endBox {
		return l.picture.nodes[to].id
	}
	return "end"
}

// fillRows puts the cells into their rows, in the order of a depth-first search from the top.
func (l *layout) fillRows() {
	seen := make([]bool, len(l.cells))
	var visit func(int)
	visit = func(s int) {
		seen[s] = true
		for len(l.rows) <= l.cells[s].row {
			l.rows = append(l.rows, nil)
		}
		l.rows[l.cells[s].row] = append(l.rows[l.cells[s].row], s)
		for _, next := range l.cells[s].near[below] {
			if !seen[next] {
				visit(next)
			}
		}
	}
	visit(l.start)
	for i := range l.picture.nodes { // every link to a node may be a long one
		if !seen[i] {
			visit(i)
		}
	}
	if l.picture.completes && !seen[l.finish] {
		visit(l.finish)
	}
}
