package store

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// Cipher seals texts that belong to something.
type Cipher interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// isSealed tells states that are sealed from those that an older version has kept:
// the column is JSON, a sealed state is a text in it, and one in the clear an object.
func isSealed(state json.RawMessage) bool { return len(state) > 0 && state[0] == '"' }

// sealState is a state as the database keeps it.
func sealState(box Cipher, state json.RawMessage, belongs string) json.RawMessage {
	return stateText(box.Seal(state, belongs))
}

// stateText is a sealed state as the column has it.
func stateText(sealed []byte) json.RawMessage {
	text := make(json.RawMessage, 0, base64.StdEncoding.EncodedLen(len(sealed))+2)
	text = append(text, '"')
	text = base64.StdEncoding.AppendEncode(text, sealed)
	return append(text, '"')
}

// openState is sealState the other way round.
func openState(box Cipher, state json.RawMessage, belongs string) (json.RawMessage, error) {
	if !isSealed(state) {
		return nil, errors.New("store: expected a state that is sealed, got one in the clear")
	}
	sealed, err := base64.StdEncoding.DecodeString(strings.Trim(string(state), `"`))
	if err != nil {
		return nil, err
	}
	return box.Open(sealed, belongs)
}
