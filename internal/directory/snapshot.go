package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
)

// Snapshot calls do with a Call that reads all resources as of one moment, unaffected by
// concurrent writes. It cannot write.
func (d *Directory) Snapshot(ctx context.Context, c Call, do func(Call) error) error {
	return d.store.Snapshot(ctx, func(r store.Reader) error {
		c.snapshot = r
		return do(c)
	})
}
