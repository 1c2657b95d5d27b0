package mcp

import (
	"cmp"
	"context"

	"github.com/postern-id/postern/examples/react"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

func (s *Server) reactTools() []tool {
	const address = "The address of the Postern that the app is to use. Left out, this one."
	snippet := object(map[string]any{
		"mode":        text("The mode that the file is of: redirect (Mode 1) or self-hosted (Mode 2). Each is complete without the other."),
		"file":        text("The file's path in the app's source folder."),
		"language":    text("The language of the code."),
		"description": text("What the file is for."),
		"code":        text("The content of the file."),
	}, "mode", "file", "language", "description", "code")
	return []tool{typedCall(tool{
		name: "service_integrate_react_sdk", title: "Integrate the React SDK",
		description: "Explains how to add sign-in to a React app, with the files, in both modes: redirect-based (Mode 1), where users sign in at Postern's page, and self-hosted (Mode 2), where the app renders the steps of the flow itself.",
		input:       object(map[string]any{"service_url": text(address), "thunderid_url": text("Another name of service_url.")}),
		output: object(map[string]any{
			"instructions":  text("What to do, in Markdown."),
			"code_snippets": map[string]any{"type": "array", "items": snippet, "description": "The files, in the order to read them."},
		}, "instructions", "code_snippets"),
	}, s.integrateReact)}
}

type integrateReact struct {
	ServiceURL   string `json:"service_url"`
	ThunderIDURL string `json:"thunderid_url"`
}

func (s *Server) integrateReact(_ context.Context, _ directory.Call, in *integrateReact) (*toolAnswer, error) {
	if in.ServiceURL != "" && in.ThunderIDURL != "" && in.ServiceURL != in.ThunderIDURL {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
			"service_url and thunderid_url are two names of one thing, and name two addresses here; leave one of them out")
	}
	how, err := react.Integrate(cmp.Or(in.ServiceURL, in.ThunderIDURL, s.PublicURL))
	if err != nil {
		return nil, err
	}
	return &toolAnswer{value: how}, nil
}
