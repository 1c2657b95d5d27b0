package schemas

import (
	"encoding/json"
	"strconv"
)

// reportRepeatedItems reports each repeated item of a list at its own position, so that other
// problems of the list and its items are reported too. It returns false if it finds none: for
// example, only the validator treats 1 and 1.0 as equal.
func (j schemaErrors) reportRepeatedItems(f fault, found *findings) bool {
	any, way := false, j.root.pathTo(f.location)
	first := make(map[string]int, len(f.value.items))
	for i, item := range f.value.items {
		text, err := json.Marshal(item.plain()) // members in order of their names
		if err != nil {
			continue
		}
		before, again := first[string(text)]
		if !again {
			first[string(text)] = i
			continue
		}
		any = true
		found.at = append(way, segment{index: i, item: true})
		found.note(item.place, "expected each item once, and this one is already at [", strconv.Itoa(before), "]; remove one")
	}
	return any
}
