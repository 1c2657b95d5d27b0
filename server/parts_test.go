package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

func TestMembersAndAssignments(t *testing.T) {
	h := newTestServer(t)
	user, group := h.user("grace"), h.create("/groups", `{"name":"G"}`)
	app := h.create("/applications", `{"name":"A"}`)
	role := h.create("/roles", `{"name":"R"}`)
	for _, tt := range []struct{ of, list, kind, id string }{
		{"/groups/" + group + "/members/", "members", "user", user},
		{"/roles/" + role + "/assignments/", "assignments", "user", user},
		{"/roles/" + role + "/assignments/", "assignments", "group", group},
		{"/roles/" + role + "/assignments/", "assignments", "application", app},
	} {
		path := tt.of + tt.kind + "/" + tt.id
		has := func(m members) bool {
			return strings.Contains(asJSON(t, m[tt.list]), `{"id":"`+tt.id+`","type":"`+tt.kind+`"}`)
		}
		first, rec := h.ok(200, "PUT "+path, "")
		again, rec2 := h.ok(200, "PUT "+path, "")
		if !has(first) || !has(again) || rec.Header().Get("ETag") != rec2.Header().Get("ETag") {
			t.Errorf("%s: %v", path, again)
		}
		if gone, _ := h.ok(200, "DELETE "+path, ""); has(gone) {
			t.Errorf("%s: %v", path, gone)
		}
		h.ok(200, "DELETE "+path, "")
		fails(t, h.do("PUT", tt.of+tt.kind+"/nobody", "", h.admin), 400, schemas.CodeInvalidRequest)
		fails(t, h.do("PUT", tt.of+"robot/"+tt.id, "", h.admin), 400, schemas.CodeInvalidRequest)
	}
	fails(t, h.do("PUT", "/groups/nope/members/user/"+user, "", h.admin), 404, "group_not_found")
	fails(t, h.do("DELETE", "/roles/nope/assignments/user/"+user, "", h.admin), 404, "role_not_found")
	fails(t, h.do("PUT", "/groups/"+group+"/members/group/"+group, "", h.admin), 400, schemas.CodeInvalidRequest)
}

func TestAccess(t *testing.T) {
	h := newTestServer(t)
	user, group := h.user("grace"), h.create("/groups", `{"name":"G"}`)
	direct, inherited := h.create("/roles", `{"name":"R1"}`), h.create("/roles", `{"name":"R2"}`)
	h.ok(200, "PUT /groups/"+group+"/members/user/"+user, "")
	h.ok(200, "PUT /roles/"+direct+"/assignments/user/"+user, "")
	h.ok(200, "PUT /roles/"+inherited+"/assignments/group/"+group, "")
	groups := `"groups":[{"id":"` + group + `","inherited":false,"name":"G"}]`
	roles := `"roles":[{"id":"` + direct + `","inherited":false,"name":"R1"},{"id":"` + inherited + `","inherited":true,"name":"R2"}]`
	for _, test := range []struct {
		permissions []string
		user, want  string
	}{
		{[]string{"system"}, user, `{` + groups + `,` + roles + `,"totalGroups":1,"totalRoles":2}`},
		{[]string{"system:users:read", "system:groups:read"}, user, `{` + groups + `,"totalGroups":1}`},
		{[]string{"system:users"}, user, `{}`},
		{[]string{"system"}, h.user("alan"), `{"groups":[],"roles":[],"totalGroups":0,"totalRoles":0}`},
	} {
		rec := h.do("GET", "/users/"+test.user+"/access", "", h.token(user, test.permissions...))
		var reply members
		_ = json.Unmarshal(rec.Body.Bytes(), &reply)
		if got := asJSON(t, reply); rec.Code != 200 || got != test.want {
			t.Errorf("with %v: %d %s, expected %s", test.permissions, rec.Code, got, test.want)
		}
	}
	for n := range directory.MaxMemberships {
		role := h.create("/roles", fmt.Sprintf(`{"name":"S%03d"}`, n))
		h.ok(200, "PUT /roles/"+role+"/assignments/user/"+user, "")
	}
	access, _ := h.ok(200, "GET /users/"+user+"/access", "")
	if shown := access.list("roles"); len(shown) != directory.MaxMemberships || shown[0].text("name") != "R1" || access.number("totalRoles") != directory.MaxMemberships+2 {
		t.Errorf("of more roles than the limit %d are shown, and the total is %v", len(shown), access["totalRoles"])
	}
	fails(t, h.do("GET", "/users/nobody/access", "", h.admin), 404, schemas.CodeUserNotFound)
	fails(t, h.do("GET", "/users/"+user+"/access", "", h.token(user, "system:groups")), 403, "forbidden")
}

func TestFlowVersions(t *testing.T) {
	h := newTestServer(t)
	body := func(name string) string {
		return `{"handle":"f","name":"` + name + `","flowType":"AUTHENTICATION","nodes":[{"id":"key","use":"prove","next":"end"}]}`
	}
	id := h.create("/flows", body("one"))
	at := "/flows/" + id
	h.ok(200, "PUT "+at, body("two"))
	h.ok(200, "PUT "+at, body("two")) // changes nothing
	h.ok(200, "PUT "+at, body("three"))
	list, _ := h.ok(200, "GET "+at+"/versions?limit=2", "")
	var seen []string
	for more := true; more; more = len(seen) < 3 {
		if list.number("totalResults") != 3 || list.number("startIndex") != len(seen)+1 {
			t.Fatalf("%v", list)
		}
		for _, v := range list.list("versions") {
			seen = append(seen, fmt.Sprint(v.number("version"), v.text("name"), v["isActive"]))
		}
		if next := linkOf(list, "next"); next != "" {
			list, _ = h.ok(200, "GET "+next, "")
		}
	}
	if got := strings.Join(seen, " "); got != "3threetrue 2twofalse 1onefalse" {
		t.Errorf("%s", got)
	}
	first, _ := h.ok(200, "GET "+at+"/versions/1", "")
	if first.text("name") != "one" || first.number("activeVersion") != 1 {
		t.Errorf("%v", first)
	}
	restored, rec := h.ok(200, "POST "+at+"/restore", `{"version":1}`)
	if restored.text("name") != "one" || restored.number("activeVersion") != 4 || rec.Header().Get("ETag") == "" {
		t.Errorf("%v", restored)
	}
	for _, n := range []string{"0", "5", "x", "-1", "99999999999999999999"} {
		fails(t, h.do("GET", at+"/versions/"+n, "", h.admin), 404, schemas.CodeFlowNotFound)
	}
	for body, code := range map[string]string{
		`{"version":5}`: schemas.CodeFlowNotFound, `{"version":0}`: schemas.CodeInvalidRequest, `{}`: schemas.CodeInvalidRequest,
		`{"version":"1"}`: schemas.CodeInvalidRequest, `{"version":1.5}`: schemas.CodeInvalidRequest, `{"versoin":1}`: schemas.CodeInvalidRequest, ``: schemas.CodeInvalidRequest,
	} {
		fails(t, h.do("POST", at+"/restore", body, h.admin, "Content-Type: application/json"), 400, code)
	}
	for _, request := range []string{"GET /flows/nope/versions", "GET /flows/nope/versions/1", "POST /flows/nope/restore"} {
		method, path, _ := strings.Cut(request, " ")
		body := ""
		if method == "POST" {
			body = `{"version":1}`
		}
		fails(t, h.do(method, path, body, h.admin), 404, schemas.CodeFlowNotFound)
	}
	fails(t, h.do("GET", at+"/versions?after=x&limit=0", "", h.admin), 400, schemas.CodeInvalidRequest)
}

// A version carries its author, its reason and the number of its open runs.
func TestFlowVersionAuthors(t *testing.T) {
	h := newTestServer(t)
	body := func(name string) string {
		return `{"handle":"f","name":"` + name + `","flowType":"AUTHENTICATION","nodes":[{"id":"key","use":"prove","next":"end"}]}`
	}
	created, _ := h.ok(201, "POST /flows?reason=first", body("one"))
	at := "/flows/" + created.text("id")
	h.ok(200, "PUT "+at+"?reason=t%C3%BCr", body("two"))
	h.ok(200, "PATCH "+at+"?reason=patched", `{"name":"three"}`)
	h.ok(200, "POST "+at+"/restore?reason=back", `{"version":1}`)
	h.ok(200, "PUT "+at, body("five"))
	var seen []string
	list, _ := h.ok(200, "GET "+at+"/versions", "")
	for _, v := range list.list("versions") {
		if v.text("author.type") == "" || v.text("author.id") == "" || v.text("author.name") == "" || v.number("openRuns") != 0 {
			t.Errorf("expected an author with a name and no runs, got %v", v)
		}
		reason, _ := v["reason"].(string)
		seen = append(seen, reason)
	}
	if got := strings.Join(seen, "|"); got != "|back|patched|tür|first" {
		t.Errorf("the reasons are %s", got)
	}
	var logged []string
	events, _ := h.ok(200, "GET /audit-events?resourceType=flow", "")
	for _, e := range events.list("auditEvents") {
		if detail, ok := e["detail"].(map[string]any); ok && detail["reason"] != nil {
			logged = append(logged, fmt.Sprint(e.text("action"), " ", detail["reason"]))
		}
	}
	if got := strings.Join(logged, "|"); got != "flow.restored back|flow.replaced patched|flow.replaced tür|flow.created first" {
		t.Errorf("the events are %s", got)
	}
	// Who may read flows, but no users and no applications, gets the author's id without the name.
	own := h.bearer(h.user("author"), "system:flows")
	h.ok(200, "PATCH "+at, `{"name":"six"}`, own)
	for permissions, named := range map[string]bool{"system:flows:read": false, "system:flows:read system:groups:read": false, "system:flows:read system:users:read": true} {
		list, _ = h.ok(200, "GET "+at+"/versions", "", h.bearer(h.user(strings.NewReplacer(" ", ".", ":", ".").Replace(permissions)), strings.Fields(permissions)...))
		newest := list.list("versions")[0]
		if newest.text("author.type") != "user" || newest.text("author.id") == "" || (newest.text("author.name") == "author") != named || !named && newest.text("author.name") != "" {
			t.Errorf("%s: the newest version is %v", permissions, newest)
		}
	}
	for _, reason := range []string{strings.Repeat("x", 201), "a%0Ab", "%FF"} {
		fails(t, h.do("PUT", at+"?reason="+reason, body("six"), h.admin, "Content-Type: application/json"), 400, schemas.CodeInvalidFlow)
	}
	h.ok(200, "PUT "+at+"?reason="+strings.Repeat("%C3%BC", 200), body("six"))
}

// A version that a user stored with an application, such as an assistant, names both.
func TestFlowVersionClient(t *testing.T) {
	h := newTestServer(t)
	at := "/flows/" + h.create("/flows", `{"handle":"f","name":"first","flowType":"AUTHENTICATION","nodes":[{"id":"key","use":"prove","next":"end"}]}`)
	h.machine(t)
	author := h.user("author")
	h.allow(author, []string{"system:flows"})
	access := h.accessHeader(token.Claims{Subject: author, ClientID: "machine", Audience: []string{h.base}, Scope: []string{"system:flows"}, AuthTime: h.clock()})
	h.ok(200, "PATCH "+at, `{"name":"second"}`, access)
	for permissions, want := range map[string]string{"system:flows:read system:applications:read": "Machine", "system:flows:read": ""} {
		list, _ := h.ok(200, "GET "+at+"/versions", "", h.bearer(h.user("reader"+want), strings.Fields(permissions)...))
		if newest := list.list("versions")[0]; newest.text("author.id") != author || newest.text("author.clientName") != want {
			t.Errorf("%s: the newest version is %v, expected the client %q", permissions, newest, want)
		}
	}
}

func TestFlowType(t *testing.T) {
	h := newTestServer(t)
	for query, want := range map[string]int{
		"":                       2,
		"?flowType=REGISTRATION": 1,
		"?flowType=AUTHENTICATION&filter=flowType+eq+%22AUTHENTICATION%22": 1,
		"?filter=handle+eq+%22sign-in%22":                                  1,
	} {
		if page, _ := h.ok(200, "GET /flows"+query, ""); page.number("totalResults") != want {
			t.Errorf("%s: %v", query, page)
		}
	}
	for query, says := range map[string]string{
		"flowType=LOGIN":          "expected AUTHENTICATION, REGISTRATION or SUBFLOW",
		"flowType=":               "expected AUTHENTICATION, REGISTRATION or SUBFLOW",
		"flowType=authentication": "did you mean \"AUTHENTICATION\"?",
		"flowType=REGISTRATION&filter=handle+eq+%22sign-in%22":          "leave one of them out",
		"flowType=REGISTRATION&filter=flowType+eq+%22AUTHENTICATION%22": "leave one of them out",
	} {
		f := fails(t, h.do("GET", "/flows?"+query, "", h.admin), 400, schemas.CodeInvalidRequest)
		if len(f.Errors) != 1 || f.Errors[0].Path != "flowType" || !strings.Contains(f.Errors[0].Message, says) {
			t.Errorf("%s: %v", query, f.Errors)
		}
	}
}

// A check answers with what it finds, and stores nothing.
func TestFlowCheck(t *testing.T) {
	h := newTestServer(t)
	before := h.footprint()
	for name, tt := range map[string]struct {
		body, kind string
		valid      bool
		finding    string
	}{
		"good JSON": {`{"handle":"f","name":"x","flowType":"AUTHENTICATION","nodes":[{"id":"key","use":"prove","next":"end"}]}`, "application/json", true, "effect"},
		"good YAML": {"handle: f\nname: x\nflowType: AUTHENTICATION\nnodes:\n  - {id: key, use: prove, next: end}\n", "application/yaml", true, "effect"},
		"null deep": {`{"handle":"f","name":"x","flowType":"AUTHENTICATION","waive":null,"nodes":[{"id":"key","use":"prove","with":{"x":null},"next":{"success":"end","failure":null}}]}`, "application/json", true, "effect"},
		"null node": {`{"handle":"f","name":"x","flowType":"AUTHENTICATION","nodes":[{"id":"key","use":"prove","next":"end"},null]}`, "application/json", false, "shape"},
		"bad YAML":  {"handle: f\nname: x\nflowType: AUTHENTICATION\nnodes:\n  - {id: who, use: form, next: end}\n", "application/yaml", false, "unauthenticated"},
		"null":      {`{"handle":"f","name":"x","flowType":"AUTHENTICATION","waive":null,"id":null,"nodes":[{"id":"key","use":"prove","with":null,"next":"end"}]}`, "application/json", true, "effect"},
		"no YAML":   {"handle: [\n", "application/yaml", false, "shape"},
		"no JSON":   {"{", "application/json", false, "shape"},
		"nothing":   {" ", "application/json", false, "shape"},
	} {
		got, _ := h.ok(200, "POST /flows/check", tt.body, "Content-Type: "+tt.kind)
		findings := got.list("findings")
		if got["valid"] != tt.valid || (tt.finding == "") != (len(findings) == 0) || got["findings"] == nil {
			t.Errorf("%s: %v", name, got)
			continue
		}
		for _, f := range findings {
			if f.text("rule") != tt.finding || f.number("line") == 0 || f.text("message") == "" {
				t.Errorf("%s: %v", name, f)
			}
		}
	}
	fails(t, h.do("POST", "/flows/check", "x", h.admin, "Content-Type: text/plain"), 400, schemas.CodeInvalidRequest)
	if after := h.footprint(); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
}

// What others refer to is not deleted, and they are named.
func TestInUse(t *testing.T) {
	h := newTestServer(t)
	unit := h.create("/organization-units", `{"handle":"u","name":"U"}`)
	h.create("/organization-units", `{"handle":"below","name":"B","parentId":"`+unit+`"}`)
	group := h.create("/groups", `{"name":"G","ouId":"`+unit+`"}`)
	role := h.create("/roles", `{"name":"R","assignments":[{"type":"group","id":"`+group+`"}]}`)
	app, _ := h.ok(201, "POST /applications", `{"name":"A"}`)
	user := h.user("grace")
	types, _ := h.ok(200, "GET /user-types", "")
	for path, by := range map[string]string{
		"/organization-units/" + unit:                          "below",
		"/groups/" + group:                                     "R",
		"/flows/" + app.text("authFlowId"):                     "A",
		"/user-types/" + types.list("userTypes")[0].text("id"): user,
	} {
		f := fails(t, h.do("DELETE", path, "", h.admin), 409, schemas.CodeInUse)
		if !strings.Contains(f.Description.DefaultValue+asJSON(t, f.Errors), by) || len(f.Errors) == 0 {
			t.Errorf("%s: %s does not name %q: %v", path, f.Description.DefaultValue, by, f.Errors)
		}
		h.ok(200, "GET "+path, "")
	}
	fails(t, h.do("DELETE", "/organization-units/"+h.unit, "", h.admin), 409, schemas.CodeReadOnly)
	h.ok(204, "DELETE /roles/"+role, "")
	h.ok(204, "DELETE /groups/"+group, "")
}

func TestResourceBodies(t *testing.T) {
	h := newTestServer(t)
	big := `{"name":"x","description":"` + strings.Repeat("d", 1<<20) + `"}`
	fails(t, h.do("POST", "/users", big, h.admin), 413, "payload_too_large")
	fails(t, h.do("POST", "/groups", big, h.admin), 400, schemas.CodeInvalidRequest) // it may be large, not its description
	fails(t, h.do("POST", "/groups", big+strings.Repeat(" ", 1<<20), h.admin), 413, "payload_too_large")
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "text/yaml", "application/json; charset=latin1"} {
		f := fails(t, h.do("POST", "/groups", `{"name":"x"}`, h.admin, "Content-Type: "+kind), 400, schemas.CodeInvalidRequest)
		if !strings.Contains(f.Description.DefaultValue, "application/json or application/yaml") {
			t.Error(f.Description.DefaultValue)
		}
	}
	rec := h.do("OPTIONS", "/groups/x", "", "Origin: "+spaOrigin, "Access-Control-Request-Method: PUT")
	if rec.Code != 204 || rec.Header().Get("Access-Control-Allow-Methods") != "DELETE, GET, HEAD, OPTIONS, PATCH, PUT" || !strings.Contains(rec.Header().Get("Access-Control-Allow-Headers"), "If-Match") {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	if rec = h.do("GET", "/groups", "", h.admin, "Origin: "+spaOrigin); !strings.Contains(rec.Header().Get("Access-Control-Expose-Headers"), "ETag, Location") {
		t.Errorf("%v", rec.Header())
	}
	if rec = h.do("GET", "/groups", "", h.admin, "Origin: "+rpOrigin); rec.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Error("an application's pages may call the administrators' API")
	}
}
