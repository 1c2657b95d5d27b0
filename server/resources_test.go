package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

// sample is a kind of resource for the tests: a body to create one, where # stands for a unique
// number, and the members that differ in changed. Required is a required string member.
type sample struct{ body, changed, required string }

func samples() map[string]sample {
	return map[string]sample{
		"organizationUnits": {`{"handle":"unit#","name":"A unit"}`, `{"handle":"unit#","name":"Another name"}`, "name"},
		"userTypes": {`{"name":"Type#","schema":{"type":"object","properties":{"username":{"type":"string"}},"additionalProperties":false}}`,
			`{"name":"Type#","schema":{"type":"object"}}`, "name"},
		"users": {`{"type":"Person","attributes":{"username":"user#","email":"user#@example.com","email_verified":true}}`,
			`{"type":"Person","attributes":{"username":"user#","given_name":"Changed"}}`, "type"},
		"resourceServers": {`{"handle":"api#","name":"An API","resources":[{"handle":"books","actions":[{"handle":"read"}]}]}`, `{"handle":"api#","name":"Another name"}`, "name"},
		"identityProviders": {`{"handle":"provider#","name":"A provider","issuer":"https://login.example.com","clientId":"postern","clientSecret":"what it gave us"}`,
			`{"handle":"provider#","name":"Another name","issuer":"https://login.example.com","clientId":"postern"}`, "name"},
		"flows": {`{"handle":"flow#","name":"A flow","flowType":"AUTHENTICATION","nodes":[{"id":"key","use":"prove","next":"end"}]}`,
			`{"handle":"flow#","name":"A flow","flowType":"AUTHENTICATION","nodes":[{"id":"who","use":"form","next":"key"},{"id":"key","use":"prove","next":"end"}]}`, "name"},
		"applications": {`{"name":"App #","inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"]}}]}`, `{"name":"App #"}`, "name"},
		"roles":        {`{"name":"Role #"}`, `{"name":"Role #","permissions":["system:users:read"]}`, "name"},
		"groups":       {`{"name":"Group #"}`, `{"name":"Group #","description":"changed"}`, "name"},
	}
}

func numbered(body, number string) string { return strings.ReplaceAll(body, "#", number) }

// eachNoun runs a test for every kind of resource.
func eachNoun(t *testing.T, h *testServer, test func(*testing.T, *testServer, directory.Noun, sample)) {
	for _, r := range h.directory.Resources() {
		n := r.Noun()
		s, known := samples()[n.Plural]
		if !known {
			t.Errorf("%s have no sample", n.Plural)
			continue
		}
		t.Run(n.Plural, func(t *testing.T) { test(t, h.in(t), n, s) })
	}
}

func TestLifecycle(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) { eachNoun(t, h, lifecycle) })
}

func lifecycle(t *testing.T, h *testServer, n directory.Noun, s sample) {
	before, _ := h.ok(200, "GET "+n.Path, "")
	made, rec := h.ok(201, "POST "+n.Path, numbered(s.body, "1"))
	id, tag := made.text("id"), rec.Header().Get("ETag")
	at := n.Path + "/" + id
	if rec.Header().Get("Location") != at || tag == "" || made.text("createdAt") == "" {
		t.Fatalf("%v %v", rec.Header(), made)
	}
	read, rec := h.ok(200, "GET "+at, "")
	if rec.Header().Get("ETag") != tag || read.text("updatedAt") != made.text("updatedAt") {
		t.Errorf("ETag %s, then %s", tag, rec.Header().Get("ETag"))
	}
	if rec := h.do("GET", at, "", h.admin, "If-None-Match: "+tag); rec.Code != 304 || rec.Body.Len() > 0 || rec.Header().Get("ETag") != tag {
		t.Errorf("with the tag that it has: %d %s", rec.Code, rec.Body)
	}
	if rec := h.do("HEAD", at, "", h.admin); rec.Code != 200 || rec.Header().Get("ETag") != tag {
		t.Errorf("HEAD: %d %v", rec.Code, rec.Header())
	}
	if _, rec = h.ok(200, "PUT "+at, numbered(s.body, "1"), "If-Match: "+tag); rec.Header().Get("ETag") != tag {
		t.Errorf("what changed nothing got the tag %s, had %s", rec.Header().Get("ETag"), tag)
	}
	_, rec = h.ok(200, "PUT "+at, numbered(s.changed, "1"), "If-Match: "+tag)
	newer := rec.Header().Get("ETag")
	if newer == tag {
		t.Error("a change kept the tag")
	}
	for _, match := range []string{tag, "W/" + newer, "x", `"x"`} {
		fails(t, h.do("PUT", at, numbered(s.body, "1"), h.admin, "If-Match: "+match), 412, schemas.CodePreconditionFailed)
		fails(t, h.do("DELETE", at, "", h.admin, "If-Match: "+match), 412, schemas.CodePreconditionFailed)
	}
	after, _ := h.ok(200, "GET "+n.Path, "")
	if after.number("totalResults") != before.number("totalResults")+1 || len(after.list(n.Plural)) != after.number("count") {
		t.Errorf("%d, then %d", before.number("totalResults"), after.number("totalResults"))
	}
	h.ok(204, "DELETE "+at, "", `If-Match: "other", `+newer)
	code := missingCode(n)
	for _, request := range []string{"GET", "PUT", "DELETE"} {
		body := ""
		if request == "PUT" {
			body = numbered(s.body, "1")
		}
		for _, path := range []string{at, n.Path + "/nope", n.Path + "/%00%ff", n.Path + "/" + strings.Repeat("x", 3000)} {
			fails(t, h.do(request, path, body, h.admin), 404, code)
		}
	}
}

// missingCode is the code of the error that there is none: user_type_not_found.
func missingCode(n directory.Noun) string {
	var b strings.Builder
	for _, c := range n.Name {
		if c < 'a' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(c)))
	}
	return b.String() + "_not_found"
}

// What a resource is in YAML it is in JSON too, and what is read as the one can
// be written as the other.
func TestResourcesInYAML(t *testing.T) {
	eachNoun(t, newTestServer(t), func(t *testing.T, h *testServer, n directory.Noun, s sample) {
		made, rec := h.ok(201, "POST "+n.Path, numbered(s.body, "1"))
		at, tag := n.Path+"/"+made.text("id"), rec.Header().Get("ETag")
		rec = h.do("GET", at, "", h.admin, "Accept: application/yaml")
		if rec.Code != 200 || rec.Header().Get("Content-Type") != "application/yaml" || rec.Header().Get("Vary") != "Origin, Accept" && strings.Join(rec.Header()["Vary"], ", ") != "Origin, Accept" {
			t.Fatalf("%d %v\n%s", rec.Code, rec.Header(), rec.Body)
		}
		d, problems := schemas.ParseYAML(rec.Body.Bytes())
		plain := h.do("GET", at, "", h.admin)
		if len(problems) > 0 || string(d.JSON())+"\n" != plain.Body.String() {
			t.Errorf("%v\n%s\n%s", problems, d.JSON(), plain.Body)
		}
		if _, rec = h.ok(200, "PUT "+at, rec.Body.String(), "Content-Type: application/yaml; charset=utf-8", "If-Match: "+tag); rec.Header().Get("ETag") != tag {
			t.Error("writing what was read changed it")
		}
		h.ok(204, "DELETE "+at, "")
		f := fails(t, h.do("POST", n.Path, "name: [\n", h.admin, "Content-Type: application/yaml"), 400, badText(n))
		if len(f.Errors) == 0 || f.Errors[0].Line == 0 {
			t.Errorf("no place: %+v", f)
		}
	})
}

// badText is the code of a body that is no JSON or YAML.
func badText(n directory.Noun) string {
	if n.Plural == "flows" {
		return schemas.CodeInvalidFlow
	}
	return schemas.CodeInvalidRequest
}

// Links lead through the whole list, each resource once, whatever is added or
// removed on the way.
func TestListPages(t *testing.T) {
	h := newTestServer(t)
	var ids []string
	for _, number := range strings.Fields("1 2 3 4 5 6 7 8 9") {
		ids = append(ids, h.create("/groups", `{"name":"G`+number+`"}`))
	}
	follow := func(path string, between func(page members)) (seen []string) {
		for path != "" {
			page, _ := h.ok(200, "GET "+path, "")
			if page.number("startIndex") != len(seen)+1 || page.number("count") != len(page.list("groups")) {
				t.Errorf("%s: start %d, count %d", path, page.number("startIndex"), page.number("count"))
			}
			for _, g := range page.list("groups") {
				seen = append(seen, g.text("id"))
			}
			between(page)
			path = linkOf(page, "next")
		}
		return seen
	}
	all := follow("/groups?limit=4", func(page members) {
		if page.number("totalResults") != 9 {
			t.Errorf("total %d", page.number("totalResults"))
		}
	})
	if strings.Join(all, " ") != strings.Join(ids, " ") {
		t.Errorf("got %v, want %v", all, ids)
	}
	if all := follow("/groups?limit=3", func(members) {}); len(all) != 9 { // the last page is full
		t.Errorf("%d of 9", len(all))
	}
	last := ids[0]
	seen := follow("/groups?limit=2", func(members) {
		if last != "" { // what was seen goes, so an offset would pass over another
			h.ok(204, "DELETE /groups/"+last, "")
			last = ""
		}
	})
	if len(seen) != 9 {
		t.Errorf("while one went, %d of 9 were seen", len(seen))
	}
	page, _ := h.ok(200, "GET /groups?limit=3&offset=5", "")
	if got := page.list("groups"); len(got) != 3 || got[0].text("id") != ids[6] || page.number("startIndex") != 6 {
		t.Errorf("%v", page)
	}
	page, _ = h.ok(200, "GET "+linkOf(page, "previous"), "")
	if got := page.list("groups"); got[0].text("id") != ids[3] || page.number("startIndex") != 3 {
		t.Errorf("%v", page)
	}
	if linkOf(page, "first") == "" || linkOf(page, "self") == "" {
		t.Errorf("%v", page["links"])
	}
	page, _ = h.ok(200, "GET /groups?limit=2&offset=20000&after="+ids[1], "")
	if got := page.list("groups"); got[0].text("id") != ids[2] || page.number("startIndex") != 20001 || linkOf(page, "previous") != "" {
		t.Errorf("a page far down, by its cursor: %v", page)
	}
	page, _ = h.ok(200, "GET /groups?offset=100", "")
	if page.number("totalResults") != 8 || len(page.list("groups")) != 0 || page["groups"] == nil || linkOf(page, "next") != "" {
		t.Errorf("beyond the end: %v", page)
	}
}

// A limit above the maximum means the maximum, in every list.
func TestLimitAboveTheMaximumIsTheMaximum(t *testing.T) {
	h := newTestServer(t)
	for i := range 101 {
		h.create("/groups", fmt.Sprintf(`{"name":"G%d"}`, i))
	}
	for _, limit := range []string{"101", "1000000", "9223372036854775807", "99999999999999999999"} {
		page, _ := h.ok(200, "GET /groups?limit="+limit, "")
		if page.number("count") != 100 || !strings.Contains(linkOf(page, "next"), "limit=100") {
			t.Errorf("limit=%s: %d, next %s", limit, page.number("count"), linkOf(page, "next"))
		}
		h.ok(200, "GET /audit-events?limit="+limit, "")
		h.ok(200, "GET /users/"+h.user("grace"+limit)+"/sessions?limit="+limit, "")
	}
	eachNoun(t, h, func(_ *testing.T, h *testServer, n directory.Noun, _ sample) {
		h.ok(200, "GET "+n.Path+"?limit=101", "")
	})
}

func linkOf(page members, rel string) string {
	for _, l := range page.list("links") {
		if l.text("rel") == rel {
			return l.text("href")
		}
	}
	return ""
}

func TestFilters(t *testing.T) {
	h := newTestServer(t)
	root := h.create("/organization-units", `{"handle":"root","name":"Root"}`)
	for _, handle := range strings.Fields("a b c") {
		h.create("/organization-units", `{"handle":"`+handle+`","name":"x","parentId":"`+root+`"}`)
	}
	h.create("/groups", `{"name":"say \"hi\" & <b>"}`)
	for filter, want := range map[string]int{
		`/organization-units?filter=handle+eq+%22b%22`:                1,
		`/organization-units?filter=handle+eq+%22B%22`:                0,
		`/organization-units?filter=handle+eq+%22%22`:                 0,
		`/organization-units?filter=handle+eq+%22%5Cu0000%22`:         0,
		`/organization-units?filter=parentId+EQ+%22` + root + `%22`:   3,
		`/groups?filter=name+eq+%22say+%5C%22hi%5C%22+%26+%3Cb%3E%22`: 1,
		`/groups?filter=name+sw+%22say+%5C%22%22`:                     1,
		`/groups?filter=name+sw+%22Say%22`:                            0,
		`/groups?filter=name+sw+%22s%25%22`:                           0,
	} {
		page, _ := h.ok(200, "GET "+filter, "")
		if page.number("totalResults") != want || page.number("count") != want {
			t.Errorf("%s: %v", filter, page)
		}
	}
	page, _ := h.ok(200, `GET /organization-units?limit=2&filter=parentId+eq+%22`+root+`%22`, "")
	page, _ = h.ok(200, "GET "+linkOf(page, "next"), "")
	if page.number("totalResults") != 3 || page.number("count") != 1 {
		t.Errorf("the filter was lost on the way: %v", page)
	}
	for _, name := range []string{"ops 3", "ops 1", "ops", "ops 2", "other"} {
		h.create("/groups", `{"name":"`+name+`"}`)
	}
	var names []string
	page, _ = h.ok(200, `GET /groups?limit=3&filter=name+sw+%22ops%22`, "")
	for _, path := range []string{linkOf(page, "self"), linkOf(page, "next")} {
		page, _ = h.ok(200, "GET "+path, "")
		for _, group := range page.list("groups") {
			names = append(names, group.text("name"))
		}
	}
	if strings.Join(names, ", ") != "ops, ops 1, ops 2, ops 3" || page.number("totalResults") != 4 || linkOf(page, "next") != "" {
		t.Errorf("found %q, then %v", names, page)
	}
}

// Every wrong parameter is reported at once, with a fix.
func TestListQueries(t *testing.T) {
	h := newTestServer(t)
	for query, want := range map[string][]string{
		"limit=0":                         {"limit: expected a whole number of at least 1, got \"0\""},
		"limit=-1":                        {"limit: expected a whole number of at least 1"},
		"limit=":                          {"limit: expected"},
		"limit=1e1":                       {"limit: expected"},
		"limit=-99999999999999999999":     {"limit: expected"},
		"offset=-1":                       {"offset: expected a whole number from 0"},
		"offset=4294967296":               {"offset: expected"},
		"offset=10001":                    {"offset: expected at most 10000, got 10001; follow the next links"},
		"offset=10001&after=":             {"offset: expected at most 10000, got 10001; follow the next links"},
		"limit=1&limit=2":                 {"limit: expected it once, got it 2 times"},
		"Limit=1":                         {"Limit: unknown parameter \"Limit\"; did you mean \"limit\"?"},
		"page=1":                          {"page: unknown parameter \"page\"; known: limit, offset, after, filter"},
		"flowType=AUTHENTICATION":         {"flowType: unknown parameter"},
		"filter=":                         {"filter: the filter does not start with the name of a member, got \"\"; expected <member> eq \"<text>\"", "the members are name, ouId"},
		"filter=name":                     {"expected <member> eq"},
		"filter=name+co+%22a%22":          {"filter: name does not support the operator \"co\", but only eq and sw; expected <member> eq"},
		"filter=ouId+sw+%22a%22":          {"filter: ouId does not support the operator \"sw\", but only eq; expected <member> eq"},
		"filter=name+sw+%22%22":           {"filter: expected at least one character after sw"},
		"filter=name+sw+%22a%22&after=x":  {"after: a list filtered with sw has no cursor"},
		"filter=nam+eq+%22a%22":           {"filter: cannot filter by \"nam\"; did you mean \"name\"?"},
		"filter=description+eq+%22a%22":   {"filter: cannot filter by \"description\"; expected <member> eq \"<text>\", such as name eq \"a\"; the members are name, ouId; sw (starts with) is for name"},
		"limit=x&offset=y&filter=z&foo=1": {"limit: expected", "offset: expected", "filter: there is no operator", "foo: unknown"},
	} {
		f := fails(t, h.do("GET", "/groups?"+query, "", h.admin), 400, schemas.CodeInvalidRequest)
		var reported []string
		for _, p := range f.Errors {
			reported = append(reported, p.String())
		}
		for _, says := range want {
			if !strings.Contains(strings.Join(reported, "\n"), says) {
				t.Errorf("%s: %q does not tell %q", query, reported, says)
			}
		}
	}
}

// A server that is a part of a site says so in what it links to.
func TestLinksBelowASite(t *testing.T) {
	h := newTestServer(t, func(o *server.Options) { o.PublicURL += "/auth" })
	made, rec := h.ok(201, "POST /groups", `{"name":"x"}`)
	if got := rec.Header().Get("Location"); got != "/auth/groups/"+made.text("id") {
		t.Error(got)
	}
	page, _ := h.ok(200, "GET /groups", "")
	if got := linkOf(page, "first"); got != "/auth/groups?limit=30&offset=0" {
		t.Error(got)
	}
}
