package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

type flowPage struct {
	Total int `json:"total_count"`
	Flows []schemas.Flow
}

func TestListFlows(t *testing.T) {
	w := newFixture(t)
	for i := range 30 {
		w.make(w.directory.Flows, fmt.Sprintf(`{"handle": "more-%d", "name": "More", "flowType": "AUTHENTICATION", "nodes": %s}`, i, passkeyNodes))
	}
	for _, tt := range []struct {
		args          string
		listed, total int
		first         string
	}{
		{`{}`, 30, 34, "sign-in"},
		{`{"limit": 2}`, 2, 34, "sign-in"},
		{`{"limit": 100}`, 34, 34, "sign-in"},
		{`{"offset": 1, "limit": 1}`, 1, 34, "passkey-sign-up"},
		{`{"offset": 34}`, 0, 34, ""},
		{`{"flow_type": "REGISTRATION"}`, 2, 2, "passkey-sign-up"},
		{`{"flow_type": "AUTHENTICATION", "offset": 1, "limit": 3}`, 3, 32, "kept"},
		{`{"limit": 101}`, 34, 34, "sign-in"},
	} {
		var page flowPage
		r := w.ok("service_list_flows", tt.args, &page)
		first := ""
		if len(page.Flows) > 0 {
			first = page.Flows[0].Handle
		}
		if len(page.Flows) != tt.listed || page.Total != tt.total || first != tt.first || strings.Contains(string(r.Data), "nodes") || page.Flows == nil {
			t.Errorf("%s: %d of %d, first %q: %s", tt.args, len(page.Flows), page.Total, first, r.Data)
		}
	}
}

// A limit above the largest page is reduced to it, as over HTTP.
func TestListFlowsAboveTheLimit(t *testing.T) {
	w := newFixture(t)
	for i := range 100 {
		w.make(w.directory.Flows, fmt.Sprintf(`{"handle": "more-%d", "name": "More", "flowType": "AUTHENTICATION", "nodes": %s}`, i, passkeyNodes))
	}
	for _, limit := range []string{"100", "101", "1000000", "1e300"} {
		var page flowPage
		if w.ok("service_list_flows", `{"limit": `+limit+`}`, &page); len(page.Flows) != 100 || page.Total != 104 {
			t.Errorf("limit %s: %d of %d", limit, len(page.Flows), page.Total)
		}
	}
}

// What a get tool answers the update tool takes; sent back as it is, it makes no
// version.
func TestReadFlowsCanBeWritten(t *testing.T) {
	w := newFixture(t)
	for name, get := range map[string]func() result{
		"by id": func() result { return w.ok("service_get_flow_by_id", `{"id": "`+signUpID+`"}`, nil) },
		"by handle": func() result {
			return w.ok("service_get_flow_by_handle", `{"handle": "passkey-sign-up", "flow_type": "REGISTRATION"}`, nil)
		},
		"waived": func() result { return w.ok("service_get_flow_by_id", `{"id": "`+waivedID+`"}`, nil) },
	} {
		before := get()
		if after := w.ok("service_update_flow", before.Data, nil); string(after.Data) != string(before.Data) {
			t.Errorf("%s: sent back unchanged it became\n%s, it was\n%s", name, after.Data, before.Data)
		}
		var flow map[string]any
		must(t, json.Unmarshal(before.Data, &flow))
		version := flow["activeVersion"].(float64)
		flow["name"] = "Changed " + name
		flow["expected_version"] = version
		var changed schemas.Flow
		w.ok("service_update_flow", flow, &changed)
		if changed.Name != "Changed "+name || changed.ActiveVersion != int(version)+1 {
			t.Errorf("%s: it became %+v", name, changed)
		}
		e := w.refused("service_update_flow", flow, "precondition_failed")
		if !strings.Contains(e.Description.DefaultValue, "version 2, not at the expected version 1") && !strings.Contains(e.Description.DefaultValue, "version 3, not at the expected version 2") {
			t.Errorf("%s: got %s", name, e.Description.DefaultValue)
		}
	}
}

// The new version has the reason, which is no part of the flow.
func TestReasonForAFlow(t *testing.T) {
	w := newFixture(t)
	change := func(name, reason string) map[string]any {
		return map[string]any{"id": signInID, "name": name, "nodes": json.RawMessage(passkeyNodes), "reason": reason}
	}
	var flow schemas.Flow
	w.ok("service_update_flow", change("Two", "Only passkeys"), &flow)
	e := w.refused("service_update_flow", change("Three", strings.Repeat("x", 201)), "invalid_flow")
	if len(e.Errors) != 1 || e.Errors[0].Path != "reason" {
		t.Errorf("got: %v", e.Errors)
	}
	versions, err := w.directory.FlowVersions(t.Context(), directory.SystemCall(), signInID, directory.Query{Limit: 9})
	must(t, err)
	if len(versions) != 2 || versions[0].Reason != "Only passkeys" || versions[1].Reason != "" || flow.ActiveVersion != 2 {
		t.Errorf("the versions are %+v", versions)
	}
}

// An id, a name and nodes are all it takes; the handle and the type stay.
func TestLeastUpdateOfAFlow(t *testing.T) {
	w := newFixture(t)
	var flow schemas.Flow
	w.ok("service_update_flow", `{"id": "`+signInID+`", "name": "New name", "nodes": `+passkeyNodes+`}`, &flow)
	if flow.Handle != "sign-in" || flow.FlowType != schemas.Authentication || flow.Name != "New name" || flow.ActiveVersion != 2 {
		t.Errorf("it became %+v", flow)
	}
	// What is waived is a part of the definition, and no longer is when it is left out.
	e := w.refused("service_update_flow", `{"id": "`+waivedID+`", "name": "At the counter", "nodes": `+nodesOf(w, waivedID)+`}`, "invalid_flow")
	if len(e.Errors) != 1 || e.Errors[0].Rule != "takeover" {
		t.Errorf("got: %v", e.Errors)
	}
}

func nodesOf(w *fixture, id string) string {
	var flow struct{ Nodes json.RawMessage }
	w.ok("service_get_flow_by_id", `{"id": "`+id+`"}`, &flow)
	return string(flow.Nodes)
}

// Every finding of a bad flow is in one answer, whichever of the tools it is
// given to, each with its rule, its path and what to do; and nothing is stored.
func TestFindings(t *testing.T) {
	w := newFixture(t)
	const nodes = `[
		{"id": "key", "use": "passkey-authenticate", "with": {"rpid": "example.com"}, "next": {"success": "done", "failure": "done"}},
		{"id": "lost", "use": "session-check", "next": {"active": "done", "none": "key"}},
		{"id": "done", "use": "authorization-code"}]`
	want := map[string]string{"nodes[0].with.rpid": "shape", "nodes[0].next.failure": "reach", "nodes[2]": "unauthenticated"}
	before := w.events()
	for _, tt := range []struct{ tool, args string }{
		{"service_create_flow", `{"handle": "bad", "name": "Bad", "flowType": "AUTHENTICATION", "nodes": ` + nodes + `}`},
		{"service_create_flow", `{"handle": "bad", "name": "Bad", "flowType": "AUTHENTICATION", "nodes": ` + nodes + `, "dry_run": true}`},
		{"service_update_flow", `{"id": "` + signInID + `", "name": "Bad", "nodes": ` + nodes + `}`},
	} {
		e := w.refused(tt.tool, tt.args, "invalid_flow")
		found := map[string]string{}
		for _, p := range e.Errors {
			found[p.Path] = p.Rule
			if p.Message == "" || p.Line != 0 {
				t.Errorf("%s: %+v", tt.tool, p)
			}
		}
		for path, rule := range want {
			if found[path] != rule {
				t.Errorf("%s: at %s there is %q, expected %q, in %v", tt.tool, path, found[path], rule, e.Errors)
			}
		}
		text := w.call(tt.tool, tt.args).Content[0].Text
		for _, word := range []string{"nodes[0].with.rpid", "[unauthenticated]", "run: key —failure→ done"} {
			if !strings.Contains(text, word) {
				t.Errorf("%s: the text lacks %q: %s", tt.tool, word, text)
			}
		}
	}
	if after := w.events(); len(after) != len(before) {
		t.Errorf("something was recorded: %q", after)
	}
}

func TestRefusedFlows(t *testing.T) {
	w := newFixture(t)
	const id = "01900000-0000-7000-8000-0000000000ff"
	w.refused("service_get_flow_by_id", `{"id": "`+id+`"}`, "flow_not_found")
	w.refused("service_get_flow_by_handle", `{"handle": "sign-in", "flow_type": "REGISTRATION"}`, "flow_not_found")
	w.refused("service_update_flow", `{"id": "`+id+`", "name": "A", "nodes": `+passkeyNodes+`}`, "flow_not_found")
	w.refused("service_update_flow", `{"id": "`+readOnlyID+`", "name": "A", "nodes": `+passkeyNodes+`}`, "read_only")
	w.refused("service_update_flow", `{"id": "`+signInID+`", "name": "A", "flowType": "REGISTRATION", "nodes": `+passkeyNodes+`}`, "invalid_flow")
	w.refused("service_create_flow", `{"handle": "sign-in", "name": "A", "flowType": "AUTHENTICATION", "nodes": `+passkeyNodes+`}`, "flow_exists")
	e := w.refused("service_update_flow", `{"id": "`+signInID+`", "name": "A"}`, "invalid_flow")
	if len(e.Errors) == 0 || e.Errors[0].Path != "nodes" {
		t.Errorf("got: %v", e.Errors)
	}
}

// A finding that is waived stays visible wherever the flow is shown.
func TestWaivedFindings(t *testing.T) {
	w := newFixture(t)
	for _, r := range []result{
		w.ok("service_get_flow_by_id", `{"id": "`+waivedID+`"}`, nil),
		w.ok("service_get_flow_by_handle", `{"handle": "counter", "flow_type": "REGISTRATION"}`, nil),
	} {
		if len(r.Content) != 2 || !strings.HasPrefix(r.Content[1].Text, "warning: ") || !strings.Contains(r.Content[1].Text, "[takeover]") {
			t.Errorf("shown: %v", r.Content)
		}
	}
	// Only who may do everything writes such a flow.
	w.caller = directory.Call{Actor: w.caller.Actor, Permissions: []string{"system:flows"}, TraceID: "a-trace"}
	w.refused("service_update_flow", w.ok("service_get_flow_by_id", `{"id": "`+waivedID+`"}`, nil).Data, "forbidden")
}
