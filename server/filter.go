package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// filter reads the parameter filter, <member> eq "<text>", which names one of the members: the part
// of SCIM's filters (RFC 7644 §3.4.2.2) that an index can answer.
func (q *query) filter(members []string) (member, value string) {
	text := q.text("filter")
	expected := fmt.Sprintf(`expected <member> eq "<text>", such as %s eq "a"; the members are %s`, members[0], strings.Join(members, ", "))
	member, value, fault := parseFilter(text)
	switch {
	case fault != "":
		q.addProblem("filter", "%s, got %.200q; %s", fault, text, expected)
	case !slices.Contains(members, member):
		q.addProblem("filter", "cannot filter by %.64q%s; %s", member, schemas.Hint(member, members), expected)
	default:
		return member, value
	}
	return "", ""
}

// parseFilter splits a filter, or returns what is wrong with it.
func parseFilter(text string) (member, value, fault string) {
	member, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	operator, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	switch {
	case member == "" || strings.ContainsAny(member, `"\`):
		return "", "", "the filter does not start with the name of a member"
	case !strings.EqualFold(operator, "eq"): // operators are case-insensitive: RFC 7644 §3.4.2.2
		return "", "", fmt.Sprintf("the only operator is eq, not %.32q", operator)
	}
	value, ok := jsonString(strings.TrimLeft(rest, " "))
	if !ok {
		return "", "", "there must be a JSON string in double quotes after eq, and nothing after it"
	}
	return member, value, ""
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

// filterText writes a filter that parseFilter reads.
func filterText(member, value string) string {
	text, _ := json.Marshal(value) // never fails for a string
	return member + " eq " + string(text)
}
