package server

import (
	"net/http"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// origins states which other origins can call a resource.
type origins int

const (
	noOrigins          origins = iota
	configuredOrigins          // those of cors.allowed_origins
	applicationOrigins         // and those of trusted applications
	clientOrigins              // and, without credentials, those of all other clients
	publicOrigins              // as clientOrigins, and every other origin without credentials
	toolOrigins                // the configured ones and our own; others are rejected
)

// admitOrigin lets a page of an allowed origin read the reply. Origins are compared exactly and
// echoed: with credentials there is no wildcard (Fetch §3.3.5), and a prefix or suffix would match
// other sites.
//
// A request of another origin is served without these header fields: its browser hides the reply
// from the page. Requests that change something need JSON, which no page can send without a
// preflight.
func (at *resource) admitOrigin(w http.ResponseWriter, r *http.Request) bool {
	if at.origins == noOrigins {
		return false
	}
	origin := r.Header.Get("Origin")
	allowed, credentials := at.allows(r, origin)
	if !allowed {
		return at.origins == publicOrigins // whose fields admit "*", without credentials
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	if credentials {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
	h.Set("Access-Control-Expose-Headers", exposedFields)
	return true
}

// exposedFields are the header fields that pages of admitted origins can read.
const exposedFields = "ETag, Location, Retry-After, WWW-Authenticate, " + traceHeader

// fieldsFor returns the header fields of all replies of a resource.
func fieldsFor(o origins) http.Header {
	h := hardenedFields()
	if o != noOrigins {
		h.Set("Vary", "Origin")
	}
	if o == publicOrigins {
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", exposedFields)
	}
	return h
}

// allows reports whether the origin is allowed here, and whether with credentials. "null" is the
// origin of every sandboxed frame, so it is never allowed.
func (at *resource) allows(r *http.Request, origin string) (allowed, credentials bool) {
	if origin == "" || origin == "null" || origin == "*" {
		return false, false
	}
	if at.allowed[origin] || at.origins == toolOrigins && origin == at.origin {
		return true, true
	}
	if at.OriginTrust == nil || at.origins != applicationOrigins && at.origins != clientOrigins && at.origins != publicOrigins {
		return false, false
	}
	trust := at.OriginTrust(r.Context(), origin)
	credentials = trust == oauth.TrustedOrigin
	return credentials || trust == oauth.ClientOrigin && at.origins == clientOrigins, credentials
}

// describe answers OPTIONS: a CORS preflight, or a request for the methods of the resource.
func (at *resource) describe(w http.ResponseWriter, r *http.Request, admitted bool) error {
	h := w.Header()
	h.Set("Allow", at.allow())
	if _, patched := at.methods[http.MethodPatch]; patched {
		h.Set("Accept-Patch", mergePatchType+", "+jsonType) // RFC 5789 §3.1
	}
	if r.Header.Get("Access-Control-Request-Method") != "" && at.origins != noOrigins {
		if !admitted {
			return schemas.Errorf(schemas.Forbidden, codeOriginNotAllowed,
				"pages of the origin %.200q may not call %s: add the origin to cors.allowed_origins", r.Header.Get("Origin"), at.path)
		}
		h.Set("Access-Control-Allow-Methods", at.allow())
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Traceparent, Tracestate")
		h.Set("Access-Control-Max-Age", "600")
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
