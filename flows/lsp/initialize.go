package lsp

import (
	"context"
	"fmt"
	"slices"
)

// object is a JSON object.
type object map[string]any

// initialize implements the request of that name.
func (s *server) initialize(_ context.Context, params initializeParams) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase, s.client = initialized, params
	encoding := "utf-16"
	if s.utf8 = slices.Contains(params.Capabilities.General.PositionEncodings, "utf-8"); s.utf8 {
		encoding = "utf-8"
	}
	return object{
		"serverInfo": object{"name": "postern", "version": s.Version},
		"capabilities": object{
			"positionEncoding":           encoding,
			"textDocumentSync":           object{"openClose": true, "change": 2, "save": object{"includeText": false}},
			"completionProvider":         object{"triggerCharacters": []string{" ", ":", "{", "[", ",", "."}},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"referencesProvider":         true,
			"renameProvider":             object{"prepareProvider": true},
			"documentSymbolProvider":     true,
			"foldingRangeProvider":       true,
			"codeActionProvider":         object{"codeActionKinds": []string{quickFix}},
			"documentFormattingProvider": true,
			"codeLensProvider":           object{},
			"executeCommandProvider":     object{"commands": []string{commandGraph, commandShowGraph}},
			"workspace":                  object{"workspaceFolders": object{"supported": true, "changeNotifications": true}},
		},
	}, nil
}

// register asks the client to report changes of files on the disk.
func (s *server) register(context.Context, struct{}) (none, error) {
	if !s.client.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		return nil, nil
	}
	watchers := []object{{"globPattern": "**/*.{yaml,yml,json}"}}
	registration := object{"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": object{"watchers": watchers}}
	go func() { // the reply arrives after this notification
		if _, err := s.rpc.Callback(context.Background(), "client/registerCapability", object{"registrations": []object{registration}}); err != nil {
			fmt.Fprintln(s.Log, "postern lsp: changes of files on the disk are not noticed:", err)
		}
	}()
	return nil, nil
}

// foldersChanged implements the notification of that name. The files of all folders are read when a flow
// needs them, so that only the open files have to be checked again.
func (s *server) foldersChanged(ctx context.Context, _ didChangeWorkspaceFoldersParams) (none, error) {
	return s.filesChanged(ctx, struct{}{})
}
