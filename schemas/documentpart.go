package schemas

import (
	"encoding/json"
	"maps"
	"slices"
)

// Members lists the names of the document's members in the author's order; none
// if it is no object.
func (d *Document) Members() []string {
	var names []string
	for _, m := range d.root.members() {
		names = append(names, m.name)
	}
	return names
}

// Items returns the items of a list, each as a document of its own; ok is false
// if the document is no list.
func (d *Document) Items() (items []*Document, ok bool) {
	for _, item := range d.root.items {
		items = append(items, part(item))
	}
	return items, d.root.shape == arrayShape
}

// At returns the value at a path as a document of its own; nil if nothing is
// there. It knows its places in the text of the whole.
func (d *Document) At(path string) *Document {
	at := d.root
	for path != "" {
		next, rest, ok := cutSegment(path)
		if !ok {
			return nil
		}
		m := at.member(next.name)
		switch {
		case next.item && next.index < len(at.items):
			at = at.items[next.index]
		case !next.item && m != nil:
			at = m.value
		default:
			return nil
		}
		path = rest
	}
	return part(at)
}

func part(e *element) *Document { return &Document{text: e.appendJSON(nil), root: e} }

// Text returns the string that the document is; ok is false if it is no string.
func (d *Document) Text() (text string, ok bool) {
	if d.root.shape != stringShape {
		return "", false
	}
	return d.root.text, true
}

// TextAt is the string at a path, "" if there is none.
func (d *Document) TextAt(path string) string {
	at := d.At(path)
	if at == nil {
		return ""
	}
	text, _ := at.Text()
	return text
}

// Edited returns a copy of the document with other values at some paths. A nil value removes the
// member; a missing member is added to its object. New values have the position of the old value,
// or of the object, for later problems. A path that does not exist has no effect.
func (d *Document) Edited(edits map[string]any) *Document {
	e := editor{}
	root := e.own(d.root)
	for _, path := range slices.Sorted(maps.Keys(edits)) {
		e.edit(root, path, edits[path])
	}
	return part(root)
}

// editor holds the elements that it has copied, and may write to.
type editor map[*element]bool

// own returns the element, or a copy of it, that may be written to.
func (e editor) own(at *element) *element {
	if e[at] {
		return at
	}
	copied := *at
	copied.items = slices.Clone(at.items)
	if at.object != nil {
		copied.object = &object{members: slices.Clone(at.object.members), index: maps.Clone(at.object.index)}
	}
	e[&copied] = true
	return &copied
}

func (e editor) edit(at *element, path string, value any) {
	next, rest, ok := cutSegment(path)
	if !ok {
		return
	}
	m := at.member(next.name)
	switch {
	case next.item && next.index < len(at.items):
		at.items[next.index] = e.edited(at.items[next.index], rest, value)
	case next.item:
	case m != nil && rest == "" && value == nil:
		removeMember(at, next.name)
	case m != nil:
		m.value = e.edited(m.value, rest, value)
	case rest == "" && value != nil && at.shape == objectShape:
		at.add(member{name: next.name, line: at.line, column: at.column, value: newElement(value, at)})
	}
}

// edited is what stands in the place of old: the value, or old with the value
// somewhere in it.
func (e editor) edited(old *element, rest string, value any) *element {
	if rest == "" {
		return newElement(value, old)
	}
	old = e.own(old)
	e.edit(old, rest, value)
	return old
}

func removeMember(at *element, name string) {
	members := at.object.members
	at.object = nil
	for _, m := range members {
		if m.name != name {
			at.add(m)
		}
	}
}

// newElement creates an element from a Go value, at the position of another.
func newElement(value any, at *element) *element {
	text, err := json.Marshal(value)
	if err != nil {
		panic("schemas: a value that has no JSON: " + err.Error()) // its type is the program's own
	}
	d, problems := ParseJSON(text)
	if len(problems) > 0 {
		panic("schemas: a value that is no JSON: " + problems[0].String())
	}
	d.root.move(at.line, at.column)
	return d.root
}

// move says of the element, and of all in it, that it stands elsewhere.
func (e *element) move(line, column int32) {
	e.line, e.column = line, column
	for _, item := range e.items {
		item.move(line, column)
	}
	for i := range e.members() {
		m := &e.object.members[i]
		m.line, m.column = line, column
		m.value.move(line, column)
	}
}
