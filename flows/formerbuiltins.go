package flows

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// IsFormerBuiltin reports whether a flow is an unmodified built-in flow of an earlier release,
// which may be updated. A flow that an administrator wrote or edited must not be.
func IsFormerBuiltin(f *schemas.Flow) bool {
	return slices.Contains(formerDigests()[f.Handle], digest(f))
}

// digest returns the SHA-256 of a definition, independent of formatting.
func digest(f *schemas.Flow) string {
	text, err := json.Marshal(struct {
		Name  string
		Type  schemas.FlowType
		Nodes []schemas.Node
		Waive []schemas.Waiver
	}{f.Name, f.FlowType, f.Nodes, f.Waive})
	var plain any // with its members in a canonical order
	if err == nil {
		err = json.Unmarshal(text, &plain)
	}
	if err == nil {
		text, err = json.Marshal(plain)
	}
	if err != nil {
		return "" // equals no digest
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// formerDigests returns the digests of the flows in testdata/former, by handle.
func formerDigests() map[string][]string {
	return map[string][]string{
		"lost-passkey":    {"c2e848a5f1da5f06cb954c40050995e42f2c9acd24ea7e7b10cf88fe794fe419"},
		"passkey-sign-in": {"4c7473c2d951baa8561a1a1a4af8fa0bc717fe2c38f35ba4ed2b79d0e3db6675"},
		"passkey-sign-up": {"ce532cf12d1d148dfdfa65151b95eb0b5d19c6e9650588bee6808c08cc5e65da", "acb26a1fb439d71e0a32f4d3ee2ffe1dc59291676e6dd8c8194d50eb536709b8",
			"45d3fee19bb69a23269075f69e7bde983a84ef457731276a010524bed0d0b5e1"},
		"password-sign-in": {"2a964a0a68195839469ff6e2d91ffba7d13b10fb77cb3d1e155a26aff0ef1050", "d0f6f96e6388d4cea4d5b9e7fde67aa58c6ba41513a5933521e97022fd2a57d6"},
		"password-sign-up": {"1ea96aba7b786168370b693a1831c3fb5d27de747d491a5012fd2c36d9d46e65", "a6db78c0478943a3465b33a9ff5f38ff70f65dcd6141dd7f5e77978822a8ef17",
			"0f408f6e0bdace315bf1208ccbc79dc3c8b7d0594229e6097ee7c67e3f060689"},
		"password-then-passkey": {"e064d81c2a104b0ee6c67153aa8e6433f9444ada66588509b9a2cb719cdd49f6", "190a6b0bc98ca634d87691d21487afcdd4c7b41cfcfed2c45887f6a36cf4f8f6"},
		"sign-in":               {"0e51612654bcd3a0e457a9171044f558e9a1bd739f93f8271b03dfa99c571d0c", "293f7cac0f25a2d43621351cef718a639f4416ad6d20eb5153e2673d95e73635"},
	}
}
