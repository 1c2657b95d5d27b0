package store

import (
	"encoding/json"

	"github.com/postern-id/postern/schemas"
)

// queueNotice queues the notice of an event, unless the transaction created the user.
func (t *Tx) queueNotice(n schemas.Notice) error {
	if t.createdUser == n.UserID {
		return nil
	}
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return t.queueDelivery(schemas.Delivery{
		ID: schemas.NewID(), Kind: schemas.NoticeDelivery, Body: body, CreatedAt: n.At, ExpiresAt: n.At.Add(noticeTTL),
	})
}
