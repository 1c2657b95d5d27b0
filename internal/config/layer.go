package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// layer contains the keys of one source.
type layer struct {
	values   map[string]any  // key → its value, if valid
	faulty   map[string]bool // keys with a wrong value, and sections with an unknown key
	problems []schemas.Problem
}

// newLayer keeps the valid values, by key, and checks each.
func newLayer(given map[string]any, problems []schemas.Problem) *layer {
	l := &layer{values: make(map[string]any), faulty: make(map[string]bool), problems: problems}
	for _, p := range problems {
		l.faulty[keyOf(p.Path)] = true
		if !slices.ContainsFunc(keys(), func(k key) bool { return k.path == keyOf(p.Path) }) {
			l.faulty[sectionOf(p.Path)] = true
		}
	}
	for _, k := range keys() {
		value, ok := given[k.path]
		if !ok || l.faulty[k.path] && k.typ != "array" { // a list is checked item by item
			continue
		}
		read, problems := readValue(k, value)
		l.problems = append(l.problems, problems...)
		l.faulty[k.path] = l.faulty[k.path] || len(problems) > 0
		if !l.faulty[k.path] {
			l.values[k.path] = read
		}
	}
	return l
}

// keyOf returns the key a path leads to: passkey.allowed_origins[1] is at fault
// in passkey.allowed_origins, and http.targets.crm.url in http.targets.
func keyOf(path string) string {
	path, _, _ = strings.Cut(path, "[")
	for _, k := range keys() {
		if k.typ == "object" && strings.HasPrefix(path, k.path+".") {
			return k.path
		}
	}
	return path
}

// sectionOf returns the section of a key, "" for the whole configuration.
func sectionOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

// isUncertain reports whether one of the keys may not have the intended value, because its value is
// invalid or it was misspelled.
func (l *layer) isUncertain(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		return l.faulty[key] || l.faulty[sectionOf(key)] || l.faulty[""]
	})
}

// readFile reads the text of a file. The document is nil if there is no file, or if the file cannot
// be parsed.
func readFile(text []byte) (*layer, *schemas.Document) {
	if isBlank(text) {
		return newLayer(nil, nil), nil
	}
	document, problems := schemas.ParseYAML(text)
	if len(problems) > 0 {
		return newLayer(nil, problems), nil
	}
	document = document.WithoutNulls()
	var root any
	if err := decodeJSON(document.JSON(), &root); err != nil {
		return newLayer(nil, []schemas.Problem{{Message: err.Error()}}), nil
	}
	given := make(map[string]any)
	for _, k := range keys() {
		if value, ok := lookUp(root, k.path); ok {
			given[k.path] = value
		}
	}
	return newLayer(given, checkSchema(document.JSON())), document
}

// isBlank reports whether a text has only blank lines and comments, like a file in which every key
// is commented out.
func isBlank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

func lookUp(root any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := root.(map[string]any)
		below, ok := object[name]
		if !ok {
			return nil, false
		}
		root = below
	}
	return root, true
}

// readEnvironment reads the variables that are keys. Its problems have keys as paths;
// withVariableNames replaces these.
func readEnvironment(environ []string) *layer {
	given := make(map[string]any)
	var unknown []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, prefix) || isOther(name) {
			continue
		}
		i := slices.IndexFunc(keys(), func(k key) bool { return k.variable == name })
		switch {
		case i < 0:
			unknown = append(unknown, name)
		case value == "":
			delete(given, keys()[i].path)
		default:
			given[keys()[i].path] = parse(keys()[i].typ, value)
		}
	}
	text, err := json.Marshal(overlay(given))
	if err != nil {
		return newLayer(nil, []schemas.Problem{{Message: err.Error()}})
	}
	problems := checkSchema(text)
	for i, p := range problems { // every variable is a string: quote it, except an object with secrets
		value, isText := given[p.Path].(string)
		before, isType := strings.CutSuffix(p.Message, "got a string")
		if isText && isType && !strings.Contains(before, "object") {
			problems[i].Message = fmt.Sprintf("%sgot %.64q", before, value)
		}
	}
	l := newLayer(given, problems)
	for _, name := range unknown {
		l.unknownVariable(name)
	}
	return l
}

// unknownVariable reports a variable that does not exist. The key that was probably meant counts as
// doubtful.
func (l *layer) unknownVariable(name string) {
	var variables []string
	for _, k := range keys() {
		variables = append(variables, k.variable)
	}
	message := "there is no such variable; unset it"
	if near := schemas.Suggest(name, variables); near != "" {
		message = fmt.Sprintf("there is no such variable; did you mean %s?", near)
		l.faulty[keys()[slices.Index(variables, near)].path] = true
	}
	l.problems = append(l.problems, schemas.Problem{Path: name, Message: message})
}

// parse converts a variable's text to the key's type, or returns the string, which the schema then
// rejects.
func parse(typ, text string) any {
	switch typ {
	case "array":
		items := []any{}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return items
	case "boolean", "integer", "number", "object":
		var value any
		if err := decodeJSON([]byte(text), &value); err == nil {
			return value
		}
	}
	return text
}

// withVariableNames replaces the key in each problem's path with the name of its variable.
func (l *layer) withVariableNames() []schemas.Problem {
	for i, p := range l.problems {
		for _, k := range keys() {
			if key := keyOf(p.Path); key == k.path {
				l.problems[i].Path = k.variable + p.Path[len(key):]
			}
		}
	}
	return l.problems
}

// object is a partial configuration.
type object map[string]any

// overlay merges the values of layers; later layers override earlier ones.
func overlay(layers ...map[string]any) object {
	root := object{}
	for _, values := range layers {
		for path, value := range values {
			root.set(path, value)
		}
	}
	return root
}

func (o object) set(path string, value any) {
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		o[name] = value
		return
	}
	below, ok := o[name].(object)
	if !ok {
		below = object{}
		o[name] = below
	}
	below.set(rest, value)
}

// decode fills the configuration.
func (o object) decode(cfg *Config) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return decodeJSON(text, cfg)
}

// decodeJSON is json.Unmarshal with exact numbers, and rejects unknown keys.
func decodeJSON(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
