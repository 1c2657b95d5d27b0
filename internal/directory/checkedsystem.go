package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// CheckedSystem returns what CheckFlowText depends on, for a caller that checks flows itself.
func (d *Directory) CheckedSystem(ctx context.Context, c Call) (*schemas.CheckedSystem, error) {
	s := &schemas.CheckedSystem{Subflows: []schemas.Flow{}, Parts: []schemas.Flow{}, Targets: append([]string{}, d.Targets...), SendsMail: d.SendsMail}
	page := store.Page{Member: "flowType", Value: string(schemas.Subflow)}
	id := func(f *schemas.Flow) string { return f.ID }
	err := forEach(ctx, d.reader(c), store.Flows().List, page, id, func(f *schemas.Flow) error {
		s.Subflows = append(s.Subflows, *f)
		return nil
	})
	listed := map[schemas.Use]bool{}
	for i := range s.Subflows {
		listed[useOf(&s.Subflows[i])] = true
	}
	for i := range s.Subflows {
		s.Parts = appendParts(s.Parts, &s.Subflows[i], listed)
	}
	return s, err
}

// appendParts adds the sub-flows that f uses, and those that these use, unless they are listed.
func appendParts(list []schemas.Flow, f *schemas.Flow, listed map[schemas.Use]bool) []schemas.Flow {
	for _, part := range f.Parts {
		if !listed[useOf(part)] {
			listed[useOf(part)] = true
			list = appendParts(append(list, *part), part, listed)
		}
	}
	return list
}

// useOf identifies a version of a sub-flow. Its handle can change.
func useOf(f *schemas.Flow) schemas.Use { return schemas.Use{ID: f.ID, Version: f.ActiveVersion} }
