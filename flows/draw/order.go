package draw

import (
	"cmp"
	"slices"
)

// The number of passes over the rows, which is smaller for large pictures.
const (
	sweeps     = 24
	sweepSpots = 200_000 // cells that all passes together may visit
)

// orderRows orders the rows, downwards and upwards in turn: each cell moves to the mean of its
// neighbors in the previous row. The order with the fewest crossings is kept.
func (l *layout) orderRows() {
	position := make([]int, len(l.cells))
	l.numberRows(position)
	best, fewest := l.copyRows(), l.crossings(position)
	for i := range min(sweeps, 2+sweepSpots/len(l.cells)) {
		down := i%2 == 0
		for j := range l.rows {
			if !down {
				j = len(l.rows) - 1 - j
			}
			l.sortRow(l.rows[j], position, down)
		}
		if n := l.crossings(position); n < fewest {
			best, fewest = l.copyRows(), n
		}
	}
	l.rows = best
	l.numberRows(position)
	for i := range l.cells {
		s := &l.cells[i]
		byPosition := func(a, b int) int { return cmp.Compare(position[a], position[b]) }
		slices.SortFunc(s.up, byPosition)
		slices.SortFunc(s.down, byPosition)
	}
}

func (l *layout) numberRows(position []int) {
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

// sortRow orders a row by the mean position of the neighbors above, or below. A cell without
// neighbors stays near the previous one.
func (l *layout) sortRow(row []int, position []int, above bool) {
	const fine = 1 << 12 // resolution of a mean position
	middle := map[int]int{}
	before := 0
	for _, s := range row {
		near := l.cells[s].down
		if above {
			near = l.cells[s].up
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

// crossings counts the crossings of lines between neighboring rows.
func (l *layout) crossings(position []int) int {
	n := 0
	for _, row := range l.rows {
		var ends []int // lower ends of the lines, ordered by their upper ends
		for _, s := range row {
			first := len(ends)
			for _, below := range l.cells[s].down {
				ends = append(ends, position[below])
			}
			slices.Sort(ends[first:])
		}
		n += inversions(ends)
	}
	return n
}

// inversions counts the inverted pairs with a Fenwick tree.
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
