package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// send sends JSON with a token, and decodes the reply, which must have the status.
func (w *testApp) send(status int, path, token, body string, into any) *httptest.ResponseRecorder {
	w.t.Helper()
	rec := w.exchange(http.MethodPost, path, body, jsonBody, mcpReply, bearer(token))
	if rec.Code != status {
		w.t.Fatalf("POST %s: %d %s, expected %d", path, rec.Code, rec.Body, status)
	}
	datatest.Unmarshal(w.t, rec.Body.Bytes(), into)
	return rec
}

// tool calls a tool, which must succeed, and decodes its result.
func (w *testApp) tool(token, name, arguments string, into any) {
	w.t.Helper()
	var m struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
			Data    json.RawMessage `json:"structuredContent"`
		}
	}
	w.send(200, "/mcp", token, `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "`+name+`", "arguments": `+arguments+`}}`, &m)
	if m.Result.IsError || len(m.Result.Data) == 0 {
		w.t.Fatalf("%s: %v", name, m.Result.Content)
	}
	datatest.Unmarshal(w.t, m.Result.Data, into)
}

// assistant creates a client that may use the tools, and returns its token.
func (w *testApp) assistant() (token string) {
	w.t.Helper()
	admin, err := w.issueToken(w.t.Context(), "", []string{"system"}, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	var c schemas.Application
	w.send(201, "/applications", admin, `{"name": "Assistant", "inboundAuthConfig": [{"type": "oauth2", "config": {"grantTypes": ["client_credentials"], "scope": "system"}}]}`, &c)
	rec := w.askToken(c.ClientID, c.ClientSecret, "&scope=system")
	var granted struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &granted); err != nil || granted.Token == "" {
		w.t.Fatalf("%d %s, %v", rec.Code, rec.Body, err)
	}
	return granted.Token
}

// A program gets a token and uses all tools with it (the specification's option B), on
// either database.
func TestToolsByClientCredentials(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		token := w.assistant()
		claims, err := w.tokens.Verify(t.Context(), token, w.origin+"/mcp")
		if err != nil || !slices.Contains(claims.Audience, w.origin) || !slices.Equal(claims.Scope, []string{"system"}) {
			t.Fatalf("%+v, %v", claims, err)
		}
		w.useEveryTool(token)
		events, err := w.store.Events(t.Context(), schemas.EventQuery{Limit: 10, Action: "flow.replaced"})
		if err != nil || len(events) != 1 || events[0].Actor.Type != schemas.ApplicationActor {
			t.Errorf("recorded: %+v, %v", events, err)
		}
	})
}

// useEveryTool calls each of the tools of the specification, one with the result of another.
func (w *testApp) useEveryTool(token string) {
	w.t.Helper()
	var whole json.RawMessage
	var app, got schemas.Application
	var flow schemas.Flow
	var list struct {
		Total     int `json:"total_count"`
		Templates []struct{ Application json.RawMessage }
		Snippets  []any `json:"code_snippets"`
	}
	w.tool(token, "service_get_application_templates", `{}`, &list)
	filled := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(list.Templates[0].Application))
	filled = strings.NewReplacer("<APPLICATION_NAME>", "Made by a tool", "<REDIRECT_URI>", "https://app.example.com/callback", "<POST_LOGOUT_REDIRECT_URI>", "https://app.example.com/").Replace(filled)
	w.tool(token, "service_create_application", filled, &app)
	w.tool(token, "service_get_application_by_id", `{"id": "`+app.ID+`"}`, &whole)
	w.tool(token, "service_update_application", string(whole), &got)
	w.tool(token, "service_get_application_by_client_id", `{"client_id": "`+app.ClientID+`"}`, &got)
	if got.ID != app.ID || !got.UpdatedAt.Equal(app.UpdatedAt) {
		w.t.Errorf("it was %+v and is %+v", app, got)
	}
	w.tool(token, "service_list_applications", `{}`, &list)
	if list.Total < 3 {
		w.t.Errorf("there are %d applications", list.Total)
	}
	w.tool(token, "service_get_flow_by_handle", `{"handle": "sign-in", "flow_type": "AUTHENTICATION"}`, &flow)
	nodes := datatest.Marshal(w.t, flow.Nodes)
	w.tool(token, "service_create_flow", `{"handle": "mine", "name": "Mine", "flowType": "AUTHENTICATION", "nodes": `+string(nodes)+`}`, &flow)
	w.tool(token, "service_update_flow", `{"id": "`+flow.ID+`", "name": "Still mine", "nodes": `+string(nodes)+`, "expected_version": 1}`, &flow)
	w.tool(token, "service_get_flow_by_id", `{"id": "`+flow.ID+`"}`, &flow)
	if flow.Name != "Still mine" || flow.ActiveVersion != 2 || flow.Handle != "mine" {
		w.t.Errorf("the flow is %+v", flow)
	}
	w.tool(token, "service_list_flows", `{"limit": 1}`, &list)
	w.tool(token, "service_integrate_react_sdk", `{}`, &list)
	if list.Total < 7 || len(list.Snippets) == 0 {
		w.t.Errorf("there are %d flows, and %d snippets", list.Total, len(list.Snippets))
	}
}

// A caller without a token is referred to the authorization server: MCP authorization, RFC
// 9728.
func TestToolsNameTheAuthorizationServer(t *testing.T) {
	w := newTestApp(t)
	var e schemas.Error
	rec := w.send(401, "/mcp", "", `{}`, &e)
	_, rest, _ := strings.Cut(rec.Header().Get("WWW-Authenticate"), `resource_metadata="`+w.origin)
	path, _, found := strings.Cut(rest, `"`)
	for _, document := range []string{path, path + "/mcp"} {
		metadata := w.exchange(http.MethodGet, document, "")
		var m struct {
			Resource string
			Servers  []string `json:"authorization_servers"`
		}
		if err := json.Unmarshal(metadata.Body.Bytes(), &m); err != nil || !found || m.Resource != w.origin+"/mcp" || !slices.Equal(m.Servers, []string{w.origin}) {
			t.Errorf("%s leads to %q: %s, %v", rec.Header().Get("WWW-Authenticate"), document, metadata.Body, err)
		}
	}
}
