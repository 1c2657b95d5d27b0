package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

const sessionLifetime = 8 * time.Hour

// userSession is a signed-in user. Tokens stay on the server; the browser gets a random id only.
type userSession struct {
	User struct {
		Name     string `json:"name"`
		Username string `json:"preferred_username"`
		ID       string `json:"sub"`
	}
	idToken string
	tokens  oauth2.TokenSource // refreshes the access token
	expires time.Time
}

// sessions are kept in memory. With several instances, keep them in a database.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*userSession
}

// add stores a session and returns its id.
func (all *sessions) add(s *userSession) (id string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for id, old := range all.byID {
		if time.Now().After(old.expires) {
			delete(all.byID, id)
		}
	}
	id, s.expires = rand.Text(), time.Now().Add(sessionLifetime)
	all.byID[id] = s
	return id
}

// of returns the session of a browser; nil if there is none.
func (all *sessions) of(r *http.Request) *userSession {
	c, err := r.Cookie("session")
	if err != nil {
		return nil
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if s := all.byID[c.Value]; s != nil && time.Now().Before(s.expires) {
		return s
	}
	return nil
}

// remove ends the session of a browser, and returns it.
func (all *sessions) remove(r *http.Request) *userSession {
	s := all.of(r)
	all.mu.Lock()
	defer all.mu.Unlock()
	maps.DeleteFunc(all.byID, func(_ string, one *userSession) bool { return one == s })
	return s
}

// cookie returns a cookie for this host. A lifetime below zero deletes it.
func (a *app) cookie(name, value string, lifetime time.Duration) *http.Cookie {
	age := -1
	if lifetime > 0 {
		age = int(lifetime.Seconds())
	}
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(a.baseURL, "https://")}
}

func (a *app) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, handler := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}": a.home, "GET /login": a.login, "GET /callback": a.callback, "GET /me": a.me, "POST /logout": a.logout,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
			var bad badRequest
			if err := handler(w, r); errors.As(err, &bad) {
				http.Error(w, string(bad)+"\nGo back to "+a.baseURL+" and sign in again.", http.StatusBadRequest)
			} else if err != nil {
				log.Print(r.URL.Path, ": ", err)
				http.Error(w, "That did not work; the log of the application has the reason.", http.StatusBadGateway)
			}
		})
	}
	return mux
}

// badRequest is an error that the page shows.
type badRequest string

func (e badRequest) Error() string { return string(e) }

var page = template.Must(template.New("").Parse(`<!doctype html><title>Example</title><h1>Example</h1>
{{with .}}<p>Signed in as <b id="user">{{or .User.Name .User.Username .User.ID}}</b></p>
<p><a id="api" href="/me">Call the API</a></p><form method="post" action="/logout"><button id="sign-out">Sign out</button></form>
{{else}}<p><a id="sign-in" href="/login">Sign in</a></p>{{end}}`))

func (a *app) home(w http.ResponseWriter, r *http.Request) error {
	return page.Execute(w, a.sessions.of(r))
}

// me calls the API with the access token of the user, which is refreshed if it has expired.
func (a *app) me(w http.ResponseWriter, r *http.Request) error {
	s := a.sessions.of(r)
	if s == nil {
		return badRequest("you are not signed in")
	}
	token, err := s.tokens.Token()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.ErrorCode == "invalid_grant" {
		a.sessions.remove(r)
		return badRequest("your session at the sign-in service has ended")
	} else if err != nil {
		return fmt.Errorf("refreshing the access token: %w", err)
	}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, a.apiURL+"/me", nil)
	if err != nil {
		return err
	}
	token.SetAuthHeader(request)
	response, err := a.client.Do(request)
	if err != nil {
		return fmt.Errorf("calling the API; does it run (go run ./examples/go-api)? %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the API replied %s %s", response.Status, response.Header.Get("WWW-Authenticate"))
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = io.Copy(w, io.LimitReader(response.Body, 1<<20))
	return err
}
