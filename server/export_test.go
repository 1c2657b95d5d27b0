package server

import (
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// Route is a line of the API's table.
type Route struct{ Method, Path, Needs string }

// Routes is the API's table for a server with the options.
func Routes(o Options) []Route {
	var list []Route
	for _, e := range (&server{Options: o}).endpoints() {
		list = append(list, Route{e.method, e.path, string(e.needs)})
	}
	return list
}

// UnusedOperations are the endpoints that are described and that no server with the options has.
func UnusedOperations(o Options) (unused []string) {
	described := operations()
	for _, e := range (&server{Options: o}).endpoints() {
		delete(described, e.method+" "+e.path)
		delete(described, e.method+" "+strings.Replace(e.path, "/users/me/", "/users/{id}/", 1))
	}
	return slices.Sorted(maps.Keys(described))
}

// Bodies are what clients send to run flows and to use passkeys, and what they get.
func Bodies() []any {
	return []any{executeBody{}, registrationStart{}, registrationOptions{}, registrationFinish{}, registeredPasskey{},
		authenticationStart{}, authenticationOptions{}, authenticationFinish{}, authenticated{}}
}

// NewConnectionLog is where net/http reports what goes wrong with connections.
func NewConnectionLog(log *slog.Logger) io.Writer { return connectionLog{log} }
