package schemas

import (
	"slices"
	"strings"
)

// WithoutDuplicates returns the problems of more that are not at or below the place of another
// problem: a value of the wrong type is not reported as missing too, and a value that should be an
// object has no missing members.
func WithoutDuplicates(more, found []Problem) []Problem {
	var rest []Problem
	for _, p := range more {
		covers := func(f Problem) bool {
			below, ok := strings.CutPrefix(p.Path, f.Path)
			return ok && (f.Path == "" || below == "" || below[0] == '.' || below[0] == '[')
		}
		if !slices.ContainsFunc(found, covers) {
			rest = append(rest, p)
		}
	}
	return rest
}
