package draw

import (
	"cmp"
	"slices"
)

// How often rows are ordered anew: fewer times in large pictures.
const (
	sweeps     = 24
	sweepSpots = 200_000 // spots that all sweeps together may look at
)

// order orders the rows, downwards and upwards in turns: each spot goes to the
// middle of those it is linked to in the row before. The order with the fewest
// crossings stays.
func (l *layout) order() {
	position := make([]int, len(l.spots))
	l.number(position)
	best, fewest := l.copyRows(), l.crossings(position)
	for i := range min(sweeps, 2+sweepSpots/len(l.spots)) {
		down := i%2 == 0
		for j := range l.rows {
			if !down {
				j = len(l.rows) - 1 - j
			}
			l.sort(l.rows[j], position, down)
		}
		if n := l.crossings(position); n < fewest {
			best, fewest = l.copyRows(), n
		}
	}
	l.rows = best
	l.number(position)
	for i := range l.spots {
		s := &l.spots[i]
		byPosition := func(a, b int) int { return cmp.Compare(position[a], position[b]) }
		slices.SortFunc(s.up, byPosition)
		slices.SortFunc(s.down, byPosition)
	}
}

func (l *layout) number(position []int) {
	for _, row := range l.rows {
		for i, s := range row {
			position[s] = i
		}
	}
}

func (l *layout) copyRows() [][]int {
	rows := make([][]int, len(l.rows))
	for i, row := range l.rows {
		rows[i] = slices.Clone(row)
	}
	return rows
}

// sort orders a row by the middles of its neighbours above, or below. What has
// none stays near those beside it.
func (l *layout) sort(row []int, position []int, above bool) {
	const fine = 1 << 12 // parts of a position that are told apart
	middle := map[int]int{}
	before := 0
	for _, s := range row {
		near := l.spots[s].down
		if above {
			near = l.spots[s].up
		}
		if len(near) > 0 {
			before = 0
			for _, n := range near {
				before += position[n] * fine
			}
			before /= len(near)
		}
		middle[s] = before
	}
	slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(middle[a], middle[b]) })
	for i, s := range row {
		position[s] = i
	}
}

// crossings counts how often lines between neighbouring rows cross.
func (l *layout) crossings(position []int) int {
	n := 0
	for _, row := range l.rows {
		var ends []int // of the lines, from left to right where they begin
		for _, s := range row {
			first := len(ends)
			for _, below := range l.spots[s].down {
				ends = append(ends, position[below])
			}
			slices.Sort(ends[first:])
		}
		n += inversions(ends)
	}
	return n
}

// inversions counts the pairs that stand in the wrong order, in a Fenwick tree.
func inversions(list []int) int {
	if len(list) < 2 {
		return 0
	}
	tree := make([]int, slices.Max(list)+2)
	n := 0
	for seen, v := range list {
		n += seen
		for i := v + 1; i > 0; i -= i & -i {
			n -= tree[i]
		}
		for i := v + 1; i < len(tree); i += i & -i {
			tree[i]++
		}
	}
	return n
}
