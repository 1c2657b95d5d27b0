// Command mcp-client signs an administrator in to the MCP server of Postern. It lists the tools and the
// applications, or calls a tool: mcp-client call TOOL JSON.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	redirects, err := listenForRedirect()
	if err != nil {
		return err
	}
	defer redirects.server.Close()
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		PreregisteredClient:      &oauthex.ClientCredentials{ClientID: cmp.Or(os.Getenv("CLIENT_ID"), "EXAMPLE_MCP")},
		RedirectURL:              redirects.url,
		AuthorizationCodeFetcher: redirects.wait, // the handler makes state, PKCE and resource, and checks state and iss
	})
	if err != nil {
		return err
	}
	transport := &mcp.StreamableClientTransport{
		Endpoint: cmp.Or(os.Getenv("MCP_URL"), "http://localhost:8090/mcp"), OAuthHandler: handler,
		HTTPClient: &http.Client{Timeout: 30 * time.Second},
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1.0.0"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		return fmt.Errorf("connecting to %s; does the server run (`make run`)? %w", transport.Endpoint, err)
	}
	defer session.Close()
	if len(os.Args) == 4 && os.Args[1] == "call" {
		return call(ctx, session, os.Args[2], json.RawMessage(os.Args[3]))
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, tool := range tools.Tools {
		fmt.Printf("%-40s %s\n", tool.Name, firstSentence(tool.Description))
	}
	return call(ctx, session, "service_list_applications", nil)
}

// call calls a tool with arguments of JSON, nil for none, and prints the texts of its result.
func call(ctx context.Context, session *mcp.ClientSession, tool string, arguments json.RawMessage) error {
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	reply, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err
	}
	for _, content := range reply.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			fmt.Println(text.Text)
		}
	}
	if reply.IsError {
		return fmt.Errorf("the tool %s failed", tool)
	}
	return nil
}

func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return first
}

// redirectListener receives the answer of the authorization server on a loopback address (RFC 8252
// section 7.3). The server accepts any port of a registered loopback address.
type redirectListener struct {
	url     string
	server  *http.Server
	answers chan *http.Request
}

func listenForRedirect() (*redirectListener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &redirectListener{url: "http://" + l.Addr().String() + "/callback", answers: make(chan *http.Request, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, request *http.Request) {
		fmt.Fprintln(w, "You can close this page and go back to the program.")
		select {
		case r.answers <- request:
		default: // one answer is enough
		}
	})
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	go func() {
		if err := r.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Print(err)
		}
	}()
	return r, nil
}

// wait prints the address for the user's browser, and returns the answer.
func (r *redirectListener) wait(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	fmt.Println("Open", args.URL)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case answer := <-r.answers:
		if code := answer.FormValue("error"); code != "" {
			return nil, fmt.Errorf("the sign-in failed: %s: %s", code, answer.FormValue("error_description"))
		}
		return &auth.AuthorizationResult{Code: answer.FormValue("code"), State: answer.FormValue("state"), Iss: answer.FormValue("iss")}, nil
	}
}
