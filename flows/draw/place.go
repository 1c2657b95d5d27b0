package draw

import (
	"math"
	"slices"
)

// Distances, in pixels.
const (
	margin  = 16
	sideGap = 20 // between cells of a row
	rowGap  = 20 // between rows, at least
)

// placements is the number of passes over the rows, alternately downwards and upwards.
const placements = 24

// placeCells sets the position of every cell: rows from top to bottom, and in each row the cells
// where their lines are as straight as possible.
func (l *layout) placeCells() {
	for _, row := range l.rows {
		x := 0
		for _, s := range row {
			x += l.cells[s].left
			l.cells[s].x = x
			x += l.cells[s].right + sideGap
		}
	}
	for i := range placements {
		l.sweep(i, func(row []int, on side) {
			if i < placements-2 {
				l.placeRow(row, on)
			} else {
				l.placeRow(row, above, below)
			}
		})
	}
	least := l.cells[l.start].x
	for _, row := range l.rows {
		for _, s := range row {
			least = min(least, l.cells[s].x-l.cells[s].left)
		}
	}
	for i := range l.cells {
		l.cells[i].x += margin - least
	}
	l.stackRows()
}

// port returns the horizontal offset at which a line meets a cell: the lines on a side are
// spread over it.
func (c *cell) port(other int, on side) int {
	lines := c.near[on]
	if c.passing || len(lines) < 2 {
		return 0
	}
	half := c.left // the part to the right of a node may be its loops
	return 2*half*(slices.Index(lines, other)+1)/(len(lines)+1) - half
}

// placeRow moves the cells of a row to where their lines to the rows above, below or both are as
// straight as possible. Lines without a label weigh more, because a bend in them means nothing.
// Nodes are pulled slightly towards the column of the start: otherwise a long flow would drift
// to one side with all of its lines straight.
func (l *layout) placeRow(row []int, sides ...side) {
	want, weight, apart := make([]int, len(row)), make([]int, len(row)), make([]int, len(row))
	for i, s := range row {
		me := &l.cells[s]
		if i > 0 {
			apart[i] = l.cells[row[i-1]].right + sideGap + me.left
		}
		for _, on := range sides {
			for _, other := range me.near[on] {
				you := &l.cells[other]
				heavy := 1
				if me.passing {
					heavy *= 4
				}
				if you.passing {
					heavy *= 4
				}
				want[i] += heavy * (you.x + you.port(s, on.opposite()) - me.port(other, on))
				weight[i] += heavy
			}
		}
		if s <= l.finish { // a node, which also aligns with the start
			want[i], weight[i] = 4*want[i]+l.cells[l.start].x, 4*weight[i]+1
		} else if weight[i] == 0 {
			want[i], weight[i] = me.x, 1
		}
	}
	for i, x := range placeInOrder(want, weight, apart) {
		l.cells[row[i]].x = x
	}
}

// placeInOrder returns ascending positions, each at least apart[i] from the previous one, with
// the least sum of weighted squared distances from want/weight: neighbors that push each other
// are pooled and move together (isotonic regression).
func placeInOrder(want, weight, apart []int) []int {
	type pool struct{ want, weight, n int }
	var pools []pool
	mean := func(p pool) int { return int(math.Floor(float64(p.want)/float64(p.weight) + 0.5)) }
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

// stackRows places the rows from top to bottom, farther apart where lines are long horizontally.
func (l *layout) stackRows() {
	y := margin + titleHeight
	for _, row := range l.rows {
		tall, far := 0, 0
		for _, s := range row {
			tall = max(tall, l.cells[s].height)
			for _, next := range l.cells[s].near[below] {
				far = max(far, l.cells[next].x-l.cells[s].x, l.cells[s].x-l.cells[next].x)
			}
			l.width = max(l.width, l.cells[s].x+l.cells[s].right+margin)
		}
		for _, s := range row {
			l.cells[s].y = y + (tall-l.cells[s].height)/2
		}
		l.tops, l.bottoms = append(l.tops, y), append(l.bottoms, y+tall)
		y += tall + min(rowGap+far/14, 3*rowGap)
	}
	l.height = l.bottoms[len(l.bottoms)-1] + margin
}
