package directory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// Rules become stricter from release to release, and apply to what is written: a resource keeps what it has.
// Recheck finds what a write would be refused for today.

// Outdated is a stored resource that the rules of today would not accept.
type Outdated struct {
	Noun     Noun
	ID       string
	Name     string // the value of the Key; "" for resources without one
	Problems []schemas.Problem
}

// Recheck writes every stored resource again, without a change, in transactions that it undoes, and reports those
// that would be refused, also for values that a write accepts while they stay the same. Of each noun it checks
// at most limit resources, and returns the nouns with more.
func (d *Directory) Recheck(ctx context.Context, limit int, report func(Outdated)) (cut []Noun, err error) {
	for _, r := range d.list {
		more, err := recheckAll(ctx, r, limit, report)
		if err != nil {
			return nil, fmt.Errorf("checking %s: %w", schemas.DisplayName(r.Noun().Plural), err)
		}
		if more {
			cut = append(cut, r.Noun())
		}
	}
	return cut, nil
}

// recheckAll checks the resources of a noun; more reports that there are more than limit.
func recheckAll(ctx context.Context, r Resource, limit int, report func(Outdated)) (more bool, err error) {
	noun := r.Noun()
	for q := (Query{Limit: pageSize}); ; {
		page, err := r.List(ctx, SystemCall(), q)
		if err != nil || len(page.Items) == 0 {
			return false, err
		}
		for i := range page.Items {
			if limit--; limit < 0 {
				return true, nil
			}
			item := &page.Items[i]
			text, err := json.Marshal(item.Value)
			if err != nil {
				return false, err
			}
			document, _ := schemas.ParseJSON(text) // JSON that was just written has no faults
			problems, err := r.recheck(ctx, SystemCall(), item, document)
			if err != nil {
				return false, err
			}
			for j := range problems {
				if noun.isUser { // whose values are personal data
					problems[j] = problems[j].WithoutValue()
				}
			}
			if len(problems) > 0 {
				report(Outdated{noun, item.ID, document.TextAt(cmp.Or(noun.Key, "key")), schemas.WithoutPlaces(problems)})
			}
		}
		q.After = page.Items[len(page.Items)-1].ID
	}
}

func (c *collection[T]) recheck(ctx context.Context, call Call, item *Item, d *schemas.Document) ([]schemas.Problem, error) {
	call.DryRun = true
	err := c.transact(ctx, call, func(w *writeContext) error {
		w.recheck = true
		_, _, err := c.read(w, &target{id: item.ID}, d, nil)
		return err
	})
	return refusals(err)
}

func (r flowResource) recheck(_ context.Context, call Call, item *Item, _ *schemas.Document) ([]schemas.Problem, error) {
	_, findings, err := r.d.prove(call, item.Value.(*schemas.Flow))
	return slices.DeleteFunc(findings, func(p schemas.Problem) bool { return p.Warning }), err
}

// refusals returns the problems for which a write was refused. A resource that was deleted meanwhile has none.
func refusals(err error) ([]schemas.Problem, error) {
	refused := schemas.AsError(err)
	switch {
	case err == nil || schemas.HasClass(err, schemas.NotFound):
		return nil, nil
	case !slices.ContainsFunc([]schemas.Class{schemas.Invalid, schemas.Conflict, schemas.Forbidden}, func(c schemas.Class) bool { return schemas.HasClass(err, c) }):
		return nil, err
	case len(refused.Errors) == 0:
		return []schemas.Problem{{Message: err.Error()}}, nil
	}
	return refused.Errors, nil
}

// keeps reports whether a rule accepts a value because it is stored already. A recheck finds such values.
func (w *writeContext) keeps(stored bool) bool { return stored && !w.recheck }
