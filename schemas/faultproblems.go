package schemas

import (
	"maps"
	"regexp"
	"slices"
)

// problemsOf turns faults into problems: one for each missing and each unknown
// member, and one for each value however many keywords it breaks.
func (j schemaErrors) problemsOf(faults *faultList) findings {
	found := findings{more: faults.more}
	reported := make(map[errorTarget]bool)
	faults.sort()
	for _, f := range faults.list {
		switch f.keyword {
		case "required":
			j.reportMissing(f, &found)
			continue
		case "additionalProperties":
			j.reportUnknownMembers(f, &found)
			continue
		case "uniqueItems":
			if j.reportRepeatedItems(f, &found) {
				continue
			}
		case "unevaluatedProperties":
			if f.key == nil {
				break // a reference led to another value
			}
			found.at = j.root.pathTo(f.location).up()
			found.noteUnknown(*f.key, reachable(f.schema))
			continue
		}
		if this := f.target(); !reported[this] {
			reported[this] = true
			if found.acceptsMore() {
				found.addKept(f.problem(j.root.pathTo(f.location).String(), f.message()))
			}
		}
	}
	found.kept = uniqueProblems(withoutRepeatedMessages(found.kept))
	return found
}

// errorTarget is a value, or a member's name, which gets at most one problem. An object or list
// gets a problem for each keyword that it violates.
type errorTarget struct {
	value   *element
	onKey   bool
	keyword string
}

func (f fault) target() errorTarget {
	this := errorTarget{value: f.value, onKey: f.onKey}
	if f.value.shape == objectShape || f.value.shape == arrayShape {
		this.keyword = f.keyword
	}
	return this
}

// reportMissing reports each required member that is not there.
func (j schemaErrors) reportMissing(f fault, found *findings) {
	for _, want := range list(f.want) {
		name, _ := want.(string)
		m := f.value.member(name)
		if m != nil && !m.isNull() || !found.acceptsMore() {
			continue
		}
		message := "required member " + quote(name) + " is missing"
		if about := f.about(name); about != "" {
			message += ": " + about
		}
		p := f.problem(j.root.pathTo(f.location).member(name).String(), message)
		if m != nil {
			p.Line, p.Column = int(m.value.line), int(m.value.column)
		}
		p.missing = true
		found.addKept(p)
	}
}

// about returns the first sentence of the schema's description of a member.
func (f fault) about(name string) string {
	properties, _ := f.schema["properties"].(map[string]any)
	property, _ := properties[name].(map[string]any)
	description, _ := property["description"].(string)
	return firstSentence(description)
}

// reportUnknownMembers reports each member that the schema does not know.
func (j schemaErrors) reportUnknownMembers(f fault, found *findings) {
	properties, _ := f.schema["properties"].(map[string]any)
	patterns, _ := f.schema["patternProperties"].(map[string]any)
	found.at = j.root.pathTo(f.location)
	for _, m := range f.value.members() {
		matches := func(pattern string) bool {
			ok, err := regexp.MatchString(pattern, m.name)
			return ok && err == nil
		}
		if _, known := properties[m.name]; !known && !m.isNull() && !slices.ContainsFunc(slices.Collect(maps.Keys(patterns)), matches) {
			found.noteUnknown(m, slices.Sorted(maps.Keys(properties)))
		}
	}
}

// reachable returns the members that a schema defines, and those of the schemas that it applies to
// the same value.
func reachable(schema map[string]any) []string {
	properties, _ := schema["properties"].(map[string]any)
	known := slices.Collect(maps.Keys(properties))
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "if", "then", "else"} {
		for _, part := range list(schema[keyword]) {
			if part, ok := part.(map[string]any); ok {
				known = append(known, reachable(part)...)
			}
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// withoutRepeatedMessages drops "x is missing" if a misspelled x is already reported.
func withoutRepeatedMessages(problems []Problem) []Problem {
	meant := make(map[string]bool)
	for _, p := range problems {
		meant[p.meant] = p.meant != ""
	}
	return slices.DeleteFunc(problems, func(p Problem) bool { return p.missing && meant[p.Path] })
}

// uniqueProblems drops problems that two branches of an allOf both report.
func uniqueProblems(problems []Problem) []Problem {
	seen := make(map[[2]string]bool)
	return slices.DeleteFunc(problems, func(p Problem) bool {
		key := [2]string{p.Path, p.String()}
		again := seen[key]
		seen[key] = true
		return again
	})
}
