package schemas

import (
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// longList is a member of a schema that is a list whose items are valid each by itself, such as the nodes
// of a flow. A flow is checked at each keystroke, and nearly all of its nodes are the same as before.
type longList struct {
	name     string
	schema   *jsonschema.Schema
	accepted *acceptedValues // items
}

// fewItems is how many items are validated again rather than remembered.
const fewItems = 8

// addList adds a member to the lists, if its schema limits nothing but the items and their number.
func (s *compiledSchema) addList(name string, property *jsonschema.Schema) {
	isPlain := property.Items2020 != nil && property.Ref == nil && !property.UniqueItems && property.Contains == nil &&
		property.UnevaluatedItems == nil && len(property.PrefixItems) == 0 && property.AllOf == nil && property.AnyOf == nil &&
		property.OneOf == nil && property.Not == nil && property.If == nil
	if isPlain && (property.MaxItems < 0 || property.MaxItems > fewItems) {
		s.lists = append(s.lists, longList{name, property, &acceptedValues{}})
	}
}

// shortened returns a value that the schema accepts if and only if it accepts the given one, with the
// same problems: a long list of valid items has only its first item. Of a list with too many items, the
// value has only one too many: a body has room for a hundred times as many.
func (s *compiledSchema) shortened(root *element) *element {
	short := root
	for _, l := range s.lists {
		m := root.member(l.name)
		if m == nil || len(m.value.items) <= fewItems {
			continue
		}
		kept := 1
		if most := l.schema.MaxItems; most >= 0 && len(m.value.items) > most {
			kept = most + 1
		} else if !l.accepts(m.value.items) {
			continue
		}
		if short == root {
			short = root.copiedMembers()
		}
		first := *m.value
		first.items = first.items[:kept]
		short.member(l.name).value = &first
	}
	return short
}

// accepts reports whether the items are valid, and as many as the list may have.
func (l *longList) accepts(items []*element) bool {
	if l.schema.MaxItems >= 0 && len(items) > l.schema.MaxItems || len(items) < l.schema.MinItems {
		return false
	}
	for _, item := range items {
		text := item.appendJSON(nil)
		if l.accepted.has(text) {
			continue
		}
		if l.schema.Items2020.Validate(item.plain()) != nil {
			return false
		}
		l.accepted.add(text)
	}
	return true
}

// copiedMembers returns a copy of an object with the same values.
func (e *element) copiedMembers() *element {
	c := *e
	c.object = nil
	for _, m := range e.members() {
		c.add(m)
	}
	return &c
}
