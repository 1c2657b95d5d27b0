package mcp

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/throttle"
)

// Options configures the tools.
type Options struct {
	// PublicURL is the server's base URL, without a trailing slash.
	PublicURL string
	// Version is the version of the program.
	Version   string
	Directory *directory.Directory
	// Kinds are the kinds of nodes of flows.
	Kinds engine.Kinds
	// MaxCalls is the maximum number of concurrent requests, MaxCallsPerClient that of one client;
	// 0 means 64 and 16.
	MaxCalls, MaxCallsPerClient int
	// Log receives a line for each server fault. Nil: no log.
	Log *slog.Logger
}

// Server is the MCP server. It is safe for concurrent use.
type Server struct {
	Options
	places  *throttle.Concurrency // for requests
	handler func() http.Handler
}

// New returns an MCP server. Its description is built on first use: most processes never need it.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Options: o, places: throttle.NewConcurrency(cmp.Or(o.MaxCalls, defaultMaxCalls), cmp.Or(o.MaxCallsPerClient, defaultMaxCallsPerClient))}
	s.handler = sync.OnceValue(s.newHandler)
	return s
}

const instructions = `Postern is an identity provider. Applications are OAuth clients that users sign in to; flows are graphs of steps for sign-in (AUTHENTICATION) or registration (REGISTRATION). ` +
	`A flow is proven safe before it is stored: read postern://kinds and an existing flow first, then call service_create_flow or service_update_flow with dry_run, fix every finding, and call it again without. ` +
	`An update replaces the whole application or flow: get it, change it, and send all of it back.`

func (s *Server) newHandler() http.Handler {
	server := sdk.NewServer(
		&sdk.Implementation{Name: "postern", Title: "Postern", Version: s.Version, WebsiteURL: s.PublicURL},
		&sdk.ServerOptions{
			Instructions: instructions,
			// The server announces no changes, because there are no sessions.
			Capabilities: &sdk.ServerCapabilities{
				Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{},
			},
			// Replies depend on the caller, so they must not be cached for others, nor for long.
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.TTLMs, c.CacheScope = 0, "private" },
		})
	for _, t := range s.tools() {
		server.AddTool(t.definition(), s.run(t))
	}
	s.addResources(server)
	s.addPrompts(server)
	server.AddReceivingMiddleware(s.guard, s.withFlows)
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
		// Package server has its own check, with the public name of the server.
		DisableLocalhostProtection: true,
	})
}

type callKey struct{}

// callOf returns the call that Serve stored in the context.
func callOf(ctx context.Context) directory.Call {
	c, _ := ctx.Value(callKey{}).(directory.Call)
	return c
}
