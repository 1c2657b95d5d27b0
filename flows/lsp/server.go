// Package lsp is a language server for flow and scenario files (Language Server Protocol 3.17, over
// standard input and output). Its findings are those of `postern flow check`. Open files replace those
// of the disk, also for the flows and scenarios that depend on them.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/nodes"
)

// Error codes of the protocol.
const (
	codeNotInitialized jrpc2.Code = -32002
	codeCancelled      jrpc2.Code = -32800
	codeFailed         jrpc2.Code = -32803 // the request is valid and cannot be fulfilled
)

// ErrNoShutdown means that the client ended the connection without the request shutdown. The exit code of
// the server is then 1.
var ErrNoShutdown = errors.New("the client ended the connection without the request shutdown")

// Options are the properties of a server.
type Options struct {
	Version string
	// RulesPage is the URL of the page that describes the rules, without a fragment.
	RulesPage string
	// Delay is how long the server waits for more changes before it checks files.
	Delay time.Duration
	// Log receives messages about errors of the server.
	Log io.Writer
}

type server struct {
	Options
	kinds engine.Kinds
	rpc   *jrpc2.Server
	exit  chan struct{} // closed by the notification exit
	once  sync.Once

	mu        sync.Mutex
	docs      openFiles
	client    initializeParams
	utf8      bool
	phase     phase
	timer     *time.Timer
	checking  sync.Mutex
	published map[string]string // the diagnostics of each open file, as JSON
}

// phase is where a connection is in its life.
type phase byte

const (
	started phase = iota
	initialized
	shutDown
)

// Serve serves one client until it disconnects. It returns nil if the client ended the connection as the
// protocol demands.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := &server{Options: o, kinds: nodes.Kinds(nodes.Deps{}), exit: make(chan struct{}), docs: openFiles{}, published: map[string]string{}}
	closed := func() error { return nil }
	if c, ok := in.(io.Closer); ok {
		closed = c.Close // ends a read in progress
	}
	s.rpc = jrpc2.NewServer(s, &jrpc2.ServerOptions{AllowPush: true, DisableBuiltin: true, Concurrency: 8})
	s.rpc.Start(newFraming(in, out, closed))
	// Closing standard input does not end a read in progress, for which the library would wait.
	ended := make(chan error, 1)
	go func() { ended <- s.rpc.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-s.exit:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
	switch {
	case s.phase == shutDown:
		return nil
	case err != nil && !errors.Is(err, io.EOF):
		return err
	}
	return ErrNoShutdown
}

// handler handles a request or a notification.
type handler func(s *server, ctx context.Context, params json.RawMessage) (any, error)

// handlers returns the handlers by method.
func handlers() map[string]handler {
	return map[string]handler{
		"initialize":                          typed((*server).initialize),
		"initialized":                         typed((*server).register),
		"shutdown":                            typed((*server).shutdown),
		"textDocument/didOpen":                typed((*server).didOpen),
		"textDocument/didChange":              typed((*server).didChange),
		"textDocument/didClose":               typed((*server).didClose),
		"textDocument/didSave":                typed((*server).filesChanged),
		"workspace/didChangeWatchedFiles":     typed((*server).filesChanged),
		"workspace/didChangeWorkspaceFolders": typed((*server).foldersChanged),
		"textDocument/completion":             typed((*server).complete),
		"textDocument/hover":                  typed((*server).hover),
		"textDocument/definition":             typed((*server).definition),
		"textDocument/references":             typed((*server).references),
		"textDocument/prepareRename":          typed((*server).prepareRename),
		"textDocument/rename":                 typed((*server).rename),
		"textDocument/documentSymbol":         typed((*server).symbols),
		"textDocument/foldingRange":           typed((*server).folding),
		"textDocument/codeAction":             typed((*server).codeActions),
		"textDocument/formatting":             typed((*server).format),
		"textDocument/codeLens":               typed((*server).lenses),
		"workspace/executeCommand":            typed((*server).execute),
	}
}

func typed[I, O any](f func(s *server, ctx context.Context, input I) (O, error)) handler {
	return func(s *server, ctx context.Context, params json.RawMessage) (any, error) {
		var input I
		if len(params) > 0 {
			if err := json.Unmarshal(params, &input); err != nil {
				return nil, &jrpc2.Error{Code: jrpc2.InvalidParams, Message: "the parameters do not fit: " + err.Error()}
			}
		}
		return f(s, ctx, input)
	}
}

// none is the result of a request without one.
type none = *struct{}

// Assign implements jrpc2.Assigner. Unknown notifications are ignored, as the library does.
func (s *server) Assign(_ context.Context, method string) jrpc2.Handler {
	switch method {
	case "exit":
		return func(context.Context, *jrpc2.Request) (any, error) {
			s.once.Do(func() { close(s.exit) })
			return nil, nil
		}
	case "$/cancelRequest":
		return s.cancel
	}
	h, found := handlers()[method]
	if !found {
		return nil
	}
	return func(ctx context.Context, r *jrpc2.Request) (any, error) { return s.handle(ctx, r, h) }
}

// cancel cancels a request.
func (s *server) cancel(_ context.Context, r *jrpc2.Request) (any, error) {
	var params struct{ ID json.RawMessage }
	if err := r.UnmarshalParams(&params); err == nil {
		s.rpc.CancelRequest(string(params.ID))
	}
	return nil, nil
}

// handle calls a handler if the phase of the connection allows it. A handler that panics is an error of
// that request alone.
func (s *server) handle(ctx context.Context, r *jrpc2.Request, h handler) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.Log, "postern lsp: %s failed: %v\n%s", r.Method(), p, debug.Stack())
			result, err = nil, &jrpc2.Error{Code: jrpc2.InternalError, Message: fmt.Sprintf("%s failed: %v", r.Method(), p)}
		}
	}()
	if err := s.allows(r.Method()); err != nil {
		return nil, err
	}
	var params json.RawMessage
	if err := r.UnmarshalParams(&params); err != nil {
		return nil, err
	}
	result, err = h(s, ctx, params)
	if ctx.Err() != nil {
		return nil, &jrpc2.Error{Code: codeCancelled, Message: "the request was canceled"}
	}
	return result, err
}

// allows returns an error if a method cannot be called in the phase of the connection.
func (s *server) allows(method string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.phase == shutDown:
		return &jrpc2.Error{Code: jrpc2.InvalidRequest, Message: "the server was shut down; expected the notification exit"}
	case s.phase == started && method != "initialize":
		return &jrpc2.Error{Code: codeNotInitialized, Message: "the server is not initialized; expected the request initialize first"}
	case s.phase == initialized && method == "initialize":
		return &jrpc2.Error{Code: jrpc2.InvalidRequest, Message: "the server is initialized already"}
	}
	return nil
}

func (s *server) shutdown(context.Context, none) (none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = shutDown
	return nil, nil
}

// snapshot returns the open files. The documents do not change: a change replaces one.
func (s *server) snapshot() openFiles {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.docs)
}

// failed is the error of a request that cannot be fulfilled.
func failed(format string, args ...any) error {
	return &jrpc2.Error{Code: codeFailed, Message: fmt.Sprintf(format, args...)}
}
