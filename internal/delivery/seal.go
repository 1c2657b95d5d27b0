package delivery

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// Box seals texts that belong to something.
type Box interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// Sealer seals the bodies of deliveries, so that the store keeps none that is
// secret in the clear.
type Sealer struct{ Box Box }

// Seal returns the delivery with its body sealed. The body is that delivery's: put
// in the place of another's it cannot be opened.
func (s Sealer) Seal(d schemas.Delivery) schemas.Delivery {
	d.Body = s.Box.Seal(d.Body, Owner(d))
	return d
}

// Opened returns a sender that opens what was sealed and has next send it. What
// cannot be opened is refused.
func (s Sealer) Opened(next Sender) Sender { return opened{s, next} }

type opened struct {
	sealer Sealer
	next   Sender
}

func (o opened) Send(ctx context.Context, d schemas.Delivery) (err error) {
	if d.Body, err = o.sealer.Box.Open(d.Body, Owner(d)); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return o.next.Send(ctx, d)
}

// Owner is what the sealed body of a delivery belongs to.
func Owner(d schemas.Delivery) string { return d.Kind + " " + d.ID }
