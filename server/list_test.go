package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// What a user has of something is listed in pages too.
func TestPagesOfSessions(t *testing.T) {
	h := newTestServer(t)
	id := h.user("grace")
	app := h.create("/applications", `{"name":"Shop"}`)
	for range 3 {
		h.pass(time.Second)
		h.apply(schemas.StartSession{Session: schemas.Session{
			ID: schemas.NewID(), UserID: id, ApplicationID: app, CreatedAt: h.clock(), ExpiresAt: h.clock().Add(time.Hour),
		}})
	}
	at := "/users/" + id + "/sessions"
	first, _ := h.ok(200, "GET "+at+"?limit=2", "")
	second, _ := h.ok(200, "GET "+at+"?limit=2&offset=2", "")
	beyond, _ := h.ok(200, "GET "+at+"?offset=9", "")
	if first.number("count") != 2 || second.number("count") != 1 || beyond.number("count") != 0 || first.number("totalResults") != 3 || second.number("startIndex") != 3 {
		t.Errorf("%v\n%v\n%v", first, second, beyond)
	}
	if links := first.list("links"); links[len(links)-1].text("rel") != "next" || links[len(links)-1].text("href") != at+"?limit=2&offset=2" {
		t.Errorf("%v", links)
	}
	if amr, isList := first.list("sessions")[0]["amr"].([]any); !isList || len(amr) != 0 {
		t.Errorf("%v", first)
	}
	for _, path := range []string{at, "/users/" + id + "/passkeys"} {
		for query, at := range map[string]string{"limit=0": "limit", "limit=x": "limit", "offset=-1": "offset", "filter=x": "filter", "limt=1": "limt"} {
			f := fails(t, h.do("GET", path+"?"+query, "", h.admin), 400, schemas.CodeInvalidRequest)
			if len(f.Errors) != 1 || f.Errors[0].Path != at {
				t.Errorf("%s: %v", query, f.Errors)
			}
		}
	}
}

// Replies are read by people too: & and < stand in them as they are.
func TestRepliesAreNotEscapedForHTML(t *testing.T) {
	h := newTestServer(t)
	h.create("/groups", `{"name":"R&D <core>"}`)
	for path, want := range map[string]string{
		"/groups?limit=1&offset=0":                  "/groups?limit=1&offset=0",
		"/groups?filter=name+eq+%22R%26D+<core>%22": `"name":"R&D <core>"`,
		"/groups?filter=name+eq+<x>":                "expected <member> eq",
	} {
		rec := h.do("GET", path, "", h.admin)
		if body := rec.Body.String(); !strings.Contains(body, want) || strings.Contains(body, `\u00`) {
			t.Errorf("%s: %s", path, body)
		}
		if rec.Header().Get("X-Content-Type-Options") != "nosniff" || rec.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", path, rec.Header())
		}
	}
}
