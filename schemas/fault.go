package schemas

import (
	"net/url"
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
	keyword string         // the keyword that failed
	want    any            // what the schema says under that keyword
	schema  map[string]any // the schema the keyword stands in
	path    string         // of the value at fault, in the author's notation
	value   *element       // the value at fault
	name    string         // the member whose name is at fault, if onKey
	onKey   bool           // the fault is the name, not the value
	text    string         // the validator's own words, when there is nothing to look up
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
		return meant(branches)
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
	f := fault{text: e.Message}
	f.path, f.value, f.name = j.root.follow(e.InstanceLocation)
	f.onKey = aboutName(e.KeywordLocation)
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

// follow walks a JSON pointer as the validator writes it and returns the path
// in the author's notation, the value there, and the last member's name.
func (e *element) follow(location string) (path string, value *element, name string) {
	value = e
	for _, step := range pointer(location) {
		if m := value.member(step); m != nil {
			path, value, name = memberPath(path, step), m.value, step
			continue
		}
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(value.items) {
			break
		}
		path, value = itemPath(path, i), value.items[i]
	}
	return path, value, name
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
// failed. Branches that fail alike, in one keyword at the same value, are told
// together; otherwise the branch that is nearest to fitting is the one meant.
func meant(branches [][]fault) []fault {
	if joined, ok := alike(branches); ok {
		return []fault{joined}
	}
	best := branches[0]
	for _, branch := range branches[1:] {
		if farness(branch) < farness(best) {
			best = branch
		}
	}
	return best
}

// alike joins branches that each have one fault, of the same keyword and at
// the same value, into one fault that wants what any of them wants.
func alike(branches [][]fault) (fault, bool) {
	first := branches[0][0]
	var want []any
	for _, branch := range branches {
		f := branch[0]
		if len(branch) != 1 || f.keyword != first.keyword || f.path != first.path || f.onKey != first.onKey {
			return fault{}, false
		}
		switch f.keyword {
		case "type", "enum":
			want = append(want, list(f.want)...)
		case "const", "required":
			want = append(want, f.want)
		default:
			return fault{}, false
		}
	}
	if first.keyword == "required" {
		first.keyword = "requiredAny"
	}
	if first.keyword == "const" {
		first.keyword = "enum"
	}
	first.want = want
	return first, true
}

// farness says how little a branch fits: a value of the wrong type, or one
// that names another variant (a const or enum), was hardly meant for it.
func farness(branch []fault) int {
	far := len(branch)
	shallowest := branch[0].path
	for _, f := range branch {
		if len(f.path) < len(shallowest) {
			shallowest = f.path
		}
	}
	for _, f := range branch {
		switch {
		case f.keyword == "type" && f.path == shallowest:
			far += 10000
		case f.keyword == "const" || f.keyword == "enum":
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
