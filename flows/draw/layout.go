package draw

import (
	"cmp"
	"slices"
	"strings"
)

// The layout has layers: a node is below all nodes that lead to it, except where the flow returns to an
// earlier node. An edge that crosses layers passes a place of its own in each. The places of a layer are
// ordered by the mean of their neighbors in the layer above, then in that below (Sugiyama, 1981), which
// leaves few crossings.

type point struct{ x, y int }

// edge is a drawn edge: all links between two boxes in the same direction.
type edge struct {
	from, to int
	label    string
	untested bool
	points   []point
}

// labelAt returns the place of the label: near the start, where edges from one box are apart.
func (e *edge) labelAt() point {
	a, b := e.points[0], e.points[1]
	return point{(2*a.x + 3*b.x) / 5, a.y + (b.y-a.y)*2/5 + 4}
}

type layout struct {
	at            []point // the centers of the boxes; then that of the end
	edges         []edge
	width, height int
}

// place is a box, or where an edge passes a layer.
type place struct {
	layer, order int
	up, down     []int // neighbors in the layers above and below
}

func layOut(p picture) layout {
	n := len(p.nodes) + 1 // the last is the end
	l := layout{edges: mergedEdges(p)}
	next := make([][]int, n)
	for _, e := range l.edges {
		next[e.from] = append(next[e.from], e.to)
	}
	layers := layersOf(next)
	places := make([]place, n)
	for i := range places {
		places[i].layer = layers[i]
	}
	ways := make([][]int, len(l.edges)) // the places of each edge from its upper end to its lower
	for i, e := range l.edges {
		from, to := e.from, e.to
		if layers[from] > layers[to] {
			from, to = to, from
		}
		ways[i] = []int{from}
		for layer := layers[from] + 1; layer < layers[to]; layer++ {
			places = append(places, place{layer: layer})
			ways[i] = append(ways[i], len(places)-1)
		}
		ways[i] = append(ways[i], to)
		for k, at := range ways[i][1:] {
			before := ways[i][k]
			places[before].down, places[at].up = append(places[before].down, at), append(places[at].up, before)
		}
	}
	points := l.arrange(places)
	l.at = points[:n]
	for i := range l.edges {
		l.edges[i].draw(l.at, points, ways[i])
	}
	return l
}

// mergedEdges joins the links between the same boxes. A link to the box itself is not drawn.
func mergedEdges(p picture) (edges []edge) {
	for _, l := range p.links {
		to := l.to
		if to == endBox {
			to = len(p.nodes)
		}
		if l.from == to {
			continue
		}
		label := strings.TrimSpace(l.outcome + " " + l.gain)
		i := slices.IndexFunc(edges, func(e edge) bool { return e.from == l.from && e.to == to })
		if i < 0 {
			edges = append(edges, edge{from: l.from, to: to, label: label, untested: l.untested})
			continue
		}
		edges[i].label = strings.TrimPrefix(edges[i].label+", "+label, ", ")
		edges[i].untested = edges[i].untested && l.untested
	}
	return edges
}

// layersOf returns the layer of each node: the length of the longest path to it without edges that
// return to a node on the way.
func layersOf(next [][]int) []int {
	const unseen, active, done = 0, 1, 2
	state, layers := make([]int, len(next)), make([]int, len(next))
	var order []int
	type back struct{ from, to int }
	returns := map[back]bool{}
	var visit func(i int)
	visit = func(i int) {
		state[i] = active
		for _, to := range next[i] {
			switch state[to] {
			case unseen:
				visit(to)
			case active:
				returns[back{i, to}] = true
			}
		}
		state[i] = done
		order = append(order, i)
	}
	for i := range next {
		if state[i] == unseen {
			visit(i)
		}
	}
	for _, i := range slices.Backward(order) {
		for _, to := range next[i] {
			if !returns[back{i, to}] {
				layers[to] = max(layers[to], layers[i]+1)
			}
		}
	}
	return layers
}

// passes is how often the layers are ordered.
const passes = 6

// arrange orders the places of each layer and returns their points.
func (l *layout) arrange(places []place) []point {
	var layers [][]int
	for i := range places {
		for len(layers) <= places[i].layer {
			layers = append(layers, nil)
		}
		places[i].order = len(layers[places[i].layer])
		layers[places[i].layer] = append(layers[places[i].layer], i)
	}
	for pass := range passes {
		for k := range layers {
			layer := layers[k]
			if pass%2 == 1 {
				layer = layers[len(layers)-1-k]
			}
			sortLayer(places, layer, pass%2 == 0)
		}
	}
	widest := 0
	for _, layer := range layers {
		widest = max(widest, len(layer))
	}
	l.width = 2*margin + widest*boxWidth + max(widest-1, 0)*gapWidth
	l.height = 2*margin + len(layers)*boxHeight + max(len(layers)-1, 0)*gapHeight
	points := make([]point, len(places))
	for k, layer := range layers {
		left := margin + (widest-len(layer))*(boxWidth+gapWidth)/2 + boxWidth/2
		for i, at := range layer {
			points[at] = point{left + i*(boxWidth+gapWidth), margin + boxHeight/2 + k*(boxHeight+gapHeight)}
		}
	}
	return points
}

// sortLayer sorts a layer by the mean of the neighbors of its places. Those without neighbors stay.
func sortLayer(places []place, layer []int, above bool) {
	mean := map[int]float64{}
	for _, i := range layer {
		near := places[i].down
		if above {
			near = places[i].up
		}
		sum := 0
		for _, n := range near {
			sum += places[n].order
		}
		mean[i] = float64(places[i].order)
		if len(near) > 0 {
			mean[i] = float64(sum) / float64(len(near))
		}
	}
	slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	for k, i := range layer {
		places[i].order = k
	}
}

// draw sets the points of an edge: from the border of its box through its places to the border of the
// other. An edge that leads up leaves at the sides, so that it does not cover the one that leads down.
func (e *edge) draw(boxes, points []point, way []int) {
	for _, i := range way {
		e.points = append(e.points, points[i])
	}
	down := 1
	if boxes[e.from].y > boxes[e.to].y {
		slices.Reverse(e.points)
		down = -1
		e.points[0].x += boxWidth / 4
		e.points[len(e.points)-1].x += boxWidth / 4
	}
	e.points[0].y += down * boxHeight / 2
	end := boxHeight/2 + 2
	if e.to == len(boxes)-1 {
		end = 12
	}
	e.points[len(e.points)-1].y -= down * end
}
