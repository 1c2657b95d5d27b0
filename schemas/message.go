package schemas

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// problemsOf turns faults into problems: one for each missing and each unknown
// member, and one for each value however many keywords it breaks.
func problemsOf(faults []fault) []Problem {
	var problems []Problem
	judged := make(map[string]bool) // values and names that have their problem
	for _, f := range faults {
		switch f.keyword {
		case "required":
			problems = append(problems, f.missing()...)
			continue
		case "additionalProperties":
			problems = append(problems, f.strangers()...)
			continue
		case "unevaluatedProperties":
			problems = append(problems, stranger(f.around, f.name, reachable(f.schema)))
			continue
		}
		once := fmt.Sprint(f.path, " ", f.onKey, f.aboutWhole())
		if judged[once] {
			continue
		}
		judged[once] = true
		problems = append(problems, Problem{Path: f.path, Message: f.message(), onKey: f.onKey})
	}
	return once(withoutEchoes(problems))
}

// aboutWhole tells the faults of an object or list apart by keyword: such a
// value may well have several, where a string or number has one.
func (f fault) aboutWhole() string {
	if f.value.shape == objectShape || f.value.shape == arrayShape {
		return f.keyword
	}
	return ""
}

// missing reports each required member that is not there.
func (f fault) missing() []Problem {
	var problems []Problem
	for _, want := range list(f.want) {
		name, _ := want.(string)
		if f.value.member(name) != nil {
			continue
		}
		message := "required member " + quote(name) + " is missing"
		if about := f.about(name); about != "" {
			message += ": " + about
		}
		problems = append(problems, Problem{Path: MemberPath(f.path, name), Message: message, missing: true})
	}
	return problems
}

// about returns the first sentence of what the schema says about a member.
func (f fault) about(name string) string {
	properties, _ := f.schema["properties"].(map[string]any)
	property, _ := properties[name].(map[string]any)
	description, _ := property["description"].(string)
	sentence, _, _ := strings.Cut(description, ". ")
	return strings.TrimSuffix(sentence, ".")
}

// strangers reports each member that the schema does not know.
func (f fault) strangers() []Problem {
	properties, _ := f.schema["properties"].(map[string]any)
	known := names(properties)
	var problems []Problem
	for _, m := range f.value.members {
		if _, ok := properties[m.name]; ok || matchesAny(f.schema["patternProperties"], m.name) {
			continue
		}
		problems = append(problems, stranger(f.path, m.name, known))
	}
	return problems
}

// reachable returns the members that a schema and those it applies to the same
// value know of.
func reachable(schema map[string]any) []string {
	properties, _ := schema["properties"].(map[string]any)
	known := names(properties)
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "if", "then", "else"} {
		for _, part := range list(schema[keyword]) {
			if part, ok := part.(map[string]any); ok {
				known = append(known, reachable(part)...)
			}
		}
	}
	sort.Strings(known)
	return slices.Compact(known)
}

// stranger is the problem of one unknown member of the object at path.
func stranger(path, name string, known []string) Problem {
	p := Problem{Path: MemberPath(path, name), Message: unknown("member", name, known), onKey: true}
	if near := Suggest(name, known); near != "" {
		p.meant = MemberPath(path, near)
	}
	return p
}

func names(properties map[string]any) []string {
	known := make([]string, 0, len(properties))
	for name := range properties {
		known = append(known, name)
	}
	sort.Strings(known)
	return known
}

func matchesAny(patterns any, name string) bool {
	all, _ := patterns.(map[string]any)
	for pattern := range all {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(name) {
			return true
		}
	}
	return false
}

// withoutEchoes drops "x is missing" where a misspelt x is reported already:
// that is one fault, not two.
func withoutEchoes(problems []Problem) []Problem {
	meant := make(map[string]bool)
	for _, p := range problems {
		meant[p.meant] = p.meant != ""
	}
	return slices.DeleteFunc(problems, func(p Problem) bool { return p.missing && meant[p.Path] })
}

// once drops what two branches of an allOf both found.
func once(problems []Problem) []Problem {
	seen := make(map[Problem]bool)
	return slices.DeleteFunc(problems, func(p Problem) bool {
		again := seen[p]
		seen[p] = true
		return again
	})
}
