package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The mailbox shows codes, so only programs on this machine may read it.
func TestMailboxIsLocal(t *testing.T) {
	for name, test := range map[string]struct {
		remote, host, field string
		status              int
	}{
		"a local browser":        {"127.0.0.1:4711", "localhost:8090", "", http.StatusOK},
		"over IPv6":              {"[::1]:4711", "[::1]:8090", "", http.StatusOK},
		"over IPv6, port 80":     {"[::1]:4711", "[::1]", "", http.StatusOK},
		"another machine":        {"192.0.2.7:4711", "localhost:8090", "", http.StatusForbidden},
		"a name that is rebound": {"127.0.0.1:4711", "evil.example:8090", "", http.StatusForbidden},
		"a proxy":                {"127.0.0.1:4711", "localhost:8090", "X-Forwarded-For", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/try/mail", nil)
			r.RemoteAddr, r.Host = test.remote, test.host
			if test.field != "" {
				r.Header.Set(test.field, "192.0.2.7")
			}
			w := httptest.NewRecorder()
			localOnly(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
			if w.Code != test.status {
				t.Errorf("status %d, want %d", w.Code, test.status)
			}
		})
	}
}
