package schemas

import (
	"encoding/json"
	"maps"
	"slices"
)

// Members lists the names of the document's members in the author's order; none if it is not an
// object.
func (d *Document) Members() []string {
	var names []string
	for _, m := range d.root.members() {
		names = append(names, m.name)
	}
	return names
}

// Items returns the items of a list, each as a document of its own; ok is false if the document is
// not a list.
func (d *Document) Items() (items []*Document, ok bool) {
	for _, item := range d.root.items {
		items = append(items, part(item))
	}
	return items, d.root.shape == arrayShape
}

// ItemsAt returns the items of the list at a path, nil if there is none.
func (d *Document) ItemsAt(path string) []*Document {
	at := d.At(path)
	if at == nil {
		return nil
	}
	items, _ := at.Items()
	return items
}

// HasNullItem reports whether an item of a list is null, at any depth.
func (d *Document) HasNullItem() bool { return d.root.hasNullItem() }

func (e *element) hasNullItem() bool {
	return slices.ContainsFunc(e.items, func(item *element) bool { return item.shape == nullShape || item.hasNullItem() }) ||
		slices.ContainsFunc(e.members(), func(m member) bool { return m.value.hasNullItem() })
}

// At returns the value at a path as a document of its own; nil if there is none. Its positions are
// those in the whole text.
func (d *Document) At(path string) *Document {
	at, found := d.root.find(path)
	if !found {
		return nil
	}
	return part(at.value)
}

func part(e *element) *Document { return &Document{root: e} }

// Text returns the string that the document is; ok is false if it is not a string.
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
// or of the object, for later problems; a *Document keeps its own. A path that does not exist has no
// effect.
func (d *Document) Edited(edits map[string]any) *Document {
	root := d.root.copied(func(member) bool { return true })
	for _, path := range slices.Sorted(maps.Keys(edits)) {
		root.edit(path, edits[path])
	}
	return part(root)
}

// copied returns a copy of the value, and of all in it, with the members to keep.
func (e *element) copied(keep func(m member) bool) *element {
	c := *e
	c.items, c.object = nil, nil
	for _, item := range e.items {
		c.items = append(c.items, item.copied(keep))
	}
	for _, m := range e.members() {
		if keep(m) {
			m.value = m.value.copied(keep)
			c.add(m)
		}
	}
	return &c
}

func (e *element) edit(path string, value any) {
	next, rest, ok := cutSegment(path)
	if !ok {
		return
	}
	switch inner, key := e.child(next); {
	case inner != nil && rest != "":
		inner.edit(rest, value)
	case key != nil && value == nil:
		removeMember(e, next.name)
	case inner != nil:
		*inner = *newElement(value, inner.place)
	case rest == "" && value != nil && !next.item && e.shape == objectShape:
		e.add(member{place: e.place, name: next.name, value: newElement(value, e.place)})
	}
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

// newElement creates an element from a Go value, at a place.
func newElement(value any, at place) *element {
	if d, ok := value.(*Document); ok {
		return d.root
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic("schemas: a value that has no JSON: " + err.Error()) // its type is the program's own
	}
	d, problems := ParseJSON(text)
	if len(problems) > 0 {
		panic("schemas: a value that is not JSON: " + problems[0].String())
	}
	d.root.move(at)
	return d.root
}

// move changes the positions of the element and of everything in it.
func (e *element) move(to place) {
	e.place = to
	for _, item := range e.items {
		item.move(to)
	}
	for i := range e.members() {
		m := &e.object.members[i]
		m.place = to
		m.value.move(to)
	}
}
