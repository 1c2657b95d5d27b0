package federation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/outbound"
)

// The reason for an address that is not allowed is a sentence, without the code of the request.
func TestReasonsHaveNoCode(t *testing.T) {
	client := federation.New(outbound.New(outbound.Rules{}))
	err := client.CheckIssuer(t.Context(), "https://127.0.0.1:1")
	reported, ok := errors.AsType[*federation.Error](err)
	if !ok || strings.Contains(reported.Reason, "outbound_") || !strings.Contains(reported.Reason, "127.0.0.1") {
		t.Errorf("got %v", err)
	}
}
