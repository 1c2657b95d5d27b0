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
