package server_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzHeaders looks for a header field that makes a request fail inside, adds a field to the reply,
// or breaks a line of the log.
func FuzzHeaders(f *testing.F) {
	for _, seed := range [][2]string{
		{"If-Match", `W/"x", *`}, {"If-None-Match", "\x00"}, {"Accept-Language", "de;q=x"}, {"Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"}, {"Traceparent", "ff--"},
		{"Cookie", `a="b; __Host-postern-session=`}, {"Authorization", "Bearer a b"}, {"Authorization", "basic !"}, {"Origin", "null"}, {"Origin", "https://[::1"}, {"X-Forwarded-For", "1.2.3.4, [::1"}, {"Forwarded", `for="[::`},
		{"Accept-Encoding", "gzip;q=0, *"}, {"Content-Type", "application/json; charset=\""}, {"User-Agent", "a\r\nlevel=ERROR"}, {"Sec-Fetch-Site", "x"}, {"Postern-Session", "1"},
		{"Access-Control-Request-Method", "\xff"}, {"Range", "bytes=0-"}, {"Via", "1.1 \x7f"}, {"Mcp-Protocol-Version", "9999"},
	} {
		f.Add(seed[0], seed[1])
	}
	h := newTestServer(f)
	f.Fuzz(func(t *testing.T, name, value string) {
		w := &passkeyFixture{t: t, handler: h.handler}
		for _, request := range []string{"GET /groups", "POST /groups", "OPTIONS /groups", "POST /flow/execute", "GET /openapi.json", "POST /auth/passkey/start", "GET /users/me"} {
			method, path, _ := strings.Cut(request, " ")
			r := httptest.NewRequest(method, path, strings.NewReader("{}"))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", strings.TrimPrefix(h.admin, "Authorization: "))
			r.Header[name] = []string{value}
			rec := record(w, r)
			if rec.Code >= 500 {
				t.Fatalf("%s with %s: %q: %d %s", request, name, value, rec.Code, rec.Body)
			}
			for field, values := range rec.Header() {
				if strings.ContainsAny(strings.Join(values, ""), "\r\n") {
					t.Fatalf("%s: %q", field, values)
				}
			}
		}
		for line := range strings.Lines(h.log.String()) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("the log has the line %q", line)
			}
		}
		h.log.Reset()
	})
}
