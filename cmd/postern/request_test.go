package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
)

// Headers of requests; see newRequest.
const (
	jsonBody = "Content-Type: application/json"
	formBody = "Content-Type: application/x-www-form-urlencoded"
	mcpReply = "Accept: application/json, text/event-stream"
)

// bearer is the header of a token, or "" without one.
func bearer(token string) string {
	if token == "" {
		return ""
	}
	return "Authorization: Bearer " + token
}

// newRequest returns a request with headers such as jsonBody. A header without a value is left out.
func newRequest(method, target, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, header := range headers {
		if name, value, _ := strings.Cut(header, ": "); value != "" {
			r.Header.Set(name, value)
		}
	}
	return r
}

// clientRequest returns a request with a form, which a client authenticates with its secret.
func clientRequest(path, id, secret string, form url.Values) *http.Request {
	r := newRequest(http.MethodPost, path, form.Encode(), formBody)
	r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
	return r
}

// reply returns the reply to a request.
func (w *testApp) reply(r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.http.ServeHTTP(rec, r)
	return rec
}

// exchange sends a request with headers such as jsonBody, and returns the reply.
func (w *testApp) exchange(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	return w.reply(newRequest(method, target, body, headers...))
}
