package nodes

import (
	"context"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// flowWriter is the writer of attributes for which a flow asks the user.
func flowWriter() schemas.Writer { return schemas.Writer{Kind: schemas.OwnerFlow} }

// ownedByOthers returns the problems of attributes that a flow cannot change, because they belong to another owner.
// The paths are the attributes. The attributes of a user that the run has not stored yet have no owner.
func (d Deps) ownedByOthers(ctx context.Context, v *engine.Visit, attributes map[string]any) ([]schemas.Problem, error) {
	if v.Subject.Draft != nil {
		return nil, nil
	}
	owners, err := d.Store.AttributeOwners(ctx, v.Subject.UserID)
	if err != nil || len(owners) == 0 {
		return nil, err
	}
	return schemas.CheckOwners(owners, slices.Sorted(maps.Keys(attributes)), flowWriter()), nil
}
