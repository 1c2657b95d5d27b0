package gate

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The pages are at the root, and everything else is unchanged.
func TestAtRoot(t *testing.T) {
	at := AtRoot(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.RequestURI()) }))
	for path, want := range map[string]string{
		"/": "/gate/", "/signin?authId=1": "/gate/signin?authId=1", "/account": "/gate/account", "/callback?code=1": "/gate/callback?code=1", "/files/x/main.js": "/gate/files/x/main.js",
		"/flow/execute": "/flow/execute", "/signin/x": "/signin/x", "/gate/signin": "/gate/signin", "/index.html": "/index.html", "/files": "/files",
	} {
		w := httptest.NewRecorder()
		at.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if got := w.Body.String(); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
