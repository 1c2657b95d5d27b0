package studio

import (
	"context"
	"errors"
	"time"

	"github.com/postern-id/postern/schemas"
)

// names are the names of targets that are never called: checking a flow takes only these.
type names []string

var errNoCalls = errors.New("a checker calls no target")

// Names implements nodes.Targets.
func (n names) Names() []string { return n }

// Call implements nodes.Targets.
func (names) Call(context.Context, schemas.Call) (*schemas.CallReply, error) { return nil, errNoCalls }

// NewDelivery implements nodes.Targets.
func (names) NewDelivery(schemas.Call, time.Time) (schemas.Delivery, error) {
	return schemas.Delivery{}, errNoCalls
}
