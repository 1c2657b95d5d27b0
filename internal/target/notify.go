package target

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/schemas"
)

// deliveryTTL is how long a service is told that does not answer.
const deliveryTTL = 72 * time.Hour

// NewDelivery returns the delivery of a call, sealed: what a service is told is personal. It
// has the id of the call, a UUID, so that a log and the receiver speak of the same.
func (t *Targets) NewDelivery(c schemas.Call, now time.Time) (schemas.Delivery, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return schemas.Delivery{}, fmt.Errorf("what %q is to be told: %w", c.Target, err)
	}
	return t.Sealer.Seal(schemas.Delivery{
		ID: c.ID, Kind: schemas.CallDelivery, Target: c.Target, Body: body,
		CreatedAt: now, ExpiresAt: now.Add(deliveryTTL),
	}), nil
}

// Sender sends what NewDelivery made.
func (t *Targets) Sender() delivery.Sender { return t.Sealer.OpenSender(sender{t}) }

type sender struct{ targets *Targets }

// Send makes the call of a delivery. Whatever the operator may mend in time is tried
// again, also an address that may not be asked; what the service says is wrong with the
// request itself is not.
func (s sender) Send(ctx context.Context, d schemas.Delivery) error {
	var c schemas.Call
	if err := json.Unmarshal(d.Body, &c); err != nil {
		return fmt.Errorf("%w: its body is no call", delivery.ErrRefused)
	}
	reply, err := s.targets.do(ctx, c)
	if err != nil {
		return err
	}
	switch reply.Status {
	case http.StatusBadRequest, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: the service could not make use of it, and answered with %d", delivery.ErrRefused, reply.Status)
	}
	if reply.Status < 200 || reply.Status > 299 {
		return fmt.Errorf("the service answered with %d, expected 2xx", reply.Status)
	}
	return nil
}
