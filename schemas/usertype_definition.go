package schemas

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// The schema of a user type is untrusted, and a small one can be expensive to apply: with a few
// hundred bytes of references to references, the validator visits a value a million times. This
// file therefore computes the cost first, following every reference. The validator compiles only
// schemas that are known to be cheap.

// Limits of a schema. The type Person uses a twentieth of each.
const (
	maxDefinition = 64 << 10 // bytes
	maxNesting    = 32       // schemas within schemas, references followed
	// maxWork limits the cost of applying a schema once, and maxRepeated the part of the cost that
	// recurs for each item or member of a value. The unit is about one visit of a value.
	maxWork     = 10000
	maxRepeated = 1000
)

// maxAttributeLength is how long the name of an attribute may be, in bytes.
const maxAttributeLength = 64

// metaSchema is the schema of schemas.
var metaSchema = sync.OnceValue(func() *Schema { return MustSchema("meta", `{"$ref": "`+Draft+`"}`) })

// CheckDefinition returns the problems of the schema of the type: it must be a JSON Schema of an
// object, cheap to apply, with our annotations only where they have a meaning. Paths begin with
// "schema".
func (t *UserType) CheckDefinition() []Problem {
	if len(t.Schema) > maxDefinition {
		return []Problem{{Path: "schema", Message: fmt.Sprintf("expected at most %d bytes, got %d; remove what is not needed", maxDefinition, len(t.Schema))}}
	}
	d, problems := ParseJSON(t.Schema)
	if len(problems) > 0 {
		return prefixPaths("schema", withoutLines(problems))
	}
	w := &definition{root: d.root, keywords: keywords(), met: map[string]*visitedDefinition{}}
	w.walk()
	found := metaSchema().check(d.root)
	for _, p := range w.kept {
		if !slices.ContainsFunc(found.kept, func(q Problem) bool { return p.Path == q.Path }) && found.acceptsMore() {
			found.addKept(p)
		}
	}
	found.more += w.more
	if found.isEmpty() {
		if _, err := CompileSchema("user type", t.Schema); err != nil {
			found.addKept(Problem{Message: truncate(err.Error(), maxCauseLength)})
		}
	}
	return prefixPaths("schema", withoutLines(found.inPlace()))
}

// prefixPaths prepends a prefix to the paths of problems.
func prefixPaths(prefix string, problems []Problem) []Problem {
	for i := range problems {
		problems[i].Path = JoinPath(prefix, problems[i].Path)
	}
	return problems
}

// definition is the schema of a user type during the check. Values of the wrong shape are skipped:
// the meta-schema reports them.
type definition struct {
	findings
	root     *element
	keywords map[string]usage
	met      map[string]*visitedDefinition // the definitions, by name
}

// visitedDefinition is a definition that has been visited.
type visitedDefinition struct {
	weight weight
	open   bool // the walk is inside it
}

func (w *definition) walk() {
	if w.root.shape != objectShape {
		return
	}
	w.checkRoot()
	for _, m := range w.members("$defs") {
		w.reference(m.name)
	}
	cost := w.schema(w.root)
	switch {
	case cost.depth > maxNesting:
		w.note(w.root.place, fmt.Sprintf("schemas are nested deeper than %d levels, including references; flatten it", maxNesting))
	case cost.work > maxWork || cost.repeated > maxRepeated:
		w.note(w.root.place, "it would be too expensive to validate: it combines too many schemas, including references; use fewer or simpler ones")
	}
}

// members are those of the object under a keyword of the whole schema.
func (w *definition) members(keyword string) []member {
	if m := w.root.member(keyword); m != nil {
		return m.value.members()
	}
	return nil
}

// schema checks one schema and returns its weight.
func (w *definition) schema(e *element) weight {
	total := weight{work: 1}
	if len(w.at) > maxDepth {
		return total
	}
	for m := range w.children(e) {
		if m.name != "" {
			total.add(w.keyword(e, m))
		}
	}
	total.depth++
	return total
}

// keyword checks the value of one keyword of a schema.
func (w *definition) keyword(of *element, m member) weight {
	switch use := w.keywords[m.name]; use {
	case unknownUsage:
		w.reportUnknownKeyword(m)
	case noteUsage:
		w.checkNote(of, m)
	case plainUsage:
		return weight{work: size(m.value)}
	case patternUsage:
		return w.pattern(m.value, m.value.text)
	case formatUsage:
		if m.value.shape == stringShape && !slices.Contains(formats(), m.value.text) {
			w.note(m.value.place, unknown("format", m.value.text, formats()))
		}
		return weight{work: 1}
	case refUsage:
		return w.follow(m.value).also()
	case defsUsage:
		if of != w.root {
			w.note(m.value.place, "definitions must be at the top of the schema; move them there")
		}
	default:
		return w.parts(use, m.value)
	}
	return weight{}
}

// parts checks the schemas of a keyword that applies schemas.
func (w *definition) parts(use usage, e *element) (total weight) {
	switch use {
	case alsoUsage:
		return w.schema(e).also()
	case manyUsage:
		return w.schema(e).each()
	}
	for m := range w.children(e) {
		if use == manyMapUsage {
			total.add(w.pattern(m.value, m.name).each())
		}
		total.add(w.part(use, m.value))
	}
	return total
}

// part is the weight of one of several schemas.
func (w *definition) part(use usage, e *element) weight {
	cost := w.schema(e)
	switch use {
	case alsoListUsage, alsoMapUsage:
		return cost.also()
	case manyMapUsage:
		return cost.each()
	}
	return cost
}

// follow returns the weight of the target of a reference.
func (w *definition) follow(e *element) weight {
	const prefix = "#/$defs/"
	name, own := strings.CutPrefix(e.text, prefix)
	if e.shape != stringShape {
		return weight{}
	}
	defs := w.root.member("$defs")
	if !own || strings.ContainsAny(name, "/~%") || defs == nil || defs.value.member(name) == nil {
		w.note(e.place, fmt.Sprintf("there is no %s; refer to a definition at the top of the schema, by a plain name: %sname", quote(e.text), prefix))
		return weight{}
	}
	if known := w.met[name]; known != nil && known.open {
		w.note(e.place, "the definition "+quote(name)+" refers to itself; limit its depth instead")
		return weight{}
	}
	return w.reference(name)
}

// reference returns the weight of a definition.
func (w *definition) reference(name string) weight {
	if known := w.met[name]; known != nil {
		return known.weight
	}
	now := &visitedDefinition{open: true}
	w.met[name] = now
	here := w.at
	w.at = valuePath{}.member("$defs").member(name)
	now.weight = w.schema(w.root.member("$defs").value.member(name).value)
	w.at, now.open = here, false
	return now.weight
}

// reportUnknownKeyword notes a keyword that is not known.
func (w *definition) reportUnknownKeyword(m member) {
	near := Suggest(m.name, sortedKeywords(w.keywords))
	switch {
	case strings.HasPrefix(m.name, "x-"):
		if near = nearMark(m.name); near != "" {
			w.noteName(m, fmt.Sprintf("unknown annotation %s; did you mean %s?", quote(m.name), quote(near)))
		}
	case near != "":
		w.noteName(m, fmt.Sprintf("unknown keyword %s; did you mean %s?", quote(m.name), quote(near)))
	default:
		w.noteName(m, fmt.Sprintf("unknown keyword %s; remove it, or prefix it with x- if it is a custom annotation", quote(m.name)))
	}
}

// nearMark returns our own annotation that was probably meant by an unknown one: it differs by a
// few letters, or is a prefix or an extension of it.
func nearMark(name string) string {
	if near := Suggest(name, marks()); near != "" {
		return near
	}
	for _, mark := range marks() {
		if len(name) > 3 && strings.HasPrefix(mark, name) || strings.HasPrefix(name, mark) {
			return mark
		}
	}
	return ""
}
