package telemetry

import (
	"net/http/httptest"
	"testing"
)

// A page whose name resolves to this machine cannot read profiles.
func TestProfilesAreLocal(t *testing.T) {
	for _, test := range []struct {
		host   string
		remote bool
		status int
	}{
		{"127.0.0.1:6060", false, 200}, {"localhost:6060", false, 200}, {"[::1]:6060", false, 200}, {"[::1]", false, 200},
		{"evil.example:6060", false, 403}, {"127.0.0.1.evil.example", false, 403}, {"", false, 403}, {"10.0.0.1:6060", false, 403},
		{"10.0.0.1:6060", true, 200},
	} {
		r := httptest.NewRequest("GET", "/debug/pprof/", nil)
		r.Host = test.host
		rec := httptest.NewRecorder()
		Profiles(test.remote).ServeHTTP(rec, r)
		if rec.Code != test.status {
			t.Errorf("%q, remote %v: %d, want %d", test.host, test.remote, rec.Code, test.status)
		}
	}
}
