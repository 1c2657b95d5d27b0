// Command go-web is a web application whose users sign in with Postern. It calls the API of
// examples/go-api for them.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// app is an OpenID Connect client with the sessions of its users.
type app struct {
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
	sessions sessions
	client   *http.Client
	metadata struct {
		Logout string `json:"end_session_endpoint"`
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	a, err := newApp()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	mux := a.routes()
	mux.HandleFunc("GET /me", a.handle(a.me))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // Serve returns either way
	})
	fmt.Println("Open", baseURL)
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// newApp reads the metadata of the issuer.
func newApp() (*app, error) {
	a := &app{sessions: sessions{byID: map[string]*userSession{}}, client: &http.Client{Timeout: 10 * time.Second}}
	provider, err := oidc.NewProvider(a.withClient(context.Background()), issuer)
	if err != nil {
		return nil, fmt.Errorf("cannot read the metadata of %s; does the server run? %w", issuer, err)
	}
	if err := provider.Claims(&a.metadata); err != nil {
		return nil, err
	}
	a.oauth = oauth2.Config{ClientID: clientID, ClientSecret: clientSecret,
		Endpoint: provider.Endpoint(), RedirectURL: redirectURI, Scopes: strings.Fields(scope)}
	if clientSecret == "" {
		a.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client sends its client_id in the form
	}
	a.verifier = provider.Verifier(&oidc.Config{ClientID: clientID})
	return a, nil
}

// withClient lets the libraries use the HTTP client of the application, which has a timeout.
func (a *app) withClient(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, a.client)
}

// login sends the browser to the issuer. A cookie binds the answer to this browser.
func (a *app) login(w http.ResponseWriter, r *http.Request) error {
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	http.SetCookie(w, a.cookie("sign-in-"+state, nonce+"."+verifier, 10*time.Minute))
	options := []oauth2.AuthCodeOption{oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)}
	if apiURL != "" {
		options = append(options, oauth2.SetAuthURLParam("resource", apiURL)) // the API that the access token is for
	}
	http.Redirect(w, r, a.oauth.AuthCodeURL(state, options...), http.StatusFound)
	return nil
}

// callback receives the answer of the issuer and starts a session.
func (a *app) callback(w http.ResponseWriter, r *http.Request) error {
	state := r.FormValue("state")
	pending, err := r.Cookie("sign-in-" + state)
	if err != nil || state == "" {
		return badRequest("this browser did not start this sign-in, or more than 10 minutes ago")
	}
	http.SetCookie(w, a.cookie(pending.Name, "", -1)) // a state is for one answer
	if r.FormValue("iss") != issuer {                 // RFC 9207
		return badRequest("the answer is from another issuer")
	}
	if code := r.FormValue("error"); code != "" {
		return badRequest(code + ": " + r.FormValue("error_description"))
	}
	nonce, verifier, _ := strings.Cut(pending.Value, ".")
	ctx := a.withClient(r.Context())
	token, err := a.oauth.Exchange(ctx, r.FormValue("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return fmt.Errorf("exchanging the code: %w", err)
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := a.verifier.Verify(ctx, raw)
	if err != nil {
		return fmt.Errorf("the ID token: %w", err)
	}
	s := &userSession{idToken: raw, tokens: a.oauth.TokenSource(a.withClient(context.Background()), token)}
	if err := idToken.Claims(&s.User); err != nil || idToken.Nonce != nonce {
		return badRequest("the ID token is not for this sign-in")
	}
	http.SetCookie(w, a.cookie("session", a.sessions.add(s), sessionLifetime)) // always a new id
	http.Redirect(w, r, "/", http.StatusFound)
	return nil
}

// logout ends the session here, and then at the issuer.
func (a *app) logout(w http.ResponseWriter, r *http.Request) error {
	s := a.sessions.remove(r)
	http.SetCookie(w, a.cookie("session", "", -1))
	if s == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	query := url.Values{"client_id": {clientID}, "id_token_hint": {s.idToken}, "post_logout_redirect_uri": {postLogoutURI}}
	http.Redirect(w, r, a.metadata.Logout+"?"+query.Encode(), http.StatusSeeOther)
	return nil
}
