package draw

import "slices"

// Distances, in pixels.
const (
	margin  = 16
	sideGap = 20 // between spots of a row
	below   = 20 // between rows, at least
)

// placings is how often all rows are placed anew: downwards, upwards, and so on.
const placings = 24

// place gives every spot its place: rows from top to bottom, and in each row the
// spots as near as can be to where their lines are straight.
func (l *layout) place() {
	for _, row := range l.rows {
		x := 0
		for _, s := range row {
			x += l.spots[s].left
			l.spots[s].x = x
			x += l.spots[s].right + sideGap
		}
	}
	for i := range placings {
		for j := range l.rows {
			switch last := i >= placings-2; {
			case i%2 == 0:
				l.settle(l.rows[j], true, last)
			default:
				l.settle(l.rows[len(l.rows)-1-j], last, true)
			}
		}
	}
	least := l.spots[l.start].x
	for _, row := range l.rows {
		for _, s := range row {
			least = min(least, l.spots[s].x-l.spots[s].left)
		}
	}
	for i := range l.spots {
		l.spots[i].x += margin - least
	}
	l.stack()
}

// port is where a line meets a spot, from its middle: the lines at a side are
// spread over it.
func (s *spot) port(other int, above bool) int {
	lines := s.down
	if above {
		lines = s.up
	}
	if s.bend || len(lines) < 2 {
		return 0
	}
	half := s.left // what is right of a node may be its loops
	return 2*half*(slices.Index(lines, other)+1)/(len(lines)+1) - half
}

// settle moves the spots of a row to where their lines to the rows above, below
// or both are straight, or as near as the others let them. Lines that only pass
// count more, for there a bend says nothing. Nodes are drawn a little to below the
// start: else a long flow would wander off to a side, all of its lines straight.
func (l *layout) settle(row []int, above, under bool) {
	want, weight, apart := make([]int, len(row)), make([]int, len(row)), make([]int, len(row))
	for i, s := range row {
		me := &l.spots[s]
		if i > 0 {
			apart[i] = l.spots[row[i-1]].right + sideGap + me.left
		}
		pull := func(lines []int, up bool) {
			for _, other := range lines {
				heavy := 1
				if me.bend {
					heavy *= 4
				}
				if l.spots[other].bend {
					heavy *= 4
				}
				want[i] += heavy * (l.spots[other].x + l.spots[other].port(s, !up) - me.port(other, up))
				weight[i] += heavy
			}
		}
		if above {
			pull(me.up, true)
		}
		if under {
			pull(me.down, false)
		}
		if s <= l.finish { // a node, which also wants to stand in line with the start
			want[i], weight[i] = 4*want[i]+l.spots[l.start].x, 4*weight[i]+1
		} else if weight[i] == 0 {
			want[i], weight[i] = me.x, 1
		}
	}
	for i, x := range nearest(want, weight, apart) {
		l.spots[row[i]].x = x
	}
}

// nearest returns places in order, each at least apart[i] from the one before,
// with the least sum of weighted squares of their distances from want/weight:
// neighbours that push each other are pooled and move as one.
func nearest(want, weight, apart []int) []int {
	type pool struct{ want, weight, n int }
	var pools []pool
	mean := func(p pool) int { return round(p.want, p.weight) }
	shift := 0
	shifts := make([]int, len(want))
	for i := range want {
		shift += apart[i]
		shifts[i] = shift
		pools = append(pools, pool{want[i] - shift*weight[i], weight[i], 1})
		for k := len(pools) - 1; k > 0 && mean(pools[k-1]) > mean(pools[k]); k-- {
			pools[k-1].want += pools[k].want
			pools[k-1].weight += pools[k].weight
			pools[k-1].n += pools[k].n
			pools = pools[:k]
		}
	}
	var places []int
	for _, p := range pools {
		for range p.n {
			places = append(places, mean(p)+shifts[len(places)])
		}
	}
	return places
}

// round divides to the nearest whole number, whatever the sign.
func round(a, b int) int {
	a = 2*a + b
	q := a / (2 * b)
	if a%(2*b) < 0 {
		q--
	}
	return q
}

// stack places the rows below each other, farther apart where lines go far aside.
func (l *layout) stack() {
	y := margin + titleHeight
	for _, row := range l.rows {
		tall, far := 0, 0
		for _, s := range row {
			tall = max(tall, l.spots[s].height)
			for _, next := range l.spots[s].down {
				far = max(far, l.spots[next].x-l.spots[s].x, l.spots[s].x-l.spots[next].x)
			}
			l.width = max(l.width, l.spots[s].x+l.spots[s].right+margin)
		}
		for _, s := range row {
			l.spots[s].y = y + (tall-l.spots[s].height)/2
		}
		l.tops, l.bottoms = append(l.tops, y), append(l.bottoms, y+tall)
		y += tall + min(below+far/14, 3*below)
	}
	l.height = l.bottoms[len(l.bottoms)-1] + margin
}
