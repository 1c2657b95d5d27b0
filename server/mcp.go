package server

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// Tools is the MCP server.
type Tools interface {
	// Serve answers a POST of a caller with the scope system, or returns an error.
	Serve(w http.ResponseWriter, r *http.Request, c directory.Call) error
}

// codeHostNotAllowed is the code of a request to the tools with an unknown host name.
const codeHostNotAllowed = "host_not_allowed"

// useTools handles POST /mcp.
func (s *server) useTools(w http.ResponseWriter, r *http.Request, c *caller) error {
	return s.Tools.Serve(w, r, c.Call)
}

// refuseMethod returns the error of a method that a resource does not have. A caller without access
// to the tools learns that first, for every method: the reply describes where to get a token.
func (at *resource) refuseMethod(r *http.Request) error {
	if at.origins == toolOrigins {
		if _, err := at.admit(r, toolToken); err != nil {
			return err
		}
	}
	return wrongMethod(r.Method, at.path, at.allow())
}

// checkSource rejects requests to the tools that a page of another origin may have sent, as the
// transport's specification requires: a browser on the server's machine can reach addresses that
// others cannot. Such a page has another Origin; a page that uses DNS rebinding has another name in
// Host.
func (at *resource) checkSource(r *http.Request, admitted bool) error {
	if at.origins != toolOrigins {
		return nil
	}
	if fields := r.Header.Values("Origin"); len(fields) > 1 || len(fields) == 1 && !admitted {
		return schemas.Errorf(schemas.Forbidden, codeOriginNotAllowed,
			"pages of the origin %.200q may not call %s: add the origin to cors.allowed_origins", strings.Join(fields, ", "), at.path)
	}
	if !at.knowsHost(r) {
		return schemas.Errorf(schemas.Forbidden, codeHostNotAllowed,
			"unexpected Host header %.200q for %s: send the host of server.public_url; a proxy must preserve the Host header", r.Host, at.path)
	}
	return nil
}

// knowsHost reports whether a request over a loopback address names this server: its public name,
// or this machine. Over other addresses any name is accepted.
func (s *server) knowsHost(r *http.Request) bool {
	if !overLoopback(r.Context()) {
		return true
	}
	host := hostname(r.Host)
	return isLoopbackName(host) || host == strings.ToLower(s.public.Hostname())
}

// overLoopback reports whether a connection came to a loopback address.
func overLoopback(ctx context.Context) bool {
	local, ok := ctx.Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	host, _, err := net.SplitHostPort(local.String())
	return err == nil && net.ParseIP(host).IsLoopback()
}

// hostname returns the name in a Host field, in lower case.
func hostname(host string) string { return strings.ToLower((&url.URL{Host: host}).Hostname()) }

// isLoopbackName reports whether a host always means this machine.
func isLoopbackName(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// toolChallenge returns the WWW-Authenticate field of the tools: it refers a client to the
// authorization server as in RFC 9728 §5.1, and names the scope to request.
func (s *server) toolChallenge(r *http.Request, status int, e *schemas.Error) string {
	lead := `resource_metadata="` + s.PublicURL + oauth.ResourcePath + `", scope="system"`
	reason := ""
	switch {
	case status == http.StatusUnauthorized && r.Header.Get("Authorization") == "":
		return "Bearer " + lead // no error: RFC 6750 §3.1
	case status == http.StatusUnauthorized:
		reason = "invalid_token"
	case status == http.StatusForbidden && !slices.Contains([]string{codeOriginNotAllowed, codeHostNotAllowed}, e.Code):
		reason = "insufficient_scope"
	default:
		return ""
	}
	return `Bearer error="` + reason + `", ` + lead + `, error_description=` +
		quotedString(e.Description.DefaultValue)
}
