package server_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Whatever is asked of a list, the reply is the list or an error of the one
// shape.
func FuzzQueries(f *testing.F) {
	for _, query := range []string{
		"", "limit=1&offset=2", "after=%00", "after=\xff", `filter=name eq "x"`, `filter=name eq "\u0000"`, "filter=name eq \"\xff\"", "flowType=x",
		"from=2030-01-02T03:04:05Z&to=x", "before=z.0", "before=-zzzzzzzzzzzzz.x", "actor=%00", "from=9999-12-31T23:59:59Z", "from=0000-01-01T00:00:00Z", "limit=%31;x=%", "traceId=\U0010ffff",
	} {
		f.Add(query)
	}
	h := newTestServer(f)
	h.create("/groups", `{"name":"x"}`)
	f.Fuzz(func(t *testing.T, query string) {
		w := &passkeyFixture{t: t, handler: h.handler}
		for _, path := range []string{"/groups", "/flows", "/users", "/audit-events"} {
			r := httptest.NewRequest("GET", path, nil)
			r.URL.RawQuery = query
			r.Header.Set("Authorization", strings.TrimPrefix(h.admin, "Authorization: "))
			rec := record(w, r)
			if rec.Code == http.StatusOK {
				continue
			}
			fails(t, rec, http.StatusBadRequest, "invalid_request")
		}
	})
}

// Whatever is to be created, the reply is what was, or an error of the one shape
// that says what is wrong.
func FuzzResourceBodies(f *testing.F) {
	for _, s := range samples() {
		f.Add(numbered(s.body, "1"), false)
		f.Add(numbered(s.changed, "1"), true)
	}
	for _, rows := range badBodies() {
		for _, row := range rows {
			if len(row.body) < 300 {
				f.Add(row.body, false)
			}
		}
	}
	h := newTestServer(f)
	f.Fuzz(func(t *testing.T, body string, yaml bool) {
		kind := "application/json"
		if yaml {
			kind = "application/yaml"
		}
		w := &passkeyFixture{t: t, handler: h.handler}
		for _, r := range h.directory.Resources() {
			n := r.Noun()
			rec := w.do("POST", n.Path, body, h.admin, "Content-Type: "+kind)
			if rec.Code == http.StatusCreated {
				at := rec.Header().Get("Location")
				if _, err := url.Parse(at); err != nil || w.do("GET", at, "", h.admin).Code != 200 {
					t.Fatalf("%s %q: created at %q, where nothing is", n.Path, body, at)
				}
				if rec = w.do("DELETE", at, "", h.admin); rec.Code != http.StatusNoContent {
					t.Fatalf("%s %q: %d %s", n.Path, body, rec.Code, rec.Body)
				}
				continue
			}
			if rec.Code != http.StatusBadRequest && rec.Code != http.StatusConflict {
				t.Fatalf("%s %q: %d %s", n.Path, body, rec.Code, rec.Body)
			}
		}
	})
}
