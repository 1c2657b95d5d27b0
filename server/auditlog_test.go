package server_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

func TestAuditEvents(t *testing.T) {
	h := newTestServer(t, trustPeer)
	h.pass(30 * time.Minute) // since the server was furnished
	begun := h.clock()
	h.ok(200, "GET /audit-events", "") // reading is no event
	var groups []string
	for _, name := range strings.Fields("a b c d e") {
		groups = append(groups, h.create("/groups", `{"name":"`+name+`"}`))
		h.pass(time.Second)
	}
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	h.ok(200, "PUT /groups/"+groups[0], `{"name":"A"}`, h.bearer(ada, "system"), "Traceparent: 00-"+trace+"-00f067aa0ba902b7-01")
	h.ok(204, "DELETE /groups/"+groups[1], "")
	h.apply(schemas.RecordEvent{Event: schemas.Event{At: h.clock(), Action: "user.signed_in", UserID: ada, ApplicationID: "app"}})
	for query, want := range map[string]string{
		"from=" + stamp(begun):                    "user.signed_in group.deleted group.replaced group.created group.created group.created group.created group.created",
		"limit=2":                                 "user.signed_in group.deleted",
		"action=group.created&limit=1":            "group.created",
		"action=group.replaced":                   "group.replaced",
		"actor=" + ada:                            "group.replaced",
		"user=" + ada:                             "user.signed_in",
		"application=app":                         "user.signed_in",
		"traceId=" + trace:                        "group.replaced",
		"resource=" + groups[1]:                   "group.deleted group.created",
		"resourceType=group&action=group.deleted": "group.deleted",
		"resourceType=user":                       "",
		"resource=%00":                            "",
		"from=" + stamp(begun.Add(5*time.Second)): "user.signed_in group.deleted group.replaced",
		"from=" + stamp(begun.Add(time.Second)) + "&to=" + stamp(begun.Add(3*time.Second)): "group.created group.created",
		"action=group.created&to=" + url.QueryEscape("2030-01-02T05:34:06.678+02:00"):      "group.created",
	} {
		list, _ := h.ok(200, "GET /audit-events?"+query, "")
		var got []string
		for _, e := range list.list("auditEvents") {
			got = append(got, e.text("action"))
		}
		if strings.Join(got, " ") != want || list.number("count") != len(got) || list["auditEvents"] == nil {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	var seen []string
	for path := "/audit-events?limit=3&from=" + stamp(begun); path != ""; {
		list, _ := h.ok(200, "GET "+path, "")
		for _, e := range list.list("auditEvents") {
			seen = append(seen, e.text("id"))
		}
		if path = linkOf(list, "next"); len(seen) == 3 { // a later event moves nothing
			h.create("/groups", `{"name":"late"}`)
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d of 8 events", len(seen))
	}
}

func stamp(at time.Time) string { return at.Format(time.RFC3339Nano) }

func TestAuditQueries(t *testing.T) {
	h := newTestServer(t)
	for query, says := range map[string]string{
		"limit=0":           "limit: expected a whole number of at least 1",
		"actor=":            "actor: expected a value, got none",
		"from=yesterday":    "from: expected a time such as 2030-01-02T03:04:05Z",
		"to=2030-01-02":     "to: expected a time",
		"before=x":          "before: expected the cursor of a link in an earlier reply",
		"before=.":          "before: expected",
		"before=zz":         "before: expected",
		"offset=1":          "offset: unknown parameter",
		"actr=x":            "did you mean \"actor\"?",
		"action=a&action=b": "action: expected it once",
		"from=2030-01-02T03:04:05Z&to=2030-01-02T03:04:05Z": "to: expected a time after from",
	} {
		f := fails(t, h.do("GET", "/audit-events?"+query, "", h.admin), 400, schemas.CodeInvalidRequest)
		if !strings.Contains(f.Description.DefaultValue, says) || len(f.Errors) != 1 {
			t.Errorf("%s: %q does not tell %q", query, f.Description.DefaultValue, says)
		}
	}
	f := fails(t, h.do("GET", "/audit-events?limit=x&from=y&before=z&foo=1&actor=", "", h.admin), 400, schemas.CodeInvalidRequest)
	if len(f.Errors) != 5 {
		t.Errorf("%d of 5 faults: %v", len(f.Errors), f.Errors)
	}
}

func TestRelatedOrigins(t *testing.T) {
	w := newPasskeyFixture(t)
	rec := w.do("GET", "/.well-known/webauthn", "")
	if rec.Code != 200 || strings.TrimSpace(rec.Body.String()) != `{"origins":["`+rpOrigin+`"]}` {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

// Password managers are led to the account page, if there is one.
func TestPasskeyEndpoints(t *testing.T) {
	for page, want := range map[string]string{
		"":                          `{}`,
		publicURL + "/gate/account": `{"enroll":"` + publicURL + `/gate/account","manage":"` + publicURL + `/gate/account"}`,
	} {
		w := newPasskeyFixture(t, func(o *server.Options) { o.AccountPage = page })
		rec := w.do("GET", "/.well-known/passkey-endpoints", "")
		if rec.Code != 200 || strings.TrimSpace(rec.Body.String()) != want || rec.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
		}
	}
}

// TestAudit14EventsHaveTheirOrigin changes a resource from a browser behind a proxy. Text that a
// database cannot store is removed from the user agent.
func TestAudit14EventsHaveTheirOrigin(t *testing.T) {
	h := newTestServer(t)
	agent := "Browser/1 \xff" + strings.Repeat("x", 300)
	h.ok(201, "POST /groups", `{"name":"a"}`, "User-Agent: "+agent)
	list, _ := h.ok(200, "GET /audit-events?action=group.created&limit=1", "")
	event := list.list("auditEvents")[0]
	if event.text("address") == "" || !strings.HasPrefix(event.text("userAgent"), "Browser/1 x") || len(event.text("userAgent")) > 200 || len(event.list("changes")) == 0 {
		t.Errorf("got the event %v, expected the address, the user agent and the changes", event)
	}
}
