package mcp

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// typedCall returns the call of a tool whose arguments have a Go type. The schema that the tool
// publishes checks them.
func typedCall[In any](t tool, do func(ctx context.Context, c directory.Call, in *In) (*toolAnswer, error)) tool {
	schema := t.input.schema(t.name)
	t.call = func(ctx context.Context, c directory.Call, args *schemas.Document) (*toolAnswer, error) {
		in := new(In)
		if problems := args.WithoutAbsent(schema).Decode(schema, in); len(problems) > 0 {
			return nil, errArguments(problems)
		}
		return do(ctx, c, in)
	}
	return t
}

// writeArguments are the arguments of a tool that writes: the content and the options.
type writeArguments struct {
	document *schemas.Document // of the application or flow
	members  map[string]json.RawMessage
	how      writeOptions
}

// writeOptions are the parameters of a write. Except the id they are not part of the content.
type writeOptions struct {
	ID              string `json:"id"`
	DryRun          bool   `json:"dry_run"`
	ExpectedVersion int    `json:"expected_version"`
	Reason          string `json:"reason"`
}

// splitArguments returns a function that splits the arguments of a tool that writes. It checks only
// the parameters; the directory checks the content. The needed parameters identify what is written.
func splitArguments(parameters map[string]any, needed ...string) func(args *schemas.Document) (*writeArguments, error) {
	schema := object(parameters, needed...).schema("parameters")
	return func(args *schemas.Document) (*writeArguments, error) {
		w := &writeArguments{members: map[string]json.RawMessage{}}
		if err := json.Unmarshal(args.JSON(), &w.members); err != nil {
			return nil, errArguments([]schemas.Problem{{Message: "expected an object"}})
		}
		apart := map[string]json.RawMessage{}
		for name := range parameters {
			if value, there := w.members[name]; there {
				apart[name] = value
			}
			if name != "id" {
				delete(w.members, name)
			}
		}
		d, err := documentOf(apart)
		if err != nil {
			return nil, err
		}
		if problems := d.WithoutAbsent(schema).Decode(schema, &w.how); len(problems) > 0 {
			return nil, errArguments(problems)
		}
		w.document, err = documentOf(w.members)
		return w, err
	}
}

// completed returns the document with the missing members added.
func (w *writeArguments) completed(missing map[string]any) (*schemas.Document, error) {
	members := maps.Clone(w.members)
	for name, value := range missing {
		if _, there := members[name]; there {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		members[name] = text
	}
	return documentOf(members)
}

func documentOf(members map[string]json.RawMessage) (*schemas.Document, error) {
	text, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	d, problems := schemas.ParseJSON(text)
	if len(problems) > 0 {
		return nil, errArguments(problems)
	}
	return d, nil
}
