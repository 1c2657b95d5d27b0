package schemas

import (
	"fmt"
	"slices"
)

// maxProblems is how many problems of one text are reported. A request of a few kilobytes can have
// tens of thousands: formatting each costs memory, and makes the reply longer than the request.
const maxProblems = 50

// findings collects problems: the first maxProblems, and of those that come
// after them the number.
type findings struct {
	kept []Problem
	more int
}

// acceptsMore reports whether one more problem is reported. If not, it counts the problem, which
// then must not be formatted: that is the cost.
func (f *findings) acceptsMore() bool {
	if len(f.kept) < maxProblems {
		return true
	}
	f.more++
	return false
}

// addKept adds a problem that there is room for.
func (f *findings) addKept(p Problem) { f.kept = append(f.kept, p) }

// isEmpty reports whether nothing is wrong.
func (f *findings) isEmpty() bool { return len(f.kept) == 0 }

// listed returns the reported problems; the last has the number of the others.
func (f *findings) listed() []Problem {
	if f.more == 0 {
		return f.kept
	}
	reported := slices.Clone(f.kept)
	reported[len(reported)-1].Message += fmt.Sprintf(" (and %d more problems)", f.more)
	return reported
}

// inPlace returns the findings sorted by where they stand.
func (f findings) inPlace() *findings {
	sortByPlace(f.kept)
	return &f
}
