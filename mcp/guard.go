package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/postern-id/postern/schemas"
)

// guard is around everything that a client can ask for.
func (s *Server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		// Requests are answered in goroutines of their own, where a panic would end
		// the whole program.
		defer func() {
			if v := recover(); v != nil {
				s.logFailure(ctx, method, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
				result, err = nil, errInternal()
			}
		}()
		if method == "subscriptions/listen" {
			// It would be open for as long as the client likes, and hear of nothing.
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "nothing here can be subscribed to: read it again when you need it"}
		}
		result, err = next(ctx, method, req)
		return result, s.publicError(ctx, method, err)
	}
}

// publicError is an error as the client may hear it. What the tools find wrong is an
// answer of theirs and no error.
func (s *Server) publicError(ctx context.Context, method string, err error) error {
	if _, reported := errors.AsType[*jsonrpc.Error](err); err == nil || reported {
		return err
	}
	if e := schemas.AsError(err); e.Class != schemas.Internal {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: e.Description.DefaultValue}
	}
	s.logFailure(ctx, method, err)
	return errInternal()
}

// logFailure logs what went wrong here, of which the client is told nothing.
func (s *Server) logFailure(ctx context.Context, what string, err error) {
	s.Log.ErrorContext(ctx, "tool request failed", slog.String("tool", what), slog.String("traceId", callOf(ctx).TraceID), slog.Any("error", err))
}

func errInternal() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "something went wrong on our side"}
}
