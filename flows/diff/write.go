package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Write writes a line for each change: + for an addition, - for a removal, ~ for a modification,
// and ! for a lost certainty.
func Write(w io.Writer, changes []Change) error {
	var b strings.Builder
	for _, c := range changes {
		b.WriteString(c.String() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes a JSON object with the changes, and whether there are none.
func WriteJSON(w io.Writer, changes []Change) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Same    bool     `json:"same"`
		Changes []Change `json:"changes"`
	}{len(changes) == 0, append([]Change{}, changes...)})
}

// String returns the change as one line.
func (c Change) String() string {
	sentence := map[What]string{
		Used:        "~ uses %[2]s: version %[3]v → %[4]v",
		NodeAdded:   "+ %[1]s: added a %[4]v",
		NodeRemoved: "- %[1]s: removed the %[3]v",
		NodeRenamed: "~ %[1]s: renamed from %[3]v",
		NodeKind:    "~ %[1]s: %[3]v → %[4]v",
		Gained:      "+ %[1]s: now certain: %[5]s",
		Lost:        "! %[1]s: no longer certain: %[5]s",
	}[c.What]
	if sentence == "" {
		return c.describeValue()
	}
	place := c.Node
	if place == schemas.End {
		place = "at the end"
	}
	return fmt.Sprintf(sentence, place, c.Path, c.Before, c.After, engine.Fact(c.Path).Describe())
}

// describeValue describes an added, removed or modified value.
func (c Change) describeValue() string {
	path, written := c.Path, value
	if item := "[" + value(cmp.Or(c.Before, c.After)) + "]"; c.Before == nil || c.After == nil {
		path = strings.TrimSuffix(path, item) // a member of a set: only additions and removals
	}
	if c.What == Next {
		written = func(v any) string { return fmt.Sprint(v) }
	}
	subject := map[What]string{
		Member: "%s", Demanded: "guarantees %s", Proven: "proven %s", Waived: "%s is waived", Next: "%s leads to", With: "with %s",
	}[c.What]
	subject = fmt.Sprintf(subject, path)
	if c.Node != "" {
		subject = c.Node + ": " + subject
	}
	switch {
	case c.Before == nil:
		return fmt.Sprintf("+ %s: %s", subject, written(c.After))
	case c.After == nil && c.What == Proven:
		return fmt.Sprintf("! %s: no longer %s", subject, written(c.Before))
	case c.After == nil:
		return fmt.Sprintf("- %s: %s", subject, written(c.Before))
	}
	return fmt.Sprintf("~ %s: %s → %s", subject, written(c.Before), written(c.After))
}

// value returns a value as JSON.
func value(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if nothing, is := v.(emptyLeaf); is || e.Encode(v) != nil {
		return string(nothing)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
