package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/directory"
)

// Options is what the tools work with.
type Options struct {
	// PublicURL is the server's base URL, without a trailing slash.
	PublicURL string
	// Version is that of the program.
	Version   string
	Directory *directory.Directory
	// Kinds are the kinds of nodes that flows may use.
	Kinds engine.Kinds
	// MaxCalls is how many requests are served at a time, and MaxCallsPerClient how
	// many of one client; 0 means 64 and 16.
	MaxCalls, MaxCallsPerClient int
	// Log takes a line for each failure that is ours. Nil: nothing is logged.
	Log *slog.Logger
}

// Server is the tool server. It may be used by many goroutines at once.
type Server struct {
	Options
	limiter limiter
	handler func() http.Handler
}

// New returns a tool server. What it says of itself is put together when it is
// first asked: most processes of the program never are.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Options: o, limiter: newLimiter(o.MaxCalls, o.MaxCallsPerClient)}
	s.handler = sync.OnceValue(s.newHandler)
	return s
}

const instructions = `Postern is an identity provider. Applications are OAuth clients and what people sign in to; flows are the graphs of steps by which they sign in (AUTHENTICATION) or register (REGISTRATION). ` +
	`A flow is proven safe before it is stored: read postern://kinds and an existing flow first, then call service_create_flow or service_update_flow with dry_run, mend every finding, and call it again without. ` +
	`Updates replace the whole: get the application or flow, change what you mean to, and send all of it back.`

func (s *Server) newHandler() http.Handler {
	server := sdk.NewServer(
		&sdk.Implementation{Name: "postern", Title: "Postern", Version: s.Version, WebsiteURL: s.PublicURL},
		&sdk.ServerOptions{
			Instructions: instructions,
			// Nothing is announced as changing: there is no session to tell it to.
			Capabilities: &sdk.ServerCapabilities{
				Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{},
			},
			// What one caller may see is not for another's cache, nor for long.
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
		// The server has its own check, which knows the name it is reached by.
		DisableLocalhostProtection: true,
	})
}

type callKey struct{}

// callOf is who calls, and how: Serve has put it there.
func callOf(ctx context.Context) directory.Call {
	c, _ := ctx.Value(callKey{}).(directory.Call)
	return c
}
