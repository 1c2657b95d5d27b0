package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/server"
)

func TestCrossOrigin(t *testing.T) {
	const (
		flow      = "/flow/execute"
		metaPath  = "/flow/meta"
		passkeys  = "/auth/passkey/start"
		health    = "/health/liveness"
		untrusted = "https://evil.example.com"
	)
	tests := []struct {
		path, origin string
		allowed      bool
	}{
		{flow, spaOrigin, true},
		{flow, rpOrigin, true}, // of a registered application
		{metaPath, spaOrigin, true},
		{metaPath, rpOrigin, true},
		{passkeys, spaOrigin, true},
		{passkeys, rpOrigin, false},
		{"/auth/passkey/finish", spaOrigin, true},
		{"/auth/passkey/finish", rpOrigin, false},
		{"/register/passkey/start", rpOrigin, false}, // it registers within a flow
		{"/register/passkey/finish", rpOrigin, false},
		{"/register/passkey/start", spaOrigin, true},
		{"/register/passkey/finish", spaOrigin, true},
		{health, spaOrigin, false},
		{flow, untrusted, false},
		{flow, clientOrigin, false}, // of an untrusted client
		{metaPath, clientOrigin, false},
		{passkeys, clientOrigin, false},
		{flow, "null", false}, // in the options, and still not allowed
		{flow, "*", false},
		{flow, spaOrigin + ".evil.com", false},
		{flow, spaOrigin + ":8443", false},
		{flow, "http://spa.example.com", false},
		{flow, "https://SPA.example.com", false},
		{flow, spaOrigin + "/", false},
		{flow, "https://evil.com?" + spaOrigin, false},
	}
	w := newPasskeyFixture(t)
	for _, tt := range tests {
		t.Run(tt.path+" "+tt.origin, func(t *testing.T) {
			method := "POST"
			if tt.path == metaPath || tt.path == health {
				method = "GET"
			}
			want := ""
			if tt.allowed {
				want = tt.origin
			}
			reply := w.do(method, tt.path, "", "Origin: "+tt.origin)
			preflight := w.do("OPTIONS", tt.path, "", "Origin: "+tt.origin, "Access-Control-Request-Method: "+method, "Access-Control-Request-Headers: content-type")
			for _, h := range []map[string][]string{reply.Header(), preflight.Header()} {
				if got := strings.Join(h["Access-Control-Allow-Origin"], ","); got != want {
					t.Errorf("Access-Control-Allow-Origin %q, want %q", got, want)
				}
				if got := strings.Join(h["Access-Control-Allow-Credentials"], ","); (got == "true") != tt.allowed {
					t.Errorf("Access-Control-Allow-Credentials %q", got)
				}
				if got := strings.Join(h["Vary"], ","); slices.Contains(strings.Split(got, ","), "Origin") != (tt.path != health) {
					t.Errorf("Vary %q", got)
				}
			}
			switch {
			case tt.allowed:
				h := preflight.Header()
				if preflight.Code != 204 || !strings.Contains(h.Get("Access-Control-Allow-Methods"), method) ||
					!strings.Contains(h.Get("Access-Control-Allow-Headers"), "Content-Type") || h.Get("Access-Control-Max-Age") != "600" {
					t.Errorf("preflight: %d %v", preflight.Code, h)
				}
			case tt.path != health:
				f := fails(t, preflight, 403, "origin_not_allowed")
				if !strings.Contains(f.Description.DefaultValue, "cors.allowed_origins") {
					t.Error(f.Description.DefaultValue)
				}
			}
		})
	}
}

// The page must be able to read errors.
func TestErrorsAreReadableAcrossOrigins(t *testing.T) {
	w := newPasskeyFixture(t)
	for _, method := range []string{"POST", "DELETE"} {
		rec := w.do(method, "/flow/execute", "{}", "Origin: "+spaOrigin)
		if rec.Code < 400 || rec.Header().Get("Access-Control-Allow-Origin") != spaOrigin || !strings.Contains(rec.Header().Get("Access-Control-Expose-Headers"), "X-Trace-Id") {
			t.Errorf("%s: %d %v", method, rec.Code, rec.Header())
		}
	}
}

func TestOptionsOutsideOfCORS(t *testing.T) {
	w := newPasskeyFixture(t, func(o *server.Options) { o.OriginTrust = nil })
	rec := w.do("OPTIONS", "/flow/meta", "")
	if rec.Code != 204 || rec.Header().Get("Allow") != "GET, HEAD, OPTIONS" || rec.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	if rec := w.do("OPTIONS", "/flow/meta", "", "Origin: "+rpOrigin, "Access-Control-Request-Method: GET"); rec.Code != 403 {
		t.Errorf("without a hook an application's origin got %d", rec.Code)
	}
}
