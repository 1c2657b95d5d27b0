package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
)

// Snapshot runs do with a Call that reads the resources as they are at one
// moment, whatever is written meanwhile. It is for reading alone.
func (d *Directory) Snapshot(ctx context.Context, c Call, do func(Call) error) error {
	return d.store.Snapshot(ctx, func(r store.Reader) error {
		c.snapshot = r
		return do(c)
	})
}
