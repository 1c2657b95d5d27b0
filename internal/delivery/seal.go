package delivery

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// Cipher seals texts that belong to something.
type Cipher interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// Sealer seals the bodies of deliveries, so that the store keeps none that is
// secret in the clear.
type Sealer struct{ Box Cipher }

// Seal returns the delivery with its body sealed. The body is that delivery's: put
// in the place of another's it cannot be opened.
func (s Sealer) Seal(d schemas.Delivery) schemas.Delivery {
	d.Body = s.Box.Seal(d.Body, Owner(d))
	return d
}

// OpenSender returns a sender that opens what was sealed and has next send it. What
// cannot be opened is refused.
func (s Sealer) OpenSender(next Sender) Sender { return openingSender{s, next} }

type openingSender struct {
	sealer Sealer
	next   Sender
}

func (o openingSender) Send(ctx context.Context, d schemas.Delivery) (err error) {
	if d.Body, err = o.sealer.Box.Open(d.Body, Owner(d)); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return o.next.Send(ctx, d)
}

// Owner is what the sealed body of a delivery belongs to.
func Owner(d schemas.Delivery) string { return d.Kind + " " + d.ID }
