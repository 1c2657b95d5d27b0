package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/postern-id/postern/schemas"
)

// tool is one of the tools.
type tool struct {
	name, title, description string
	input, output            shape
	effect                   effect
	call                     call
}

// effect is the effect of a call.
type effect int

const (
	looks    effect = iota // changes nothing
	adds                   // creates something with each call
	replaces               // replaces a resource; a repetition changes nothing
)

// tools returns all tools, in the order of the specification.
func (s *Server) tools() []tool {
	return slices.Concat(s.applicationTools(), s.flowTools(), s.reactTools(), s.revocationTools())
}

// definition describes the tool for clients.
func (t *tool) definition() *sdk.Tool {
	no, destroys := false, t.effect == replaces
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: t.input, OutputSchema: t.output,
		Annotations: &sdk.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.effect == looks, IdempotentHint: t.effect != adds, DestructiveHint: &destroys, OpenWorldHint: &no,
		},
	}
}

// run returns the handler of the tool for the library.
func (s *Server) run(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := callOf(ctx)
		args, err := arguments(req.Params.Arguments)
		if err != nil {
			return s.failed(ctx, t.name, err)
		}
		a, err := t.call(ctx, c, args)
		if err != nil {
			return s.failed(ctx, t.name, err)
		}
		text, err := encode(a.value)
		if err != nil {
			return s.failed(ctx, t.name, err)
		}
		result := &sdk.CallToolResult{StructuredContent: text, Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}
		for _, note := range a.notes {
			result.Content = append(result.Content, &sdk.TextContent{Text: note})
		}
		return result, nil
	}
}

// arguments returns the arguments of a call, which may have none. An argument that is null is
// omitted.
func arguments(text json.RawMessage) (*schemas.Document, error) {
	if len(text) == 0 || string(text) == "null" {
		text = []byte("{}")
	}
	d, problems := schemas.ParseJSON(text)
	if len(problems) > 0 {
		return nil, errArguments(problems)
	}
	return d.WithoutNulls(), nil
}

// errArguments is the error of invalid arguments. Their position in the request is meaningless to
// their author.
func errArguments(problems []schemas.Problem) error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the arguments are invalid: %s", withoutPlaces(problems)[0]).WithProblems(problems)
}

func withoutPlaces(problems []schemas.Problem) []schemas.Problem {
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
		problems[i].Trace = slices.Clone(problems[i].Trace)
		for j := range problems[i].Trace {
			problems[i].Trace[j].Line = 0
		}
	}
	return problems
}

// failed returns the answer of a failed call. It lists all problems, as lines of text and as JSON.
// It has no structuredContent: that must match the tool's outputSchema, which describes successful
// answers, and clients that check it would not show the error.
func (s *Server) failed(ctx context.Context, tool string, err error) (*sdk.CallToolResult, error) {
	e := *schemas.AsError(err)
	if e.Class == schemas.Internal {
		s.logFailure(ctx, tool, err)
		e = *schemas.AsError(errNoPublicText)
	}
	e.TraceID = callOf(ctx).TraceID
	forgetPlaces(&e)
	object, err := encode(&e)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{
		&sdk.TextContent{Text: errorText(&e)}, &sdk.TextContent{Text: string(object)},
	}}, nil
}

// forgetPlaces removes the positions from an error about a text that the author did not write.
func forgetPlaces(e *schemas.Error) {
	with := slices.Clone(e.Errors)
	e.Errors = withoutPlaces(slices.Clone(e.Errors))
	for i := range with {
		e.Description.DefaultValue = strings.Replace(e.Description.DefaultValue, with[i].String(), e.Errors[i].String(), 1)
	}
}

// errorText returns the lines of an error.
func errorText(e *schemas.Error) string {
	if len(e.Errors) == 0 {
		return e.Code + ": " + e.Description.DefaultValue
	}
	var b strings.Builder
	b.WriteString(e.Code + ": " + e.Message.DefaultValue)
	for _, p := range e.Errors {
		b.WriteString("\n- " + p.String())
		if len(p.Trace) > 1 {
			b.WriteString("\n  run: " + p.Trace.String())
		}
	}
	return b.String()
}

// encode writes a value as JSON, without escaping & and <.
func encode(v any) (json.RawMessage, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(text.Bytes()), err
}

// errNoPublicText is an error for which the client gets only the trace id.
var errNoPublicText = errors.New("mcp: not for the client")
