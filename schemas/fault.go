package schemas

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// The validator reports a tree: which keyword failed where, with the failures
// of every branch of an anyOf below it. An author wants a flat list with each
// fault once, in words. So the tree is walked, each leaf is looked up in the
// schema and in the value, and of the branches of an anyOf only the one that
// was most likely meant is told.

// fault is one leaf of the validator's tree.
type fault struct {
	spot
	keyword string         // the keyword that failed
	want    any            // what the schema says under that keyword
	schema  map[string]any // the schema the keyword stands in
	onKey   bool           // the fault is the name, not the value
	text    string         // the validator's own words, when there is nothing to look up
}

// spot is a place in the value that is checked.
type spot struct {
	path   string // in the author's notation
	value  *element
	around string // the path of the object or list that holds the value
	name   string // the member's name; that of the nearest one around an item
}

// judgement walks the validator's tree for one value.
type judgement struct {
	schema *Schema
	root   *element
}

// faults flattens the tree.
func (j judgement) faults(e *jsonschema.ValidationError) []fault {
	if len(e.Causes) == 0 {
		return []fault{j.leaf(e)}
	}
	keyword := lastKeyword(e.AbsoluteKeywordLocation)
	switch keyword {
	case "anyOf", "oneOf":
		var branches [][]fault
		for _, cause := range e.Causes {
			branches = append(branches, j.faults(cause))
		}
		return meant(branches, j.root.follow(e.InstanceLocation).path)
	case "minContains":
		// The causes are the items that did not match; none of them need to.
		return []fault{j.leaf(e)}
	}
	var all []fault
	for _, cause := range e.Causes {
		all = append(all, j.faults(cause)...)
	}
	return all
}

// leaf looks up what a single failure is about.
func (j judgement) leaf(e *jsonschema.ValidationError) fault {
	f := fault{spot: j.root.follow(e.InstanceLocation), onKey: aboutName(e.KeywordLocation), text: e.Message}
	at, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	if at != j.schema.url {
		return f
	}
	var here any = j.schema.doc
	named := false
	for _, step := range pointer(fragment) {
		switch parent := here.(type) {
		case map[string]any:
			if !named {
				f.schema, f.keyword = parent, step
			}
			named = !named && namesFollow(step)
			here = parent[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(parent) {
				return f
			}
			here = parent[i]
		}
	}
	f.want = here
	return f
}

// follow walks a JSON pointer as the validator writes it.
func (e *element) follow(location string) spot {
	at := spot{value: e}
	for _, step := range pointer(location) {
		if m := at.value.member(step); m != nil {
			at = spot{path: MemberPath(at.path, step), value: m.value, around: at.path, name: step}
			continue
		}
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(at.value.items) {
			break
		}
		at = spot{path: itemPath(at.path, i), value: at.value.items[i], around: at.path, name: at.name}
	}
	return at
}

// pointer splits a JSON pointer (RFC 6901) in its URI fragment form, §6.
func pointer(location string) []string {
	if location == "" {
		return nil
	}
	steps := strings.Split(strings.TrimPrefix(location, "/"), "/")
	for i, step := range steps {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return steps
}

func lastKeyword(location string) string {
	return location[strings.LastIndexByte(location, '/')+1:]
}

// aboutName reports whether a keyword stands below propertyNames, so that it
// judges a member's name.
func aboutName(location string) bool {
	steps := pointer(location)
	for i := 0; i < len(steps); i++ {
		if steps[i] == "propertyNames" {
			return true
		}
		if namesFollow(steps[i]) {
			i++
		}
	}
	return false
}

// namesFollow reports whether what comes below a keyword is a name that the
// author of the schema chose, which may well spell a keyword.
func namesFollow(keyword string) bool {
	switch keyword {
	case "properties", "patternProperties", "dependentSchemas", "dependentRequired", "$defs":
		return true
	}
	return false
}

// meant picks the faults worth telling when every branch of an anyOf or oneOf
// failed at the value at path.
func meant(branches [][]fault, path string) []fault {
	for _, f := range branches[0] {
		if joined, ok := inAll(branches, f); ok {
			return []fault{joined}
		}
	}
	best := branches[0]
	for _, branch := range branches[1:] {
		if farness(branch, path) < farness(best, path) {
			best = branch
		}
	}
	return best
}

// inAll joins a fault with its like in every other branch into one that wants
// what any of them wants. A value that has the type of no branch, or names a
// variant (a const or enum) of none, is told so and no more; members are only
// told together if they are all that is missing.
func inAll(branches [][]fault, like fault) (fault, bool) {
	var want []any
	for _, branch := range branches {
		i := slices.IndexFunc(branch, like.isLike)
		if i < 0 || like.keyword == "required" && len(branch) > 1 {
			return fault{}, false
		}
		if f := branch[i]; f.keyword == "type" || f.keyword == "enum" {
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
	return f.path == g.path && f.onKey == g.onKey && f.question() != "" && f.question() == g.question()
}

// question is what a keyword asks of a value, if alternatives to it can be
// listed: its type, its choice among values, its members.
func (f fault) question() string {
	switch f.keyword {
	case "const", "enum":
		return "choice"
	case "type", "required":
		return f.keyword
	}
	return ""
}

// farness says how little a branch fits the value at path: one that wants
// another type, or names another variant, was hardly meant.
func farness(branch []fault, path string) int {
	far := len(branch)
	for _, f := range branch {
		switch {
		case f.keyword == "type" && f.path == path:
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
