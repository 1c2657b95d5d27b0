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
	switch c.What {
	case Used:
		return fmt.Sprintf("~ uses %s: version %v → %v", c.Path, c.Before, c.After)
	case NodeAdded:
		return fmt.Sprintf("+ %s: added a %s", c.Node, c.After)
	case NodeRemoved:
		return fmt.Sprintf("- %s: removed the %s", c.Node, c.Before)
	case NodeRenamed:
		return fmt.Sprintf("~ %s: renamed from %s", c.Node, c.Before)
	case NodeKind:
		return fmt.Sprintf("~ %s: %s → %s", c.Node, c.Before, c.After)
	case Gained:
		return fmt.Sprintf("+ %s: now certain: %s", c.place(), fact(c.Path))
	case Lost:
		return fmt.Sprintf("! %s: no longer certain: %s", c.place(), fact(c.Path))
	}
	return c.pair()
}

// pair describes an addition, a removal or a modification.
func (c Change) pair() string {
	path, written := c.Path, value
	if item := "[" + value(cmp.Or(c.Before, c.After)) + "]"; c.Before == nil || c.After == nil {
		path = strings.TrimSuffix(path, item) // a member of a set: only additions and removals
	}
	subject := path
	switch c.What {
	case Demanded:
		subject = "guarantees " + path
	case Proven:
		subject = "proven " + path
	case Waived:
		subject = path + " is waived"
	case Next:
		subject = path + " leads to"
		written = func(v any) string { return fmt.Sprint(v) }
	case With:
		subject = "with " + path
	}
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

// place returns where a fact holds.
func (c Change) place() string {
	if c.Node == schemas.End {
		return "at the end"
	}
	return c.Node
}

func fact(f string) string { return engine.Fact(f).Describe() }

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
