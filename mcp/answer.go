package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// toolAnswer is the result of a tool: an object, and notes about it.
type toolAnswer struct {
	value any
	notes []string
}

// itemAnswer returns a resource with its findings, such as waived ones of a flow.
func itemAnswer(item *directory.Item) *toolAnswer {
	a := &toolAnswer{value: item.Value}
	for _, p := range withoutPlaces(item.Warnings) {
		a.notes = append(a.notes, "warning: "+p.String())
	}
	return a
}

// dryRunNote is the note about a dry run.
const dryRunNote = "This was a dry run: everything is valid, and nothing was stored. Generated ids will be different."

// writtenAnswer is the result of a tool that has written something, or would have. A secret from a
// dry run is not valid.
func writtenAnswer(item *directory.Item, dryRun bool) *toolAnswer {
	a := itemAnswer(item)
	app, _ := item.Value.(*schemas.Application)
	switch {
	case dryRun:
		a.notes = append(a.notes, dryRunNote)
		if app != nil && app.ClientSecret != "" {
			app.ClientSecret, app.OAuth().ClientSecret = "", ""
		}
	case app != nil && app.ClientSecret != "":
		a.notes = append(a.notes, "The client secret is shown only once. Store it where only the application can read it.")
	}
	return a
}

// listAnswer returns a page of resources, each with the members alone.
func listAnswer(page *directory.Page, plural string, members []string) (*toolAnswer, error) {
	list := []byte("[")
	for i, item := range page.Items {
		if i > 0 {
			list = append(list, ',')
		}
		var err error
		if list, err = appendExcerpt(list, item.Value, members); err != nil {
			return nil, err
		}
	}
	text := fmt.Appendf(nil, `{"total_count":%d,%q:%s]}`, page.Total, plural, list)
	return &toolAnswer{value: json.RawMessage(text)}, nil
}

// appendExcerpt appends a resource as JSON, with the members that it has in their order.
func appendExcerpt(text []byte, resource any, members []string) ([]byte, error) {
	whole, err := encode(resource)
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(whole, &values); err != nil {
		return nil, err
	}
	separator := "{"
	for _, name := range members {
		if value, has := values[name]; has {
			text = fmt.Appendf(text, "%s%q:%s", separator, name, value)
			separator = ","
		}
	}
	return append(text, '}'), nil
}
