package document

import "testing"

func TestGzipIsNegotiated(t *testing.T) {
	for field, want := range map[string]bool{
		"": false, "gzip": true, "br, GZIP": true, "gzip;q=0": false, "gzip; q=0.000": false, "gzip;q=0.5": true, "gzip;q=x": false, "x-gzip": false, "*": false,
	} {
		if got := takesGzip(field); got != want {
			t.Errorf("Accept-Encoding %q: %v, want %v", field, got, want)
		}
	}
}
