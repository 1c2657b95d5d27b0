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

// deliveryTTL is how long an unavailable service is retried.
const deliveryTTL = 72 * time.Hour

// NewDelivery returns the delivery of a call, sealed because the body is personal data. Its
// id is that of the call, a UUID, so that the log and the receiver use the same id.
func (t *Targets) NewDelivery(c schemas.Call, now time.Time) (schemas.Delivery, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return schemas.Delivery{}, fmt.Errorf("encoding the notification of %q: %w", c.Target, err)
	}
	return t.Sealer.Seal(schemas.Delivery{
		ID: c.ID, Kind: schemas.CallDelivery, Target: c.Target, Body: body,
		CreatedAt: now, ExpiresAt: now.Add(deliveryTTL),
	}), nil
}

// Sender sends the deliveries of NewDelivery.
func (t *Targets) Sender() delivery.Sender {
	return t.Sealer.OpenSender(delivery.SenderFunc(t.notify))
}

// notify makes the call of a delivery. Failures that the operator may fix in time are
// retried, including a forbidden address; a rejection of the request itself is not.
func (t *Targets) notify(ctx context.Context, d schemas.Delivery) error {
	var c schemas.Call
	if err := json.Unmarshal(d.Body, &c); err != nil {
		return fmt.Errorf("%w: its body is not a call", delivery.ErrRefused)
	}
	reply, err := t.send(ctx, c)
	if err != nil {
		return err
	}
	switch reply.Status {
	case http.StatusBadRequest, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: the service rejected it with the status %d", delivery.ErrRefused, reply.Status)
	}
	if reply.Status < 200 || reply.Status > 299 {
		return fmt.Errorf("the service answered with %d, expected 2xx", reply.Status)
	}
	return nil
}
