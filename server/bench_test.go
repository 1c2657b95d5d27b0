package server_test

import (
	"testing"
)

// The cost of a request without network and without a store to speak of.
func BenchmarkRequests(b *testing.B) {
	for name, request := range map[string][3]string{
		"liveness":      {"GET", "/health/liveness", ""},
		"flow start":    {"POST", "/flow/execute", begin},
		"flow refused":  {"POST", "/flow/execute", `{"applicationId":"app"}`},
		"passkey start": {"POST", "/auth/passkey/start", `{"userId":"` + ada + `"}`},
	} {
		b.Run(name, func(b *testing.B) {
			w := newPasskeyFixture(b)
			b.ReportAllocs()
			for b.Loop() {
				w.do(request[0], request[1], request[2], "Accept-Language: de-AT, en;q=0.5")
			}
		})
	}
}
