package engine

import (
	"encoding/json"

	"github.com/postern-id/postern/schemas"
)

// FactsOf returns the facts of a stored run between two steps: what it has established so far.
func FactsOf(r *schemas.Run) []Fact {
	var s state
	_ = json.Unmarshal(r.State, &s) // the engine wrote it; a finished run has none
	return s.Facts
}
