package schemas

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// checkRoot checks the rules for the whole schema.
func (w *definition) checkRoot() {
	if m := w.root.member("type"); m == nil || m.value.shape == stringShape && m.value.text != "object" {
		w.note(w.root.place, `expected "type": "object" at the top: the attributes of a user are an object`)
	}
	if properties := w.root.member("properties"); properties != nil {
		w.at = w.at.member("properties")
		for m := range w.children(properties.value) {
			w.checkAttribute(m)
		}
		w.at = w.at.up()
	}
	w.checkRequired()
}

// checkAttribute checks the schema of one attribute.
func (w *definition) checkAttribute(m member) {
	if len(m.name) > maxAttributeLength || strings.ContainsFunc(m.name, isUnfitForName) {
		w.noteName(m, fmt.Sprintf("expected a name of at most %d bytes without spaces", maxAttributeLength))
	}
	identifies := slices.Contains(IdentifyingAttributes(), m.name)
	switch isString := schemaHas(m.value, "type", "string"); {
	case identifies && !isString:
		w.note(m.value.place, `expected "type": "string": users sign in with it`)
	case m.name == passwordAttribute && !schemaHas(m.value, credentialMark, "true"):
		w.note(m.value.place, fmt.Sprintf(`expected %q: true; without it passwords would be stored and returned in the clear`, credentialMark))
	case m.name == passwordAttribute && !isString:
		w.note(m.value.place, `expected "type": "string": a password is text`)
	}
}

func isUnfitForName(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) }

// checkRequired finds required attributes that cannot exist: no user would fit.
func (w *definition) checkRequired() {
	required := w.root.member("required")
	if required == nil || !schemaHas(w.root, "additionalProperties", "false") || w.root.member("patternProperties") != nil {
		return
	}
	var known []string
	for _, m := range w.members("properties") {
		known = append(known, m.name)
	}
	w.at = w.at.member("required")
	for m := range w.children(required.value) {
		if item := m.value; item.shape == stringShape && !slices.Contains(known, item.text) {
			w.note(item.place, unknown("attribute", item.text, known))
		}
	}
	w.at = w.at.up()
}

// schemaHas reports whether a schema has a value, true, false or a word, under a
// keyword.
func schemaHas(schema *element, keyword, value string) bool {
	m := schema.member(keyword)
	return m != nil && m.value.text == value && (m.value.shape == stringShape) == (value != "true" && value != "false")
}

// checkNote checks an annotation.
func (w *definition) checkNote(of *element, m member) {
	switch m.name {
	case "$schema", "$id":
		if of != w.root {
			w.noteName(m, "it is allowed only at the top of the schema; remove it here")
		}
	case expectMark:
		if m.value.shape != stringShape {
			w.note(m.value.place, "expected a string that fits after the word expected, got "+m.value.shape.words())
		}
	case uniqueMark, credentialMark:
		w.checkMark(of, m)
	}
}

// checkMark checks that a mark is at an attribute that can have it.
func (w *definition) checkMark(of *element, m member) {
	attribute := len(w.at) == 3 && w.at[0].name == "properties"
	switch {
	case m.value.shape != booleanShape:
		w.note(m.value.place, "expected true or false, got "+m.value.shape.words())
	case m.value.text == "false":
	case !attribute:
		w.noteName(m, "only attributes themselves can be marked, not parts of them; move it to a property at the top of the schema")
	case m.name == credentialMark && w.at[1].name != passwordAttribute:
		w.noteName(m, fmt.Sprintf("only the attribute %q can be a credential", passwordAttribute))
	case m.name == uniqueMark && schemaHas(of, credentialMark, "true"):
		w.noteName(m, "a credential cannot be unique: that would reveal that another user has the same")
	case m.name == uniqueMark && !schemaHas(of, "type", "string") && !schemaHas(of, "type", "number") && !schemaHas(of, "type", "integer"):
		w.noteName(m, `only an attribute of one type can be unique: "string", "number" or "integer"`)
	}
}
