package server_test

import (
	"net/http"
	"reflect"
	"testing"
)

// Replies share the values of header fields. A reply that adds values does not change those of others.
func TestSharedFields(t *testing.T) {
	w := newPasskeyFixture(t)
	get := func(path string) http.Header {
		h := w.do("GET", path, "").Header()
		h.Del("X-Trace-Id")
		return h
	}
	for _, path := range []string{"/flow/meta", "/.well-known/webauthn", "/nothing"} {
		first := get(path)
		first.Add("Vary", "Cookie")
		for name := range first {
			first.Add(name, "changed")
		}
		if second, third := get(path), get(path); !reflect.DeepEqual(second, third) || len(second.Values("Vary")) >= len(first.Values("Vary")) {
			t.Errorf("%s: %v, then %v after %v", path, second, third, first)
		}
	}
}
