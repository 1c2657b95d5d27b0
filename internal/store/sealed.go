package store

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// Cipher seals texts and binds each to its context.
type Cipher interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// isSealed distinguishes sealed states from those of an older version: the column is JSON, a
// sealed state is a string in it, and an unsealed one an object.
func isSealed(state json.RawMessage) bool { return len(state) > 0 && state[0] == '"' }

// sealState returns the stored form of a state.
func sealState(box Cipher, state json.RawMessage, belongs string) json.RawMessage {
	return stateText(box.Seal(state, belongs))
}

// stateText returns the column value of a sealed state.
func stateText(sealed []byte) json.RawMessage {
	text := make(json.RawMessage, 0, base64.StdEncoding.EncodedLen(len(sealed))+2)
	text = append(text, '"')
	text = base64.StdEncoding.AppendEncode(text, sealed)
	return append(text, '"')
}

// openState is the inverse of sealState.
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
