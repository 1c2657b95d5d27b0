package document

import (
	"net/http/httptest"
	"testing"
)

func TestGzipIsNegotiated(t *testing.T) {
	for field, want := range map[string]bool{
		"": false, "gzip": true, "br, GZIP": true, "gzip;q=0": false, "gzip; q=0.000": false, "gzip;q=0.5": true, "gzip;q=x": false, "x-gzip": false, "*": false,
	} {
		if got := takesGzip(field); got != want {
			t.Errorf("Accept-Encoding %q: %v, want %v", field, got, want)
		}
	}
}

// A packed document is sent as it is, and unpacked for a client without gzip.
func TestPacked(t *testing.T) {
	d, err := NewPacked("text/plain", pack([]byte("text")))
	if err != nil {
		t.Fatal(err)
	}
	for accept, want := range map[string]string{"": "text", "gzip": string(pack([]byte("text")))} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", accept)
		rec := httptest.NewRecorder()
		d.Serve(rec, r, "no-cache")
		if rec.Body.String() != want || rec.Header().Get("Content-Encoding") != accept {
			t.Errorf("Accept-Encoding %q: %q %v", accept, rec.Body, rec.Header())
		}
	}
	if _, err := NewPacked("text/plain", []byte("text")); err == nil {
		t.Error("a text that is no gzip is accepted")
	}
}

func TestServe(t *testing.T) {
	d := New("text/plain", []byte("text"))
	tag := `"` + d.Tag() + `"`
	serve := func(method, field, value string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/", nil)
		r.Header.Set(field, value)
		rec := httptest.NewRecorder()
		d.Serve(rec, r, "no-cache")
		return rec
	}
	for _, test := range []struct {
		method, field, value string
		status               int
		body, length         string
	}{
		{"GET", "Accept", "*/*", 200, "text", "4"},
		{"HEAD", "Accept", "*/*", 200, "", "4"},
		{"GET", "If-None-Match", `"other"`, 200, "text", "4"},
		{"GET", "If-None-Match", `"other", W/` + tag, 304, "", ""},
		{"HEAD", "If-None-Match", tag, 304, "", ""},
		{"GET", "If-Match", `"other", ` + tag, 200, "text", "4"},
		{"GET", "If-Match", `W/` + tag, 412, "", ""},
		{"GET", "Range", "bytes=1-2", 200, "text", "4"},
	} {
		rec := serve(test.method, test.field, test.value)
		if rec.Code != test.status || rec.Body.String() != test.body || rec.Header().Get("Content-Length") != test.length || rec.Header().Get("ETag") != tag {
			t.Errorf("%s with %s: %d %q %v", test.method, test.field, rec.Code, rec.Body, rec.Header())
		}
		if hasType := rec.Header().Get("Content-Type") != ""; hasType != (test.status == 200) {
			t.Errorf("%s with %s: %v", test.method, test.field, rec.Header())
		}
	}
}

func TestMatches(t *testing.T) {
	for field, want := range map[string]struct{ weakly, strongly bool }{
		``: {}, `"a"`: {true, true}, `W/"a"`: {true, false}, `"b"`: {}, `"b", "a"`: {true, true}, `"b",W/"a" `: {true, false}, `*`: {true, true}, `a`: {}, `"a`: {}, `"A"`: {},
	} {
		if weakly, strongly := Matches([]string{field}, `"a"`, true), Matches([]string{field}, `"a"`, false); weakly != want.weakly || strongly != want.strongly {
			t.Errorf("%s: weakly %t, strongly %t", field, weakly, strongly)
		}
	}
	if !Matches([]string{`"b"`, `"a"`}, `"a"`, true) {
		t.Error("the second field was not seen")
	}
}
