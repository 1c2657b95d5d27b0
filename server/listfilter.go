package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// condition is a filter: the part of SCIM's filters (RFC 7644 §3.4.2.2) that an index can answer.
type condition struct{ member, operator, value string }

// The operators of conditions: the member equals the value, or starts with it.
const (
	equals     = "eq"
	startsWith = "sw"
)

// operators returns the operators that a member of a noun supports.
func operators(n directory.Noun, member string) []string {
	if slices.Contains(n.Prefixes, member) {
		return []string{equals, startsWith}
	}
	return []string{equals}
}

// filter reads the parameter filter into the page.
func (q *query) filter(n directory.Noun, page *directory.Query) {
	text := q.text("filter")
	c, fault := parseFilter(text)
	switch {
	case fault != "":
		q.addProblem("filter", "%s, got %.200q; %s", fault, text, describeFilters(n))
	case !slices.Contains(n.Filters, c.member):
		q.addProblem("filter", "cannot filter by %.64q%s; %s", c.member, schemas.Hint(c.member, n.Filters), describeFilters(n))
	case !slices.Contains(operators(n, c.member), c.operator):
		q.addProblem("filter", "%s does not support the operator %.32q, but only %s; %s", c.member, c.operator,
			strings.Join(operators(n, c.member), " and "), describeFilters(n))
	case c.operator == startsWith && c.value == "":
		q.addProblem("filter", "expected at least one character after %s; leave the filter out to list all", startsWith)
	case c.operator == startsWith && q.values.Has("after"):
		q.addProblem("after", "a list filtered with %s has no cursor; use offset, or a longer text", startsWith)
	default:
		page.Filter, page.Value, page.Prefix = c.member, c.value, c.operator == startsWith
	}
}

// describeFilters describes the filters of a list.
func describeFilters(n directory.Noun) string {
	return fmt.Sprintf(`expected <member> eq "<text>", such as %s eq "a"; the members are %s; sw (starts with) is for %s`,
		n.Filters[0], strings.Join(n.Filters, ", "), strings.Join(n.Prefixes, ", "))
}

// parseFilter splits a filter, or returns what is wrong with it.
func parseFilter(text string) (c condition, fault string) {
	member, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	operator, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if member == "" || strings.ContainsAny(member, `"\`) {
		return c, "the filter does not start with the name of a member"
	}
	if operator == "" || strings.ContainsAny(operator, `"\`) {
		return c, "there is no operator after the member"
	}
	value, ok := jsonString(strings.TrimLeft(rest, " "))
	if !ok {
		return c, "there must be a JSON string in double quotes after the operator, and nothing after it"
	}
	// Operators are case-insensitive: RFC 7644 §3.4.2.2.
	return condition{member, strings.ToLower(operator), value}, ""
}

// jsonString parses exactly one JSON string, as strictly as bodies are parsed.
func jsonString(text string) (value string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", false
	}
	d, problems := schemas.ParseJSON([]byte(text))
	if len(problems) > 0 {
		return "", false
	}
	return value, json.Unmarshal(d.JSON(), &value) == nil
}

// text writes a filter that parseFilter reads.
func (c condition) text() string {
	value, _ := json.Marshal(c.value) // never fails for a string
	return c.member + " " + c.operator + " " + string(value)
}
