package flowtest

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// placeholder matches the placeholder of a column: <password>.
var placeholder = regexp.MustCompile(`<([A-Za-z][A-Za-z0-9_-]*)>`)

// expansion replaces the scenarios with a table (`each`) by one scenario for each row.
type expansion struct {
	doc      *schemas.Document
	items    []*schemas.Document // the scenarios after the expansion
	from     []int               // the index in the file of each
	problems []schemas.Problem
}

// expand returns the document with a scenario for each row of a table. A table that is not as the
// schema demands stays, so that the schema reports it.
func expand(doc *schemas.Document) *expansion {
	e := &expansion{doc: doc}
	scenarios := doc.ItemsAt("scenarios")
	if !slices.ContainsFunc(scenarios, hasTable) {
		return e
	}
	for i, s := range scenarios {
		if !hasTable(s) {
			e.add(i, s)
			continue
		}
		e.addRows(i, s)
	}
	e.doc = doc.Edited(map[string]any{"scenarios": doc.At("scenarios").WithItems(e.items)})
	return e
}

func (e *expansion) add(i int, scenario *schemas.Document) {
	e.items, e.from = append(e.items, scenario), append(e.from, i)
}

// hasTable reports whether a scenario has a table of rows, each an object.
func hasTable(scenario *schemas.Document) bool {
	table := scenario.At("each")
	rows := rowsOf(table)
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(r row) bool { return !r.values.IsObject() })
}

// row is a row of a table.
type row struct {
	name   string
	path   string // below the scenario
	values *schemas.Document
}

func rowsOf(table *schemas.Document) (rows []row) {
	if table == nil {
		return nil
	}
	for _, name := range table.Members() {
		path := schemas.MemberPath("each", name)
		rows = append(rows, row{name, path, table.At(schemas.MemberPath("", name))})
	}
	return rows
}

// addRows adds a scenario for each row of the table of scenario i.
func (e *expansion) addRows(i int, scenario *schemas.Document) {
	rows := rowsOf(scenario.At("each"))
	template := scenario.Edited(map[string]any{"each": nil})
	used, columns := map[string]bool{}, columnsOf(rows)
	for _, r := range rows {
		s := substitution{row: r, columns: columns, scenario: scenarioPath(i), used: used}
		item := template.Replaced(s.replace)
		e.problems = append(e.problems, s.problems...)
		if name := item.At("name"); name != nil {
			text, _ := name.Text()
			item = item.Edited(map[string]any{"name": name.WithText(text + ": " + r.name)})
		}
		e.add(i, item.MovedTo(r.values))
	}
	for _, column := range columns {
		if !used[column] {
			e.problems = append(e.problems, e.unusedColumn(i, rows, column))
		}
	}
}

// unusedColumn returns the problem of a column that scenario i does not use. It is in the first row
// with the column.
func (e *expansion) unusedColumn(i int, rows []row, column string) schemas.Problem {
	first := rows[slices.IndexFunc(rows, func(r row) bool { return r.has(column) })]
	p := problem(schemas.JoinPath(scenarioPath(i), schemas.MemberPath(first.path, column)), "the scenario does not use the column %q: write <%s> in it, or remove the column", column, column).OnName()
	p.Line, p.Column = e.doc.Place(p)
	return p
}

func (r row) has(column string) bool { return slices.Contains(r.values.Members(), column) }

// columnsOf returns the columns of all rows, each once.
func columnsOf(rows []row) (columns []string) {
	for _, r := range rows {
		for _, column := range r.values.Members() {
			if !slices.Contains(columns, column) {
				columns = append(columns, column)
			}
		}
	}
	return columns
}

// substitution replaces the placeholders of a scenario by the values of a row.
type substitution struct {
	row      row
	columns  []string // of all rows
	scenario string   // its path
	used     map[string]bool
	problems []schemas.Problem
}

// replace implements the function of schemas.Document.Replaced. A text that is only a placeholder
// becomes the value of the column, of any type; within a text the value is inserted.
func (s *substitution) replace(text *schemas.Document) *schemas.Document {
	template, _ := text.Text()
	if column := placeholder.FindString(template); column == template && column != "" {
		return s.value(text, strings.Trim(column, "<>"))
	}
	whole := placeholder.ReplaceAllStringFunc(template, func(match string) string {
		value := s.value(text, strings.Trim(match, "<>"))
		if value == nil {
			return match
		}
		inserted, ok := value.IsScalar()
		if !ok {
			s.report(value, "expected a text, a number, true or false, because %s is a part of a text", match)
		}
		return inserted
	})
	if whole == template {
		return nil
	}
	return text.WithText(whole)
}

// value returns the value of a column in the row, nil if the row has none.
func (s *substitution) value(at *schemas.Document, column string) *schemas.Document {
	s.used[column] = true
	value := s.row.values.At(schemas.MemberPath("", column))
	switch {
	case value != nil:
	case slices.Contains(s.columns, column):
		s.report(s.row.values, "this row has no value for <%s>; write %s: null to omit the member", column, column)
	default:
		s.report(at, "no row has the column %q%s", column, schemas.Hint(column, s.columns))
	}
	return value
}

// report adds a problem at the position of a value.
func (s *substitution) report(at *schemas.Document, format string, args ...any) {
	p := problem(s.scenario, format, args...)
	p.Line, p.Column = at.Place(schemas.Problem{})
	s.problems = append(s.problems, p)
}

// locate returns problems with their positions, sorted, each once: a problem of a scenario with a
// table occurs in each row. The paths are those of the file.
func (f *File) locate(problems []schemas.Problem) []schemas.Problem {
	seen := map[string]bool{}
	list := slices.DeleteFunc(f.doc.Locate(problems), func(p schemas.Problem) bool {
		key := strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) + " " + p.Message
		known := seen[key]
		seen[key] = true
		return known
	})
	for i := range list {
		list[i].Path = f.expansion.pathInFile(list[i].Path)
	}
	return list
}

// pathInFile returns the path in the file of a path after the expansion.
func (e *expansion) pathInFile(path string) string {
	for i, from := range e.from {
		if rest, found := strings.CutPrefix(path, scenarioPath(i)); found && from != i {
			return scenarioPath(from) + rest
		}
	}
	return path
}

// loosen lets editors accept a placeholder where the schema of scenarios demands another value than a
// free text. The values after the substitution are checked with the schema itself.
func loosen(defs map[string]any) {
	defs["placeholder"] = map[string]any{"type": "string", "pattern": placeholder.String(), "description": "A value from the table `each` of the scenario."}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		def, _ := defs[name].(map[string]any)
		properties, _ := def["properties"].(map[string]any)
		if slices.Contains([]string{"user", "device", "application"}, name) {
			continue
		}
		for member, value := range properties {
			if schema, ok := value.(map[string]any); ok && member != "each" && member != "steps" {
				properties[member] = loosened(schema, defs)
			}
		}
	}
}

// loosened returns a schema that accepts what another accepts, and placeholders.
func loosened(schema, defs map[string]any) map[string]any {
	if isFreeText(schema) || refersToObject(schema, defs) {
		return schema
	}
	strict := maps.Clone(schema)
	for _, inner := range []string{"items", "additionalProperties"} {
		if below, ok := strict[inner].(map[string]any); ok {
			strict[inner] = loosened(below, defs)
		}
	}
	loose := map[string]any{"anyOf": []any{strict, map[string]any{"$ref": "#/$defs/placeholder"}}}
	if about, has := strict["description"]; has {
		loose["description"] = about
		delete(strict, "description")
	}
	return loose
}

func isFreeText(schema map[string]any) bool {
	return schema["type"] == "string" && schema["enum"] == nil && schema["pattern"] == nil && schema["format"] == nil
}

func refersToObject(schema, defs map[string]any) bool {
	ref, _ := schema["$ref"].(string)
	def, _ := defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	return def["properties"] != nil
}
