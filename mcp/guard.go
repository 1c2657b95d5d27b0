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

// guard wraps all requests.
func (s *Server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		// Requests run in goroutines of their own, where a panic would end the program.
		defer func() {
			if v := recover(); v != nil {
				s.logFailure(ctx, method, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
				result, err = nil, errInternal()
			}
		}()
		if method == "subscriptions/listen" {
			// A subscription would stay open without ever receiving anything.
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "subscriptions are not supported: read the resource again when you need it"}
		}
		result, err = next(ctx, method, req)
		return result, s.publicError(ctx, method, err)
	}
}

// publicError returns an error for the client. Faults that tools find are results and not errors.
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

// logFailure logs server faults, which clients do not see.
func (s *Server) logFailure(ctx context.Context, what string, err error) {
	s.Log.ErrorContext(ctx, "tool request failed", slog.String("tool", what), slog.String("traceId", callOf(ctx).TraceID), slog.Any("error", err))
}

func errInternal() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "something went wrong on our side"}
}
