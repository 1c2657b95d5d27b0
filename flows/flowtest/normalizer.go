package flowtest

import (
	"fmt"
	"regexp"
	"strings"
)

// normalizer replaces generated IDs with stable names, so that the output of a scenario is
// the same in every run. It contains the names by ID.
type normalizer map[string]string

var madeID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// text replaces the IDs in a text, except those of the file's users, which are stable.
func (n normalizer) text(text string) string {
	return madeID.ReplaceAllStringFunc(text, func(id string) string {
		if strings.HasPrefix(id, userIDPrefix) {
			return id
		}
		if n[id] == "" {
			n[id] = fmt.Sprintf("<id %d>", len(n)+1)
		}
		return n[id]
	})
}
