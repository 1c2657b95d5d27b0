package server

import (
	"io"
	"log/slog"
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

// Bodies are what clients send to run flows and to use passkeys, and what they get.
func Bodies() []any {
	return []any{executeBody{}, registrationStart{}, registrationOptions{}, registrationFinish{}, registeredPasskey{},
		authenticationStart{}, authenticationOptions{}, authenticationFinish{}, authenticated{}}
}

// NewConnectionLog is where net/http reports what goes wrong with connections.
func NewConnectionLog(log *slog.Logger) io.Writer { return connectionLog{log} }
