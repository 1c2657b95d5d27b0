// Command go-api is an API that accepts access tokens of Postern (an OAuth resource server).
package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// api verifies the access tokens of its callers.
type api struct {
	audience string // the identifier of the resource server, which tokens must have in aud
	issuer   string
	verifier *oidc.IDTokenVerifier
	check    func(context.Context, string) (caller, error) // verifies a token
}

// caller is the content of an access token (RFC 9068).
type caller struct {
	Subject string `json:"sub"` // the user, or the client itself with client_credentials
	Client  string `json:"client_id"`
	Scope   string `json:"scope"`
	Expires int64  `json:"exp"` // Unix time
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	listen := cmp.Or(os.Getenv("LISTEN"), "localhost:4000")
	a := &api{issuer: cmp.Or(os.Getenv("ISSUER"), "http://localhost:8090"), audience: cmp.Or(os.Getenv("AUDIENCE"), "http://localhost:4000")}
	client := &http.Client{Timeout: 10 * time.Second}
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, client), a.issuer)
	if err != nil {
		return fmt.Errorf("cannot read the metadata of %s; does the server run (`make run`)? %w", a.issuer, err)
	}
	a.verifier = provider.Verifier(&oidc.Config{ClientID: a.audience}) // checks signature, iss, aud and exp
	a.check = a.verify
	if os.Getenv("INTROSPECT") == "true" {
		i, err := newIntrospector(provider, client, a.audience)
		if err != nil {
			return err
		}
		a.check = i.verify
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: a.routes(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // Serve returns either way
	})
	fmt.Printf("Try curl -i http://%s/me\n", listen)
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (a *api) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /me", a.authorized("", func(w http.ResponseWriter, _ *http.Request, c caller) {
		reply(w, http.StatusOK, c)
	}))
	mux.HandleFunc("DELETE /notes", a.authorized("example-api:notes:write", func(w http.ResponseWriter, _ *http.Request, _ caller) {
		w.WriteHeader(http.StatusNoContent)
	}))
	// Clients that know only this API find the authorization server here (RFC 9728).
	mux.HandleFunc("GET /.well-known/oauth-protected-resource", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"resource": a.audience, "authorization_servers": []string{a.issuer}, "bearer_methods_supported": []string{"header"}})
	})
	return mux
}

// authorized serves callers with a valid access token and a permission; "" needs none.
func (a *api) authorized(permission string, next func(http.ResponseWriter, *http.Request, caller)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || token == "" {
			a.refuse(w, http.StatusUnauthorized, "") // no error code: the caller has only forgotten the token
			return
		}
		c, err := a.check(r.Context(), strings.TrimSpace(token))
		if errors.Is(err, errUnavailable) {
			log.Print(err)
			reply(w, http.StatusServiceUnavailable, map[string]string{"error": "try again"})
			return
		}
		if err != nil {
			log.Print("a token is invalid: ", err)
			a.refuse(w, http.StatusUnauthorized, `error="invalid_token", error_description="expected an access token for this API"`)
			return
		}
		if !c.may(permission) {
			a.refuse(w, http.StatusForbidden, fmt.Sprintf("error=%q, scope=%q", "insufficient_scope", permission))
			return
		}
		next(w, r, c)
	}
}

// verify checks an access token. ID tokens have another type, and are for clients.
func (a *api) verify(ctx context.Context, raw string) (c caller, err error) {
	first, _, _ := strings.Cut(raw, ".")
	var header struct{ Typ string }
	text, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil || json.Unmarshal(text, &header) != nil || header.Typ != "at+jwt" {
		return c, errors.New("it is not a JWT of the type at+jwt")
	}
	token, err := a.verifier.Verify(ctx, raw)
	if err != nil {
		return c, err
	}
	return c, token.Claims(&c)
}

// may reports whether the scope contains the permission or one above it: example-api includes
// example-api:notes:write.
func (c caller) may(permission string) bool {
	return permission == "" || slices.ContainsFunc(strings.Fields(c.Scope), func(has string) bool {
		return has == permission || strings.HasPrefix(permission, has+":")
	})
}
