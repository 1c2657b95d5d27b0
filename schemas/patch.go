package schemas

import (
	"encoding/json"
	"fmt"
	"slices"
)

// MergePatch applies the document, a JSON Merge Patch (RFC 7396), to a JSON text. The
// result has the places of the values that the patch names, and none for the others, so
// that errors point into the patch.
func (d *Document) MergePatch(text json.RawMessage) (*Document, error) {
	current, problems := ParseJSON(text)
	if len(problems) > 0 {
		return nil, fmt.Errorf("apply a merge patch: %s", problems[0])
	}
	current.root.move(place{})
	return part(merge(current.root, d.root)), nil
}

// merge is MergePatch of RFC 7396 §2; the target is nil if there is none.
func merge(target, patch *element) *element {
	if patch.shape != objectShape {
		return patch
	}
	if target == nil {
		target = &element{}
	}
	merged := &element{shape: objectShape, place: patch.place}
	for _, m := range target.members() {
		if patch.member(m.name) == nil {
			merged.add(m)
		}
	}
	for _, m := range patch.members() {
		if m.isNull() {
			continue
		}
		var was *element
		if before := target.member(m.name); before != nil {
			was = before.value
		}
		m.value = merge(was, m.value)
		merged.add(m)
	}
	return merged
}

// WithoutAbsent returns the document without the members that count as absent: those that
// are null, at any depth, and the optional text members of the schema that are "". The
// values of top-level members that the schema marks with x-verbatim stay as they are.
func (d *Document) WithoutAbsent(s *Schema) *Document {
	isEmptyText := func(name string) bool {
		m := d.root.member(name)
		return m != nil && m.value.shape == stringShape && m.value.text == ""
	}
	if !d.root.hasNulls() && !slices.ContainsFunc(s.compiled().optionalText, isEmptyText) {
		return &Document{root: d.root, nodes: d.nodes, source: d.source}
	}
	root := d.root.withoutNulls(s)
	for _, name := range s.compiled().optionalText {
		if isEmptyText(name) {
			removeMember(root, name)
		}
	}
	return &Document{root: root, nodes: d.nodes, source: d.source}
}

// WithoutNulls returns the document without the members that are null, at any depth: they count
// as absent.
func (d *Document) WithoutNulls() *Document {
	if !d.root.hasNulls() {
		return d
	}
	return &Document{root: d.root.withoutNulls(nil), nodes: d.nodes, source: d.source}
}

// withoutNulls returns a copy of the value without members that are null. The schema, which says
// where null is data, may be nil.
func (e *element) withoutNulls(s *Schema) *element {
	copied := e.copied(func(m member) bool { return !m.isNull() })
	if s == nil {
		return copied
	}
	for _, name := range s.compiled().verbatim {
		if m := copied.member(name); m != nil {
			m.value = e.member(name).value
		}
	}
	return copied
}

// hasNulls reports whether a member of the value is null, at any depth.
func (e *element) hasNulls() bool {
	return slices.ContainsFunc(e.items, (*element).hasNulls) ||
		slices.ContainsFunc(e.members(), func(m member) bool { return m.isNull() || m.value.hasNulls() })
}
