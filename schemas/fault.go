package schemas

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// The validator returns a tree of failed keywords, with the failures of every branch of an anyOf
// below it. Authors need a flat list with each fault once, in words. This file therefore looks up
// each leaf of the tree in the schema and in the value. Of the branches of an anyOf, it reports
// only the one that was most likely meant.

// fault is one leaf of the validator's tree.
type fault struct {
	valueLocation
	rule
	onKey bool   // the fault is the name, not the value
	text  string // the validator's own message, if the lookup finds nothing
}

// rule is a keyword of a schema with its value.
type rule struct {
	keyword string         // the keyword that failed
	want    any            // the value of the keyword
	schema  map[string]any // the schema that contains the keyword
}

// schemaErrors walks the validator's tree for one value.
type schemaErrors struct {
	schema *compiledSchema
	root   *element
	rules  map[string]rule // the keywords looked up so far, by location
}

// faultList contains the faults of a part of the tree: the first ones by position, and the number
// of the others. The validator formats every one of a hundred thousand faults; not processing them
// further limits the cost.
type faultList struct {
	list []fault
	more int
}

// maxAlternatives limits the processed faults. It is larger than the number of reported problems,
// because several faults can result in one problem.
const maxAlternatives = 4 * maxProblems

// add appends faults. If there are too many, it drops the last ones by position.
func (l *faultList) add(faults ...fault) {
	l.list = append(l.list, faults...)
	if len(l.list) >= 2*maxAlternatives {
		l.sort()
		l.more += len(l.list) - maxAlternatives
		l.list = l.list[:maxAlternatives]
	}
}

// sort sorts the faults by position, and those of one value by keyword. The validator's order differs
// from run to run.
func (l *faultList) sort() {
	slices.SortStableFunc(l.list, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.value.line, b.value.line), cmp.Compare(a.value.column, b.value.column), cmp.Compare(a.keyword, b.keyword))
	})
}

// faults flattens the tree into a list.
func (j schemaErrors) faults(e *jsonschema.ValidationError, all *faultList) {
	if len(e.Causes) == 0 {
		all.add(j.leaf(e))
		return
	}
	switch lastKeyword(e.AbsoluteKeywordLocation) {
	case "anyOf", "oneOf":
		branches := make([]faultList, len(e.Causes))
		for i, cause := range e.Causes {
			j.faults(cause, &branches[i])
		}
		best := likelyBranch(branches, j.root.follow(e.InstanceLocation).value)
		all.add(best.list...)
		all.more += best.more
	case "minContains":
		// The causes are the items that did not match; none of them need to.
		all.add(j.leaf(e))
	default:
		for _, cause := range e.Causes {
			j.faults(cause, all)
		}
	}
}

// leaf looks up the schema and the value of a single failure.
func (j schemaErrors) leaf(e *jsonschema.ValidationError) fault {
	return fault{
		valueLocation: j.root.follow(e.InstanceLocation),
		rule:          j.rule(e.AbsoluteKeywordLocation),
		onKey:         aboutName(e.KeywordLocation),
		text:          truncate(e.Message, maxCauseLength),
	}
}

// rule looks up a location in the schema; nothing for a location outside it.
func (j schemaErrors) rule(location string) rule {
	r, met := j.rules[location]
	if !met {
		if at, fragment, _ := strings.Cut(location, "#"); at == j.schema.url {
			r = findRule(j.schema.doc, fragment)
		}
		j.rules[location] = r
	}
	return r
}

func findRule(here any, fragment string) rule {
	var r rule
	named := false
	for step := range pointer(fragment) {
		switch parent := here.(type) {
		case map[string]any:
			if !named {
				r.schema, r.keyword = parent, step
			}
			named = !named && namesFollow(step)
			here = parent[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(parent) {
				return r
			}
			here = parent[i]
		}
	}
	r.want = here
	return r
}

// problem returns the problem at the path, at the position of the fault.
func (f fault) problem(path, message string) Problem {
	if !f.onKey {
		return f.value.problem(path, message)
	}
	at := f.value.place
	if f.key != nil {
		at = f.key.place
	}
	return at.problem(path, message).OnName()
}

func lastKeyword(location string) string {
	return location[strings.LastIndexByte(location, '/')+1:]
}

// aboutName reports whether a keyword is below propertyNames, and so about a member's name.
func aboutName(location string) bool {
	const keyword = "propertyNames"
	if !strings.Contains(location, keyword) {
		return false
	}
	named := false
	for step := range pointer(location) {
		if step == keyword && !named {
			return true
		}
		named = !named && namesFollow(step)
	}
	return false
}

// namesFollow reports whether the author of the schema chooses the names below a keyword. Such a
// name can equal a keyword.
func namesFollow(keyword string) bool {
	switch keyword {
	case "properties", "patternProperties", "dependentSchemas", "dependentRequired", "$defs":
		return true
	}
	return false
}

// likelyBranch selects the faults to report if every branch of an anyOf or oneOf failed.
func likelyBranch(branches []faultList, value *element) faultList {
	for _, f := range branches[0].list {
		if joined, ok := inAll(branches, f); ok {
			return faultList{list: []fault{joined}}
		}
	}
	best := branches[0]
	for _, branch := range branches[1:] {
		if branch.farness(value) < best.farness(value) {
			best = branch
		}
	}
	return best
}

// inAll joins a fault with the equivalent ones of every other branch into one that expects any of
// their values. For a value that has the type of no branch, or names a variant (a const or enum) of
// none, only that is reported; members are reported together only if they are all that is missing.
func inAll(branches []faultList, like fault) (fault, bool) {
	var want []any
	for _, branch := range branches {
		i := slices.IndexFunc(branch.list, like.isLike)
		if i < 0 || like.keyword == "required" && len(branch.list) > 1 {
			return fault{}, false
		}
		if f := branch.list[i]; f.keyword == "type" || f.keyword == "enum" {
			want = append(want, list(f.want)...)
		} else {
			want = append(want, f.want)
		}
	}
	switch like.keyword {
	case "const":
		like.keyword = "enum"
	case "required":
		like.keyword = "requiredAny"
	}
	like.want = want
	return like, true
}

func (f fault) isLike(g fault) bool {
	return f.value == g.value && f.onKey == g.onKey && f.question() != "" && f.question() == g.question()
}

// question is a requirement of a keyword whose alternatives can be listed: the type, the permitted
// values, or the members.
func (f fault) question() string {
	switch f.keyword {
	case "const", "enum":
		return "choice"
	case "type", "required":
		return f.keyword
	}
	return ""
}

// farness returns how badly a branch fits the value: a branch for another type or variant was
// probably not meant.
func (l *faultList) farness(value *element) int {
	far := len(l.list) + l.more
	for _, f := range l.list {
		switch {
		case f.keyword == "type" && f.value == value:
			far += 10000
		case f.question() == "choice":
			far += 100
		}
	}
	return far
}

// list returns a keyword's value as a list: "type" may be one word or several.
func list(v any) []any {
	if several, ok := v.([]any); ok {
		return several
	}
	return []any{v}
}
