package directory

import (
	"context"
	"errors"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// FlowWrite is a flow to store, as the next version of the one with its type and handle or as a new one.
type FlowWrite struct {
	Document *schemas.Document
	// Match is an If-Match field value for the stored flow; "" for none.
	Match string
}

// StoreFlows stores flows in one transaction: all or none, each after the sub-flows that it uses. With
// Call.DryRun it makes all checks of that, and stores nothing. The paths in an error begin with that of the
// flow in the list: flows[0].
func (d *Directory) StoreFlows(ctx context.Context, c Call, writes []FlowWrite) (items []*Item, err error) {
	err = d.Transact(ctx, c, func(inner Call) error {
		items = nil
		for i, w := range writes {
			item, err := d.storeFlow(ctx, inner, w)
			if err != nil {
				return aboutFlow(i, err)
			}
			items = append(items, item)
		}
		return nil
	})
	return items, err
}

func (d *Directory) storeFlow(ctx context.Context, c Call, w FlowWrite) (*Item, error) {
	was, err := d.Flows.Find(ctx, c, w.Document.TextAt("flowType")+"/"+w.Document.TextAt("handle"))
	switch {
	case err != nil:
		return nil, err
	case was != nil:
		return d.Flows.Replace(ctx, c, was.ID, w.Match, w.Document)
	case w.Match != "":
		return nil, schemas.Errorf(schemas.Precondition, schemas.CodePreconditionFailed, "the flow %q was deleted in the meantime", w.Document.TextAt("handle"))
	}
	return d.Flows.Create(ctx, c, w.Document)
}

// aboutFlow names in an error the flow that it is about.
func aboutFlow(i int, err error) error {
	var refused *schemas.Error
	if !errors.As(err, &refused) {
		return err
	}
	at, about := fmt.Sprintf("flows[%d]", i), *refused
	about.Errors = []schemas.Problem{{Path: at, Message: about.Error()}}
	for k, p := range refused.Errors {
		p.Path, p.Line, p.Column = schemas.JoinPath(at, p.Path), 0, 0
		if k == 0 {
			about.Errors = nil
		}
		about.Errors = append(about.Errors, p)
	}
	return &about
}
