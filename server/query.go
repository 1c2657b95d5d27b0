package server

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// The default and the maximum number of resources on a page.
const (
	defaultLimit = 30
	maxLimit     = 100
)

// query reads the parameters of a request and collects their faults.
type query struct {
	values   url.Values
	problems []schemas.Problem
}

// readQuery reports each parameter that is unknown or repeated: parsers could choose either of two
// values.
func readQuery(values url.Values, known ...string) *query {
	q := &query{values: values}
	for name, list := range values {
		if !slices.Contains(known, name) {
			q.addProblem(name, "unknown parameter %.64q%s; known: %s", name, schemas.Hint(name, known), strings.Join(known, ", "))
		} else if len(list) > 1 {
			q.addProblem(name, "expected it once, got it %d times", len(list))
		}
	}
	return q
}

func (q *query) addProblem(path, format string, args ...any) {
	q.problems = append(q.problems, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// text returns the value of a parameter, "" if it is absent.
func (q *query) text(name string) string { return q.values.Get(name) }

// number returns the value of an integer parameter from least to most.
func (q *query) number(name string, otherwise, least, most int) int {
	text := q.text(name)
	if !q.values.Has(name) {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if errors.Is(err, strconv.ErrRange) && n > 0 {
		err = nil // n is the largest int
	}
	switch {
	case err == nil && least <= n && n <= most:
		return n
	case most == math.MaxInt:
		q.addProblem(name, "expected a whole number of at least %d, got %.64q", least, text)
	default:
		q.addProblem(name, "expected a whole number from %d to %d, got %.64q", least, most, text)
	}
	return otherwise
}

// limit returns the requested number of items, at most maxLimit.
func (q *query) limit() int { return min(q.number("limit", defaultLimit, 1, math.MaxInt), maxLimit) }

// err returns the error of all faults; nil if there are none.
func (q *query) err() error {
	if len(q.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(q.problems, func(a, b schemas.Problem) int { return strings.Compare(a.Path, b.Path) })
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the query is invalid: %s", q.problems[0]).WithProblems(q.problems)
}

const (
	// maxOffset limits how many rows the store skips for one request. The next links of a list have
	// a cursor, and so reach every page at the same cost.
	maxOffset = 10_000

	// maxStart limits the offset in a link with a cursor, which only counts: it stays below the
	// largest int32.
	maxStart = 1<<31 - 2
)

// offset returns the value of the parameter offset.
func (q *query) offset() int {
	n := q.number("offset", 0, 0, maxStart)
	if n > maxOffset && q.text("after") == "" {
		q.addProblem("offset", "expected at most %d, got %d; follow the next links of the list to go further, or use a filter", maxOffset, n)
		return 0
	}
	return n
}

// readListQuery reads the requested part of a list.
func readListQuery(values url.Values, n directory.Noun) (directory.Query, error) {
	known := []string{"limit", "offset", "after", "filter"}
	byType := n.Name == "flow"
	if byType {
		known = append(known, "flowType")
	}
	q := readQuery(values, known...)
	page := directory.Query{Limit: q.limit(), Offset: q.offset(), After: q.text("after")}
	if values.Has("filter") {
		q.filter(n, &page)
	}
	if byType && values.Has("flowType") {
		q.flowType(&page)
	}
	return page, q.err()
}

// partQuery reads the requested part of a list without filters.
func partQuery(r *http.Request) (directory.Query, error) {
	q := readQuery(r.URL.Query(), "limit", "offset")
	page := directory.Query{Limit: q.limit(), Offset: q.offset()}
	return page, q.err()
}

// flowType reads the filter by flow type, which is a separate parameter.
func (q *query) flowType(page *directory.Query) {
	wanted := q.text("flowType")
	for _, p := range checkChoice("flowType", wanted, schemas.FlowTypeNames()...) {
		q.problems = append(q.problems, p)
		return
	}
	if page.Filter != "" && (page.Filter != "flowType" || page.Value != wanted) {
		q.addProblem("flowType", "a list has one filter, but the parameter filter contains another: leave one of them out")
		return
	}
	page.Filter, page.Value = "flowType", wanted
}
