package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/server"
)

// These tests keep what the security audit of November 2026 attacked without finding a
// defect; see docs/security.md.

// TestHeldNamesBelongToOneUser creates users whose names read like those of another: as its
// e-mail address, in another case, another width, another script, with characters that
// are not seen.
func TestHeldNamesBelongToOneUser(t *testing.T) {
	h := newTestServer(t)
	h.create("/users", `{"type":"Person","attributes":{"username":"grace","email":"grace@example.org","email_verified":true}}`)
	for _, attributes := range []string{
		`{"username":"GRACE"}`, `{"username":"ｇｒａｃｅ"}`, `{"username":"grace@example.org"}`, `{"username":"GRACE@Example.ORG"}`,
		`{"username":"other","email":"Grace@EXAMPLE.org","email_verified":true}`, `{"email":"grace@example.org","email_verified":true}`,
		`{"username":"gr\u0430ce"}`,                                // Cyrillic а
		`{"username":"gra\u200bce"}`, `{"username":"gra\u00adce"}`, // zero width space, soft hyphen
		`{"username":"grace\u202e"}`, `{"username":"\ufeffgrace"}`, // direction, byte order mark
		`{"username":" grace"}`, `{"username":"grace "}`, `{"username":""}`, // blanks
	} {
		rec := h.do("POST", "/users", `{"type":"Person","attributes":`+attributes+`}`, h.admin)
		if rec.Code != 409 && rec.Code != 400 {
			t.Errorf("%s: %d %s", attributes, rec.Code, rec.Body)
		}
	}
}

// TestHeldSystemResourceServerIsKept attacks the resource server that has the permissions
// of the service itself.
func TestHeldSystemResourceServerIsKept(t *testing.T) {
	h := newTestServer(t)
	servers, _ := h.ok(200, "GET /resource-servers?filter=handle%20eq%20%22system%22", "")
	list := servers.list("resourceServers")
	if len(list) != 1 {
		t.Fatalf("%v", servers)
	}
	other := h.create("/resource-servers", `{"handle":"shop","name":"Shop"}`)
	clerk := h.bearer(h.user("clerk"), "system:resource-servers")
	path, before := "/resource-servers/"+list[0].text("id"), h.footprint()
	for _, writer := range []string{h.admin, clerk} {
		for request, body := range map[string]string{
			"PUT " + path:                          `{"handle":"system","name":"Mine"}`,
			"DELETE " + path:                       "",
			"PUT /resource-servers/" + other:       `{"id":"` + list[0].text("id") + `","handle":"shop","name":"Shop"}`,
			"PUT /resource-servers/" + other + "?": `{"handle":"system","name":"Shop"}`,
			"POST /resource-servers":               `{"handle":"system","name":"Another"}`,
		} {
			method, at, _ := strings.Cut(request, " ")
			if rec := h.do(method, at, body, writer); rec.Code < 400 || rec.Code >= 500 {
				t.Errorf("%s: %d %s", request, rec.Code, rec.Body)
			}
		}
	}
	if after := h.footprint(); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
}

// TestHeldBodies sends bodies that are costly to read.
func TestHeldBodies(t *testing.T) {
	h := newTestServer(t)
	members := strings.Builder{}
	for i := range 20000 {
		fmt.Fprintf(&members, `"m%d":1,`, i)
	}
	for name, body := range map[string]string{
		"deep": strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "very deep": strings.Repeat(`{"a":`, 150000) + "1" + strings.Repeat("}", 150000),
		"many members": "{" + members.String() + `"name":"x"}`, "a member twice": `{"name":"a","name":"b"}`, "a member twice, escaped": `{"name":"a","n\u0061me":"b"}`,
	} {
		for _, path := range []string{"/groups", "/users", "/applications", "/flows", "/flow/execute"} {
			if rec := h.do("POST", path, body, h.admin); rec.Code != 400 && rec.Code != 413 {
				t.Errorf("%s to %s: %d %s", name, path, rec.Code, rec.Body)
			}
		}
	}
	if rec := h.do("GET", "/groups", "", h.admin); strings.Contains(rec.Body.String(), `"x"`) {
		t.Errorf("one of them created a group: %s", rec.Body)
	}
}

// TestHeldLongAcceptLanguage sends as many languages as a header field can have.
func TestHeldLongAcceptLanguage(t *testing.T) {
	w := newPasskeyFixture(t)
	for name, languages := range map[string]string{
		"many": strings.Repeat("de-DE-1996;q=0.5,", 3500), "one that is long": strings.Repeat("de-", 20000),
		"extensions": "de" + strings.Repeat("-u-co-phonebk", 4000), "commas": strings.Repeat(",", 60000),
	} {
		for _, request := range [][2]string{{"GET", "/flow/meta?id=app"}, {"POST", "/flow/execute"}} {
			body := ""
			if request[0] == "POST" {
				body = begin
			}
			if rec := w.do(request[0], request[1], body, "Accept-Language: "+languages); rec.Code != 200 {
				t.Errorf("%s to %s: %d %s", name, request[1], rec.Code, rec.Body)
			}
		}
	}
}

// TestHeldSlowBodies holds connections that never finish their request: others are served
// meanwhile.
func TestHeldSlowBodies(t *testing.T) {
	w, l := newPasskeyFixture(t), listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l, w.handler, nil, slog.New(slog.DiscardHandler)) }()
	var slow []net.Conn
	for range 300 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
		if _, err := io.WriteString(c, "POST /flow/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		res, err := http.Post("http://"+l.Addr().String()+"/flow/execute", "application/json", strings.NewReader(begin))
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != 200 {
			t.Errorf("during slow requests: %d", res.StatusCode)
		}
	}
	// None of them was answered as if its request were complete.
	for _, c := range slow {
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Error(err)
		}
		if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && res.StatusCode < 400 {
			t.Errorf("half a request: %d", res.StatusCode)
		}
		_ = c.Close()
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
