package schemas

import (
	"fmt"
	"slices"
)

// maxProblems is how many problems of one text are told. Nobody mends more at a
// time, and a request of a few kilobytes can have tens of thousands: each that
// is worded costs memory, and makes the reply longer than the request was.
const maxProblems = 50

// findings collects problems: the first maxProblems, and of those that come
// after them the number.
type findings struct {
	kept []Problem
	more int
}

// room reports whether one more problem will be told. If not it counts that
// problem, which then must not be worded: words and paths are what costs.
func (f *findings) room() bool {
	if len(f.kept) < maxProblems {
		return true
	}
	f.more++
	return false
}

// keep adds a problem that there is room for.
func (f *findings) keep(p Problem) { f.kept = append(f.kept, p) }

// none reports whether nothing is wrong.
func (f *findings) none() bool { return len(f.kept) == 0 }

// told returns what is kept; the last tells how many more there are.
func (f *findings) told() []Problem {
	if f.more == 0 {
		return f.kept
	}
	told := slices.Clone(f.kept)
	told[len(told)-1].Message += fmt.Sprintf(" (and %d more problems)", f.more)
	return told
}

// inPlace returns the findings sorted by where they stand.
func (f findings) inPlace() *findings {
	sortByPlace(f.kept)
	return &f
}
