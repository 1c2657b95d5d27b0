package draw

import (
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
	l.numberRows()
	best, fewest := l.copyRows(), l.crossings()
	for i := range min(sweeps, 2+sweepSpots/len(l.cells)) {
		l.sweep(i, l.sortRow)
		if n := l.crossings(); n < fewest {
			best, fewest = l.copyRows(), n
		}
	}
	l.rows = best
	l.numberRows()
	for i := range l.cells {
		for _, near := range l.cells[i].near {
			slices.SortFunc(near, func(a, b int) int { return l.cells[a].position - l.cells[b].position })
		}
	}
}

// sweep visits the rows: downwards in even passes, with the side above, and upwards in odd ones,
// with the side below.
func (l *layout) sweep(pass int, visit func(row []int, on side)) {
	on := side(pass % 2)
	for j := range l.rows {
		if on == below {
			j = len(l.rows) - 1 - j
		}
		visit(l.rows[j], on)
	}
}

func (l *layout) numberRows() {
	for _, row := range l.rows {
		for i, s := range row {
			l.cells[s].position = i
		}
	}
}

func (l *layout) copyRows() [][]int {
	var rows [][]int
	for _, row := range l.rows {
		rows = append(rows, slices.Clone(row))
	}
	return rows
}

// sortRow orders a row by the mean position of the neighbors on a side. A cell without neighbors
// stays near the previous one.
func (l *layout) sortRow(row []int, on side) {
	const fine = 1 << 12 // resolution of a mean position
	mean := map[int]int{}
	before := 0
	for _, s := range row {
		if near := l.cells[s].near[on]; len(near) > 0 {
			before = 0
			for _, n := range near {
				before += l.cells[n].position * fine
			}
			before /= len(near)
		}
		mean[s] = before
	}
	slices.SortStableFunc(row, func(a, b int) int { return mean[a] - mean[b] })
	for i, s := range row {
		l.cells[s].position = i
	}
}

// crossings counts the crossings of lines between neighboring rows.
func (l *layout) crossings() (n int) {
	for _, row := range l.rows {
		var ends []int // lower ends of the lines, ordered by their upper ends
		for _, s := range row {
			first := len(ends)
			for _, next := range l.cells[s].near[below] {
				ends = append(ends, l.cells[next].position)
			}
			slices.Sort(ends[first:])
		}
		n += inversions(ends)
	}
	return n
}

// inversions counts the pairs in the wrong order.
func inversions(list []int) (n int) {
	sorted := make([]int, 0, len(list))
	for _, v := range list {
		i, _ := slices.BinarySearch(sorted, v+1)
		n += len(sorted) - i
		sorted = slices.Insert(sorted, i, v)
	}
	return n
}
