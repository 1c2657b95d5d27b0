package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"

	"github.com/postern-id/postern/internal/directory"
)

// skipVariable is the environment variable that opens the API of a server until it is
// bootstrapped.
const skipVariable = "SKIP_SECURITY"

// skipsSecurity reports whether the server starts open.
func skipsSecurity(environ []string) (bool, error) {
	value := lookupEnv(environ, skipVariable)
	if value == "" {
		return false, nil
	}
	skip, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("%s=%q: expected true or false", skipVariable, value)
	}
	return skip, nil
}

// openAccess reports whether the API is open. It is open until a user has all permissions. After
// that it stays closed until the process ends, even if that user is deleted.
type openAccess struct {
	app    *app
	closed atomic.Bool
}

// newOpenAccess returns the state of an open server. The server must listen on loopback, and its
// store must have no administrator: an open server gives every caller all permissions.
func newOpenAccess(ctx context.Context, h *app, l net.Addr) (*openAccess, error) {
	tcp, ok := l.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return nil, fmt.Errorf("%s=true needs a listener that only this machine can reach, such as --listen 127.0.0.1:8090; this one is %s", skipVariable, l)
	}
	administered, err := h.hasAdministrator(ctx)
	if err != nil {
		return nil, err
	}
	if administered {
		return nil, fmt.Errorf("%s=true is for a store without an administrator, and this one has one: start without it", skipVariable)
	}
	return &openAccess{app: h}, nil
}

// open reports whether a request without a token has all permissions.
func (g *openAccess) open(ctx context.Context) bool {
	if g.closed.Load() {
		return false
	}
	administered, err := g.app.hasAdministrator(ctx)
	if administered {
		g.closed.Store(true)
	}
	return err == nil && !administered
}

// hasAdministrator reports whether a user has all permissions.
func (h *app) hasAdministrator(ctx context.Context) (bool, error) {
	holders, err := h.directory.Administrators(ctx, directory.SystemCall(), 1)
	return len(holders) > 0, err
}
