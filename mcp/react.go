package mcp

import (
	"cmp"
	"context"

	"github.com/postern-id/postern/examples/react"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

func (s *Server) reactTools() []tool {
	const address = "The URL of the Postern server for the app. Default: this server."
	snippet := object(map[string]any{
		"mode":        text("The mode of the file: redirect (Mode 1) or self-hosted (Mode 2). Each works without the other."),
		"file":        text("The file's path in the app's source folder."),
		"language":    text("The language of the code."),
		"description": text("The purpose of the file."),
		"code":        text("The content of the file."),
	}, "mode", "file", "language", "description", "code")
	return []tool{typedCall(tool{
		name: "service_integrate_react_sdk", title: "Integrate the React SDK",
		description: "Explains how to add sign-in to a React app, with the files, in both modes: redirect-based (Mode 1), where users sign in at Postern's page, and self-hosted (Mode 2), where the app renders the steps of the flow itself.",
		input:       object(map[string]any{"service_url": text(address), "thunderid_url": text("An alias of service_url.")}),
		output: object(map[string]any{
			"instructions":  text("Instructions in Markdown."),
			"code_snippets": map[string]any{"type": "array", "items": snippet, "description": "The files, in reading order."},
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
			"service_url and its alias thunderid_url have different values; remove one of them")
	}
	how, err := react.Integrate(cmp.Or(in.ServiceURL, in.ThunderIDURL, s.PublicURL))
	if err != nil {
		return nil, err
	}
	return &toolAnswer{value: how}, nil
}
