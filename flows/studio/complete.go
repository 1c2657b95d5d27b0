package studio

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Cursor is a place in a text that need not be YAML yet.
type Cursor struct {
	Text string `json:"text"`
	// Line counts from 1, Column is the number of characters before the place in its line.
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Completions are the words that can stand at a place.
type Completions struct {
	// Typed is the part of the word before the place.
	Typed   string       `json:"typed"`
	Options []Completion `json:"options"`
}

// Completion is a word with its documentation.
type Completion struct {
	Label  string `json:"label"`
	Insert string `json:"insert"` // the label, and ": " after the name of a member
	Detail string `json:"detail"`
	Doc    string `json:"doc"`
}

// Complete returns the members, values, kinds, ids or outcomes that can stand at a place.
func (s *Studio) Complete(c Cursor) (*Completions, error) {
	o := outlineAt(c.Text, s.parsed(c.Text), c.Line, c.Column)
	options := s.values(&o)
	if !o.inValue {
		options = s.members(&o)
	}
	return &Completions{Typed: o.word, Options: append([]Completion{}, options...)}, nil
}

// members returns the members that can stand at a place.
func (s *Studio) members(o *outline) (options []Completion) {
	if o.at("nodes", "[]", "next") {
		for _, outcome := range s.outcomes(o.node()) {
			options = append(options, Completion{outcome.Name(), outcome.Name() + ": ", "", outcome.Doc})
		}
		return options
	}
	if o.at("nodes", "[]", "with", "attributes") && o.node() != nil && o.node().use == "user-create" {
		return namesOf(s.attributes, ": ", "attribute")
	}
	return s.schemaAt(o).members()
}

// members returns the members of an object of the schema that authors can write.
func (j jsonSchema) members() (options []Completion) {
	properties := j.object("properties")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if p := properties.object(name); p["readOnly"] != true {
			options = append(options, Completion{name, name + ": ", p.typeName(), p.text("description")})
		}
	}
	return options
}

// values returns the values that the schema lists.
func (j jsonSchema) values() (options []Completion) {
	list, _ := j["enum"].([]any)
	docs, _ := j["enumDescriptions"].([]any)
	for i, value := range list {
		if text, ok := value.(string); ok {
			option := Completion{text, text, "", ""}
			if i < len(docs) {
				option.Doc, _ = docs[i].(string)
			}
			options = append(options, option)
		}
	}
	if j["type"] == "boolean" {
		options = append(options, namesOf([]string{"true", "false"}, "", "")...)
	}
	return options
}

// namesOf returns a completion for each name, which inserts the name and what follows it.
func namesOf(names []string, after, detail string) (options []Completion) {
	for _, name := range names {
		options = append(options, Completion{name, name + after, detail, ""})
	}
	return options
}

// values returns the values that can stand at a place.
func (s *Studio) values(o *outline) (options []Completion) {
	switch {
	case o.at("nodes", "[]", "use"):
		for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
			options = append(options, Completion{name, name, "", s.kinds[name].Doc})
		}
		return options
	case o.at("nodes", "[]", "next"), o.at("nodes", "[]", "next", "*"):
		return s.targetsAt(o)
	case o.at("nodes", "[]", "with", "*") && o.node() != nil && s.systemValues(o.node().use, o.path[3]) != nil:
		return namesOf(s.systemValues(o.node().use, o.path[3]), "", "")
	case o.at("waive", "[]", "node"):
		return namesOf(o.ids(), "", "")
	case isExpression(o):
		return s.expressionNames(o)
	case o.at("nodes", "[]", "with", "attributes", "[]"):
		return namesOf(s.attributes, "", "attribute")
	case o.at("nodes", "[]", "with", "from"), o.at("nodes", "[]", "with", "attributes", "*"):
		return namesOf(inputsOf(o.nodes), "", "input")
	}
	return s.schemaAt(o).values()
}

// targetsAt returns what an outcome can lead to: the nodes, the end of the run, or the outcomes of the
// sub-flow that the text is.
func (s *Studio) targetsAt(o *outline) (options []Completion) {
	for _, n := range o.nodes {
		if n.id != "" && !slices.ContainsFunc(options, func(c Completion) bool { return c.Label == n.id }) {
			options = append(options, Completion{n.id, n.id, n.use, ""})
		}
	}
	if len(o.exits) > 0 {
		return append(options, namesOf(o.exits, "", "outcome of the sub-flow")...)
	}
	return append(options, namesOf([]string{schemas.End}, "", "")...)
}

// outcomes returns the outcomes of a node, as far as its configuration is right.
func (s *Studio) outcomes(n *outlineNode) []engine.Outcome {
	if n == nil || s.kinds[n.use] == nil {
		return nil
	}
	kind := s.kinds[n.use]
	if n.use == schemas.SubflowKind {
		f, _ := s.subflows.Subflow(n.flow)
		return exits(f)
	}
	with := json.RawMessage("{}")
	if n.document != nil && n.document.At("with") != nil {
		with = n.document.At("with").JSON()
	}
	if kind.New != nil && (kind.With == nil || len(kind.With.Check(with)) == 0) {
		exec, _ := kind.New(&engine.Config{FlowType: schemas.Authentication, Node: &schemas.Node{ID: n.id, Use: n.use, With: with}, With: with,
			Collected: func() engine.Collected { return engine.Collected{Partial: true} }})
		if shaper, ok := exec.(engine.OutcomeConfigurer); ok {
			return shaper.Outcomes()
		}
	}
	return slices.DeleteFunc(slices.Clone(kind.Outcomes), func(o engine.Outcome) bool { return strings.HasPrefix(o.Name(), "<") })
}

// exits returns the outcomes of a sub-flow.
func exits(f *schemas.Flow) (list []engine.Outcome) {
	if f == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.Outcomes)) {
		list = append(list, engine.On(name, engine.NoEffect(), engine.Outcome{Doc: f.Outcomes[name]}))
	}
	if list == nil {
		list = []engine.Outcome{engine.On(schemas.End, engine.NoEffect(), engine.Outcome{})}
	}
	return list
}

// jsonSchema is a JSON Schema, decoded.
type jsonSchema map[string]any

func (j jsonSchema) object(name string) jsonSchema {
	member, _ := j[name].(map[string]any)
	return member
}

func (j jsonSchema) text(name string) string {
	text, _ := j[name].(string)
	return text
}

func (j jsonSchema) typeName() string {
	if j["enum"] != nil {
		return "enum"
	}
	return j.text("type")
}

// schemaAt returns the schema of the value at a place: within `with` it is that of the kind.
func (s *Studio) schemaAt(o *outline) jsonSchema {
	path, schema := o.path, schemas.FlowSchema()
	if n := o.node(); n != nil && len(path) > 2 && path[2] == "with" {
		kind := s.kinds[n.use]
		if kind == nil || kind.With == nil {
			return nil
		}
		path, schema = path[3:], kind.With
	}
	return schemaAt(decodeSchema(schema), path)
}

// schemaAt returns the schema of the value at a path; "[]" stands for the items of a list.
func schemaAt(root jsonSchema, path []string) jsonSchema {
	at := root
	for _, step := range path {
		at = resolve(root, at)
		if step == "[]" {
			at = at.object("items")
			continue
		}
		properties, further := at.object("properties"), at.object("additionalProperties")
		if at = properties.object(step); at == nil {
			at = further
		}
	}
	return resolve(root, at)
}

func decodeSchema(schema *schemas.Schema) (root jsonSchema) {
	if err := json.Unmarshal(schema.Raw(), &root); err != nil {
		panic(err) // it was compiled
	}
	return root
}

// resolve follows a reference to a definition of the same schema.
func resolve(root, at jsonSchema) jsonSchema {
	if name, ok := strings.CutPrefix(at.text("$ref"), "#/$defs/"); ok {
		return root.object("$defs").object(name)
	}
	return at
}

// Description describes the word at a place.
type Description struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	// Node is the id of the node that the word is or names, with its facts if the flow has no errors.
	Node  string   `json:"node"`
	Facts []string `json:"facts"`
}

// Describe describes the word at a place: a kind, a member, or a node with the facts that hold there.
func (s *Studio) Describe(c Cursor) (*Description, error) {
	line := lineOf(c.Text, c.Line)
	start, end := wordAt(line, c.Column)
	word := string([]rune(line)[start:end])
	o := outlineAt(c.Text, s.parsed(c.Text), c.Line, end)
	d := &Description{Title: word, Facts: []string{}}
	isName := strings.HasPrefix(strings.TrimLeft(string([]rune(line)[end:]), `"`), ":")
	switch {
	case word == "":
		return d, nil
	case isName:
		o = outlineAt(c.Text, s.parsed(c.Text), c.Line, end+1)
		if d.Text = s.schemaAt(&o).text("description"); o.at("nodes", "[]", "next", "*") {
			d.Text = s.outcomeDoc(o.node(), word)
		}
		return d, nil
	case o.at("nodes", "[]", "use") && s.kinds[word] != nil:
		d.Text = s.kinds[word].Describe()
		if n := o.node(); n != nil {
			d.Node = n.id
		}
	case slices.Contains(o.ids(), word):
		d.Node = word
		i := slices.IndexFunc(o.nodes, func(n outlineNode) bool { return n.id == word })
		d.Text = o.nodes[i].use
	}
	if found := s.check(Source{Text: c.Text}); d.Node != "" && found.graph != nil {
		d.Facts = words(placesOf(found.graph).at(d.Node))
	}
	return d, nil
}

func (s *Studio) outcomeDoc(n *outlineNode, name string) string {
	for _, outcome := range s.outcomes(n) {
		if outcome.Name() == name {
			return outcome.Doc
		}
	}
	return ""
}

func lineOf(text string, line int) string {
	lines := strings.Split(text, "\n")
	return lines[min(max(line, 1), len(lines))-1]
}

// wordAt returns the borders of the word at a column, in characters.
func wordAt(line string, column int) (start, end int) {
	runes := []rune(line)
	column = min(max(column, 0), len(runes))
	inWord := func(i int) bool {
		return i >= 0 && i < len(runes) && !strings.ContainsRune(" \t\"',:{}[]#", runes[i])
	}
	for start = column; inWord(start - 1); start-- {
	}
	for end = column; inWord(end); end++ {
	}
	return start, cmp.Or(end, start)
}
