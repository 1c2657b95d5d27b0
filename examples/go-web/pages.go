package main

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"

	"golang.org/x/oauth2"
)

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
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, apiURL+"/me", nil)
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
