package mcp_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/schemas"
)

// withDescription is a tool as a client sees it.
type withDescription struct {
	Name, Title, Description string
	InputSchema              struct {
		Type       string
		Properties map[string]json.RawMessage
		Required   []string
		Additional *bool `json:"additionalProperties"`
	}
	OutputSchema struct {
		Type       string
		Properties map[string]json.RawMessage
	}
	Annotations struct {
		ReadOnlyHint, IdempotentHint   bool
		DestructiveHint, OpenWorldHint *bool
	}
}

func (w *fixture) list() []withDescription {
	w.t.Helper()
	_, body := w.post(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	var m struct {
		Result struct{ Tools []withDescription }
	}
	must(w.t, json.Unmarshal(body, &m))
	return m.Result.Tools
}

// The tools of the specification and service_revoke_tokens, with their parameters, what they require
// and what a call does. The parameters of those that take a whole are its members.
func TestTools(t *testing.T) {
	w := newFixture(t)
	application, flow := members(t, schemas.ApplicationSchema()), members(t, schemas.FlowSchema())
	with := func(list []string, more ...string) []string { return slices.Concat(list, more) }
	const looks, adds, replaces = "looks", "adds", "replaces"
	want := map[string]struct {
		parameters, required []string
		effect               string
	}{
		"service_list_applications":            {nil, nil, looks},
		"service_get_application_by_id":        {[]string{"id"}, []string{"id"}, looks},
		"service_get_application_by_client_id": {[]string{"client_id"}, []string{"client_id"}, looks},
		"service_create_application":           {with(application, "dry_run"), []string{"name"}, adds},
		"service_update_application":           {with(application, "dry_run"), []string{"id", "name"}, replaces},
		"service_get_application_templates":    {nil, nil, looks},
		"service_list_flows":                   {[]string{"limit", "offset", "flow_type"}, nil, looks},
		"service_get_flow_by_handle":           {[]string{"handle", "flow_type"}, []string{"handle", "flow_type"}, looks},
		"service_get_flow_by_id":               {[]string{"id"}, []string{"id"}, looks},
		"service_create_flow":                  {with(flow, "dry_run"), []string{"handle", "name", "flowType", "nodes"}, adds},
		"service_update_flow":                  {with(flow, "dry_run", "expected_version", "reason"), []string{"id", "name", "nodes"}, replaces},
		"service_revoke_tokens":                {[]string{"of", "id"}, []string{"of"}, replaces},
		"service_integrate_react_sdk":          {[]string{"service_url", "thunderid_url"}, nil, looks},
	}
	tools := w.list()
	if len(tools) != len(want) {
		t.Errorf("there are %d tools, expected %d", len(tools), len(want))
	}
	for _, tool := range tools {
		expected, known := want[tool.Name]
		if !known {
			t.Errorf("there is a tool %q", tool.Name)
			continue
		}
		in, hints := tool.InputSchema, tool.Annotations
		if got := keys(in.Properties); !slices.Equal(got, sorted(expected.parameters)) {
			t.Errorf("%s takes %q, expected %q", tool.Name, got, sorted(expected.parameters))
		}
		if !slices.Equal(sorted(in.Required), sorted(expected.required)) {
			t.Errorf("%s requires %q, expected %q", tool.Name, in.Required, expected.required)
		}
		if in.Type != "object" || in.Additional == nil || *in.Additional || tool.OutputSchema.Type != "object" || tool.Title == "" || tool.Description == "" {
			t.Errorf("%s is not described: %+v", tool.Name, tool)
		}
		if hints.ReadOnlyHint != (expected.effect == looks) || hints.IdempotentHint != (expected.effect != adds) ||
			*hints.DestructiveHint != (expected.effect == replaces) || *hints.OpenWorldHint {
			t.Errorf("%s, which %s, has the hints %+v", tool.Name, expected.effect, hints)
		}
		for name, property := range in.Properties {
			if !strings.Contains(string(property), `"description":"`) {
				t.Errorf("%s does not describe %s: %s", tool.Name, name, property)
			}
		}
	}
}

// The analysis of attacks across flows knows every tool that changes something, and no other.
func TestAnalysisKnowsTheTools(t *testing.T) {
	known := slices.Concat(chains.Operations(), slices.Collect(maps.Keys(chains.Unaffecting())))
	known = slices.DeleteFunc(known, func(name string) bool { return strings.Contains(name, " ") }) // an endpoint: see package server
	var changing []string
	for _, tool := range newFixture(t).list() {
		if !tool.Annotations.ReadOnlyHint {
			changing = append(changing, tool.Name)
		}
	}
	if len(changing) == 0 || !slices.Equal(sorted(known), sorted(changing)) {
		t.Errorf("flows/chains/operations.go lists the tools %q, and those that change something are %q: each must be in one of its lists", sorted(known), sorted(changing))
	}
}

// No schema has what confuses those who check by it: two of the same id, or a
// keyword of our own.
func TestSchemasAreForAnyValidator(t *testing.T) {
	_, body := newFixture(t).post(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`)
	for _, word := range []string{`"$id"`, `"$schema"`, `"x-expect"`} {
		if strings.Contains(string(body), word) {
			t.Errorf("there is %s", word)
		}
	}
	for _, word := range []string{"client_credentials", "passkey-authenticate", "A run starts at the first"} {
		if !strings.Contains(string(body), word) {
			t.Errorf("nothing says %s", word)
		}
	}
}

func members(t *testing.T, s *schemas.Schema) []string {
	var m struct{ Properties map[string]any }
	must(t, json.Unmarshal(s.Raw(), &m))
	return keys(m.Properties)
}

func keys[V any](m map[string]V) []string {
	list := []string{}
	for name := range m {
		list = append(list, name)
	}
	return sorted(list)
}

func sorted(list []string) []string {
	list = append([]string{}, list...)
	slices.Sort(list)
	return list
}

// Arguments that a tool does not take are refused, all at once, and nothing is
// guessed about them.
func TestArguments(t *testing.T) {
	w := newFixture(t)
	for _, tt := range []struct {
		tool, args string
		paths      []string
	}{
		{"service_list_applications", `{"limit": 3}`, []string{"limit"}},
		{"service_get_application_by_id", `{}`, []string{"id"}},
		{"service_get_application_by_id", `{"id": 7}`, []string{"id"}},
		{"service_get_application_by_client_id", `{"clientId": "shop"}`, []string{"clientId"}},
		{"service_list_flows", `{"limit": 0, "offset": -1, "flow_type": "SIGN_IN", "page": 2}`, []string{"flow_type", "limit", "offset", "page"}},
		{"service_list_flows", `{"limit": 1.5}`, []string{"limit"}},
		{"service_list_flows", `{"limit": "30"}`, []string{"limit"}},
		{"service_get_flow_by_handle", `{"handle": "sign-in"}`, []string{"flow_type"}},
		{"service_get_flow_by_handle", `{"handle": "sign-in", "flowType": "AUTHENTICATION"}`, []string{"flowType"}},
		{"service_create_application", `{"name": "A", "dry_run": "yes"}`, []string{"dry_run"}},
		{"service_update_application", `{"name": "A"}`, []string{"id"}},
		{"service_update_application", `{"id": "` + shopID + `", "name": "A", "expected_version": 1}`, []string{"expected_version"}},
		{"service_update_flow", `{"id": 1, "name": "A", "nodes": [], "expected_version": 0}`, []string{"expected_version", "id"}},
		{"service_integrate_react_sdk", `{"serviceUrl": "https://id.example.org"}`, []string{"serviceUrl"}},
	} {
		e := w.refused(tt.tool, tt.args, "invalid_request")
		var paths []string
		for _, p := range e.Errors {
			paths = append(paths, p.Path)
			if p.Line != 0 || p.Message == "" {
				t.Errorf("%s %s: %+v", tt.tool, tt.args, p)
			}
		}
		if !slices.Equal(sorted(paths), tt.paths) {
			t.Errorf("%s %s: %q are reported, expected %q", tt.tool, tt.args, sorted(paths), tt.paths)
		}
	}
	for _, args := range []string{`[]`, `"id"`, `7`, `true`} {
		if reply, body := w.post(`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "service_list_flows", "arguments": ` + args + `}}`); reply.StatusCode == 200 && !strings.Contains(string(body), `"isError":true`) && !strings.Contains(string(body), `"error":`) {
			t.Errorf("arguments %s: %d %s", args, reply.StatusCode, body)
		}
	}
	w.ok("service_list_flows", `null`, nil)
	w.ok("service_list_flows", `{"limit": null, "flow_type": null}`, nil)
	w.ok("service_create_application", `{"name": "A", "description": null, "dry_run": true}`, nil)
	w.ok("service_create_application", `{"name": "B", "dry_run": null}`, nil)
	w.refused("service_create_application", `{"name": "C", "allowedUserTypes": [null], "dry_run": true}`, "invalid_request")
}
