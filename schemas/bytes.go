package schemas

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// Bytes are raw bytes whose JSON is base64url without padding, as in the JSON forms of WebAuthn
// (Level 3 §5.1.8). Padding is accepted.
type Bytes []byte

// String returns the base64url text.
func (b Bytes) String() string { return base64.RawURLEncoding.EncodeToString(b) }

// MarshalJSON writes a base64url string.
func (b Bytes) MarshalJSON() ([]byte, error) { return json.Marshal(b.String()) }

// UnmarshalJSON reads a base64url string.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("expected a base64url string, got %.40s", data)
	}
	raw, err := ParseBytes(s)
	*b = raw
	return err
}

// ParseBytes decodes base64url text.
func ParseBytes(s string) (Bytes, error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return nil, fmt.Errorf("expected base64url (A-Z a-z 0-9 - _): %w", err)
	}
	return raw, nil
}
