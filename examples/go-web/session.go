package main

import (
	"crypto/rand"
	"errors"
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
		SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(baseURL, "https://")}
}

func (a *app) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.handle(a.home))
	mux.HandleFunc("GET /login", a.handle(a.login))
	mux.HandleFunc("GET "+callbackPath, a.handle(a.callback))
	mux.HandleFunc("POST /logout", a.handle(a.logout))
	return mux
}

// handle writes the error of a handler.
func (a *app) handle(next func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		var bad badRequest
		if err := next(w, r); errors.As(err, &bad) {
			http.Error(w, string(bad)+"\nGo back to "+baseURL+" and sign in again.", http.StatusBadRequest)
		} else if err != nil {
			log.Print(r.URL.Path, ": ", err)
			http.Error(w, "That did not work; the log of the application has the reason.", http.StatusBadGateway)
		}
	}
}

// badRequest is an error that the page shows.
type badRequest string

func (e badRequest) Error() string { return string(e) }
