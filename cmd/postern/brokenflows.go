package main

import (
	"context"
	"errors"

	"github.com/postern-id/postern/internal/directory"
)

// reportBrokenFlows logs a warning for each stored flow whose runs will fail. Other flows are
// not affected, so the server stays ready.
func (h *app) reportBrokenFlows(ctx context.Context) {
	err := h.directory.BrokenFlows(ctx, directory.SystemCall(), func(b directory.BrokenFlow) {
		first := b.Findings[0]
		h.log.WarnContext(ctx, "a stored flow cannot run", "flow", b.Flow.Handle, "type", string(b.Flow.FlowType), "id", b.Flow.ID,
			"at", first.Path, "finding", first.Message, "findings", len(b.Findings))
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		h.log.ErrorContext(ctx, "checking the stored flows", "error", err)
	}
}
