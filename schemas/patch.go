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
	current.root.move(0, 0)
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
	merged := &element{shape: objectShape, line: patch.line, column: patch.column}
	for _, m := range target.members() {
		if patch.member(m.name) == nil {
			merged.add(m)
		}
	}
	for _, m := range patch.members() {
		if m.value.shape == nullShape {
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
// values of the top-level members named verbatim stay as they are.
func (d *Document) WithoutAbsent(s *Schema, verbatim ...string) *Document {
	root := withoutNulls(d.root, verbatim)
	for _, name := range s.optionalText {
		if m := root.member(name); m != nil && m.value.shape == stringShape && m.value.text == "" {
			removeMember(root, name)
		}
	}
	return part(root)
}

func withoutNulls(e *element, verbatim []string) *element {
	copied := *e
	copied.items, copied.object = nil, nil
	for _, item := range e.items {
		copied.items = append(copied.items, withoutNulls(item, nil))
	}
	for _, m := range e.members() {
		if m.value.shape == nullShape {
			continue
		}
		if !slices.Contains(verbatim, m.name) {
			m.value = withoutNulls(m.value, nil)
		}
		copied.add(m)
	}
	return &copied
}
