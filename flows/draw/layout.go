package draw

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// The layout has layers: a node is below all nodes that lead to it, except where the flow returns to an
// earlier node. Labels have layers of their own between those of the nodes. An edge passes a place of its own
// in each layer between its ends; one of them is that of its label. The places of a layer are ordered by the
// mean of their neighbors in the layer above, then in that below (Sugiyama, 1981), which leaves few crossings.
// Then each moves as near to its neighbors as the others allow, so that long edges are straight.

type point struct{ x, y int }

// edge is a drawn edge: all links between two boxes in the same direction.
type edge struct {
	from, to int
	label    string
	untested bool
	points   []point
	labelAt  point
}

type layout struct {
	at            []point // the centers of the boxes; then that of the end
	edges         []edge
	width, height int
}

// place is a box, a label, or where an edge passes a layer.
type place struct {
	layer, order int
	width        int
	up, down     []int // neighbors in the layers above and below
	weight       float64
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
		places[i] = place{layer: 2 * layers[i], width: boxWidth, weight: 1}
	}
	ways := make([][]int, len(l.edges)) // the places of each edge from its upper end to its lower
	for i, e := range l.edges {
		places, ways[i] = addWay(places, e)
	}
	points := l.arrange(places)
	l.at = points[:n]
	for i := range l.edges {
		l.edges[i].draw(l.at, points, ways[i])
	}
	return l
}

// addWay adds the places of an edge. Its label is next to the box where it begins, where edges from one box
// are apart.
func addWay(places []place, e edge) (all []place, way []int) {
	from, to, label := e.from, e.to, places[e.from].layer+1
	if places[from].layer > places[to].layer {
		from, to, label = to, from, places[e.from].layer-1
	}
	way = []int{from}
	for layer := places[from].layer + 1; layer < places[to].layer; layer++ {
		at := place{layer: layer, weight: straightness}
		if layer == label {
			at.width = labelWidth(e.label)
		}
		places = append(places, at)
		way = append(way, len(places)-1)
	}
	way = append(way, to)
	for k, at := range way[1:] {
		before := way[k]
		places[before].down, places[at].up = append(places[before].down, at), append(places[at].up, before)
	}
	return places, way
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
		label := strings.TrimSpace(withCondition(l) + " " + l.gain)
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

const (
	// passes is how often the layers are ordered, and their places moved.
	passes = 16
	// straightness is the weight of a place on the way of an edge; that of a box is 1.
	straightness = 8
)

// arrange orders and moves the places of each layer and returns their points.
func (l *layout) arrange(places []place) []point {
	var layers [][]int
	for i := range places {
		for len(layers) <= places[i].layer {
			layers = append(layers, nil)
		}
		places[i].order = len(layers[places[i].layer])
		layers[places[i].layer] = append(layers[places[i].layer], i)
	}
	each := func(pass int, do func(layer []int, above bool)) {
		for k := range layers {
			if pass%2 == 1 {
				k = len(layers) - 1 - k
			}
			do(layers[k], pass%2 == 0)
		}
	}
	for pass := range passes {
		each(pass, func(layer []int, above bool) { sortLayer(places, layer, above) })
	}
	x := make([]float64, len(places))
	for pass := range passes {
		each(pass, func(layer []int, above bool) { moveLayer(places, x, layer, above) })
	}
	return l.round(places, x, len(layers))
}

// round returns the points of the places, and sets the size of the drawing.
func (l *layout) round(places []place, x []float64, layers int) []point {
	left, right := math.Inf(1), math.Inf(-1)
	for i, p := range places {
		left, right = min(left, x[i]-float64(p.width)/2), max(right, x[i]+float64(p.width)/2)
	}
	l.width = 2*margin + int(math.Ceil(right-left))
	l.height = 2*margin + boxHeight + (layers-1)*layerDistance
	points := make([]point, len(places))
	for i, p := range places {
		points[i] = point{margin + int(math.Round(x[i]-left)), margin + boxHeight/2 + p.layer*layerDistance}
	}
	return points
}

// neighbors returns those in the layer above, or below.
func (p place) neighbors(above bool) []int {
	if above {
		return p.up
	}
	return p.down
}

// moveLayer moves the places of a layer as near to the mean of their neighbors as their order and widths allow.
func moveLayer(places []place, x []float64, layer []int, above bool) {
	type block struct {
		at, weight float64 // of its first place, without the widths before
		count      int
	}
	var blocks []block
	offsets := make([]float64, len(layer))
	for k, i := range layer {
		if k > 0 {
			offsets[k] = offsets[k-1] + float64(places[layer[k-1]].width+places[i].width)/2 + gapWidth
		}
		want, near := x[i], places[i].neighbors(above)
		for n, other := range near {
			want += (x[other] - want) / float64(n+1)
		}
		b := block{want - offsets[k], places[i].weight, 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].at > b.at { // they overlap, and move together
			last := blocks[len(blocks)-1]
			weight := last.weight + b.weight
			b = block{(last.at*last.weight + b.at*b.weight) / weight, weight, last.count + b.count}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	k := 0
	for _, b := range blocks {
		for range b.count {
			x[layer[k]] = b.at + offsets[k]
			k++
		}
	}
}

// sortLayer sorts a layer by the mean of the neighbors of its places. Those without neighbors stay.
func sortLayer(places []place, layer []int, above bool) {
	mean := map[int]float64{}
	for _, i := range layer {
		near, sum := places[i].neighbors(above), 0
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
// other, each end as near to the next place as the box is wide.
func (e *edge) draw(boxes, points []point, way []int) {
	for k, i := range way {
		at := points[i]
		if k == 0 || k == len(way)-1 || k%2 == 1 {
			e.points = append(e.points, at)
			continue
		}
		e.points = append(e.points, point{at.x, at.y - boxHeight/2}, point{at.x, at.y + boxHeight/2}) // next to boxes
	}
	down := 1
	if boxes[e.from].y > boxes[e.to].y {
		slices.Reverse(e.points)
		down = -1
	}
	first, last := 0, len(e.points)-1
	e.labelAt = e.points[1]
	const reach = boxWidth/2 - 16
	nearTo := func(box, next int) int { return min(max(next, box-reach), box+reach) }
	e.points[first].x = nearTo(e.points[first].x, e.points[1].x)
	e.points[first].y += down * boxHeight / 2
	if e.to == len(boxes)-1 {
		e.points[last].y -= down * endRadius
		return
	}
	e.points[last].x = nearTo(e.points[last].x, e.points[last-1].x)
	e.points[last].y -= down * (boxHeight/2 + 2)
}
