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

// A reply without conditions is the same as that of http.ServeContent.
func TestServe(t *testing.T) {
	d := New("text/plain", []byte("text"))
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
		{"GET", "If-None-Match", `"` + d.Tag() + `"`, 304, "", ""},
		{"GET", "Range", "bytes=1-2", 206, "ex", "2"},
	} {
		rec := serve(test.method, test.field, test.value)
		if rec.Code != test.status || rec.Body.String() != test.body || rec.Header().Get("Content-Length") != test.length || rec.Header().Get("ETag") != `"`+d.Tag()+`"` {
			t.Errorf("%s with %s: %d %q %v", test.method, test.field, rec.Code, rec.Body, rec.Header())
		}
		if test.status == 200 && rec.Header().Get("Accept-Ranges") != "bytes" {
			t.Errorf("%s with %s: %v", test.method, test.field, rec.Header())
		}
	}
}
