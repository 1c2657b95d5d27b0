package delivery

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// Cipher encrypts texts and binds them to an owner.
type Cipher interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// Sealer seals the bodies of deliveries, so that the store contains no secret in the clear.
type Sealer struct{ Box Cipher }

// Seal returns the delivery with its body sealed. The body is bound to the delivery: moved
// to another one it cannot be opened.
func (s Sealer) Seal(d schemas.Delivery) schemas.Delivery {
	d.Body = s.Box.Seal(d.Body, Owner(d))
	return d
}

// OpenSender returns a sender that opens sealed bodies for next. A body that cannot be
// opened is rejected.
func (s Sealer) OpenSender(next Sender) Sender {
	return SenderFunc(func(ctx context.Context, d schemas.Delivery) (err error) {
		if d.Body, err = s.Box.Open(d.Body, Owner(d)); err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return next.Send(ctx, d)
	})
}

// Owner is the owner that the sealed body of a delivery is bound to.
func Owner(d schemas.Delivery) string { return d.Kind + " " + d.ID }
