package schemas

// Replaced returns a copy of the document with other texts. For each text replace returns the document
// that stands there instead, which keeps its positions, or nil to keep the text. For the name of a
// member it must return a text or nil; of two members with the same name the first remains.
func (d *Document) Replaced(replace func(text *Document) *Document) *Document {
	return part(d.root.replaced(func(e *element) *element {
		if with := replace(part(e)); with != nil {
			return with.root
		}
		return e
	}))
}

func (e *element) replaced(replace func(text *element) *element) *element {
	if e.shape == stringShape {
		return replace(e)
	}
	c := *e
	c.items, c.object = nil, nil
	for _, item := range e.items {
		c.addItem(item.replaced(replace))
	}
	for _, m := range e.members() {
		name := replace(&element{place: m.place, shape: stringShape, text: m.name})
		c.add(member{place: m.place, name: name.text, value: m.value.replaced(replace)})
	}
	return &c
}

// WithText returns a text that has the position of the document.
func (d *Document) WithText(text string) *Document {
	return part(&element{place: d.root.place, shape: stringShape, text: text})
}

// WithItems returns a list that has the position of the document.
func (d *Document) WithItems(items []*Document) *Document {
	list := &element{place: d.root.place, shape: arrayShape}
	for _, item := range items {
		list.addItem(item.root)
	}
	return part(list)
}

// MovedTo returns the document with the position of another; the values in it keep theirs.
func (d *Document) MovedTo(other *Document) *Document {
	moved := *d.root
	moved.place = other.root.place
	return part(&moved)
}

// IsObject reports whether the document is an object.
func (d *Document) IsObject() bool { return d.root.shape == objectShape }

// IsScalar reports whether the document is a text, a number, true or false, and returns how it is
// written.
func (d *Document) IsScalar() (text string, ok bool) {
	return d.root.text, d.root.shape == stringShape || d.root.shape == numberShape || d.root.shape == booleanShape
}
