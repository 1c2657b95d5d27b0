package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// mcpFolder is the folder of the MCP client for Node.
const mcpFolder = "mcp"

// statement is a line of output of that client.
type statement struct {
	Open       string   `json:"open"` // an address to open in a browser
	Versions   []string `json:"versions"`
	Tools      []string `json:"tools"`
	Called     []string `json:"called"`
	Snippets   int      `json:"snippets"`
	Registered string   `json:"registered"`
	Scope      string   `json:"scope"`
	Failures   []struct {
		Name    string   `json:"name"`
		IsError bool     `json:"isError"`
		Texts   []string `json:"texts"`
	} `json:"failures"`
}

// toolNames are the names of all tools.
func toolNames() []string {
	return []string{
		"service_create_application", "service_create_flow", "service_get_application_by_client_id", "service_get_application_by_id",
		"service_get_application_templates", "service_get_flow_by_handle", "service_get_flow_by_id", "service_integrate_react_sdk",
		"service_list_applications", "service_list_flows", "service_revoke_tokens", "service_update_application", "service_update_flow",
	}
}

// runMCP runs the client and returns its last line. It passes requests for a browser to
// open.
func runMCP(t *testing.T, task object, open func(address string)) statement {
	t.Helper()
	modules(t, mcpFolder, "@modelcontextprotocol/client")
	text := datatest.Marshal(t, task)
	script, err := filepath.Abs(filepath.Join(mcpFolder, "client.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	client := exec.CommandContext(t.Context(), "node", script, string(text))
	var complaints bytes.Buffer
	client.Stderr = &complaints
	out, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	var last statement
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = statement{}
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			t.Errorf("the client said %q: %v", lines.Text(), err)
		}
		if last.Open != "" {
			open(last.Open)
		}
	}
	if err := client.Wait(); err != nil {
		t.Fatalf("the client: %v\n%s", err, complaints.String())
	}
	return last
}

// A client that knows only the address registers itself, has the administrator sign in and
// agree, and uses every tool.
func TestMCPClientSignsIn(t *testing.T) {
	t.Parallel()
	p := serve(t, "POSTERN_OAUTH_DCR_INSECURE=true")
	g := &gateTab{tab: openTab(t), base: p.base}
	g.present(false)
	seen := runMCP(t, object{"url": p.base + "/mcp", "tools": true}, func(address string) {
		g.signInAsAdmin(address)
		g.click("action-allow")
	})
	slices.Sort(seen.Tools)
	slices.Sort(seen.Called)
	if !slices.Equal(seen.Tools, toolNames()) || !slices.Equal(seen.Called, toolNames()) {
		t.Errorf("there are the tools %v; called were %v", seen.Tools, seen.Called)
	}
	if seen.Registered == "" || seen.Scope != "system" || seen.Snippets == 0 {
		t.Errorf("seen: %+v", seen)
	}
}

// A client that an administrator registered needs no consent.
func TestMCPRegisteredClientSignsIn(t *testing.T) {
	t.Parallel()
	p := serve(t)
	var made struct{ ClientID string }
	r, err := p.post("/applications", adminToken(t, p), object{
		"name": "Editor", "inboundAuthConfig": []object{{"type": "oauth2", "config": object{
			"publicClient": true, "redirectUris": []string{"http://127.0.0.1/callback"}, "scopes": []string{"system"},
			"grantTypes": []string{"authorization_code", "refresh_token"}}}}})
	if err != nil || r.status != http.StatusCreated || json.Unmarshal(r.body, &made) != nil {
		t.Fatalf("%v %s", err, r.body)
	}
	g := &gateTab{tab: openTab(t), base: p.base}
	g.present(false)
	seen := runMCP(t, object{"url": p.base + "/mcp", "known": made.ClientID}, g.signInAsAdmin)
	if seen.Registered != made.ClientID || seen.Scope != "system" || len(seen.Tools) != len(toolNames()) {
		t.Errorf("seen: %+v", seen)
	}
}

// signInAsAdmin opens a client's address, and signs in by password.
func (g *gateTab) signInAsAdmin(address string) {
	g.t.Helper()
	g.open(address)
	g.click("action-password")
	g.shows("step/who")
	g.enter("username", "admin")
	g.enter("password", adminPassword)
	g.click("action-continue")
}

// A client authenticates with its secret, in every version of the protocol.
func TestMCPClientCredentials(t *testing.T) {
	t.Parallel()
	p := serve(t)
	var made struct{ ClientID, ClientSecret string }
	r, err := p.post("/applications", adminToken(t, p), object{
		"name": "Deploys", "inboundAuthConfig": []object{{"type": "oauth2", "config": object{
			"grantTypes": []string{"client_credentials"}, "scopes": []string{"system"}}}}})
	if err != nil || r.status != http.StatusCreated || json.Unmarshal(r.body, &made) != nil {
		t.Fatalf("%v %s", err, r.body)
	}
	client := object{"id": made.ClientID, "secret": made.ClientSecret, "issuer": p.base}
	versions := []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
	seen := runMCP(t, object{"url": p.base + "/mcp", "client": client, "versions": versions}, nil)
	if !slices.Equal(seen.Versions, versions) || len(seen.Tools) != len(toolNames()) {
		t.Errorf("seen: %+v", seen)
	}
	if seen := runMCP(t, object{"url": p.base + "/mcp", "client": client, "tools": true}, nil); len(seen.Called) != len(toolNames()) {
		t.Errorf("seen: %+v", seen)
	}
}

// invalidArguments are calls that the tools must reject, and a part of each error.
func invalidArguments() (calls []object, says []string) {
	for _, m := range []struct {
		tool, says string
		arguments  object
	}{
		{"service_list_applications", "- limit: ", object{"limit": 5}},
		{"service_get_application_by_id", "application_not_found: ", object{"id": "01900000-0000-7000-8000-00000000ffff"}},
		{"service_get_application_by_client_id", "- client_id: ", object{}},
		{"service_create_application", "- naem: ", object{"name": "A", "naem": "B"}},
		{"service_update_application", "- id: ", object{"name": "A"}},
		{"service_get_application_templates", "- type: ", object{"type": "SPA"}},
		{"service_list_flows", "- flow_type: ", object{"flow_type": "SIGN_IN"}},
		{"service_get_flow_by_handle", "flow_not_found: ", object{"handle": "none", "flow_type": "AUTHENTICATION"}},
		{"service_get_flow_by_id", "- id: ", object{"id": 7}},
		{"service_create_flow", "- nodes[0]: ", object{"handle": "bad", "name": "Bad", "flowType": "AUTHENTICATION",
			"nodes": []object{{"id": "done", "use": "authorization-code"}}}},
		{"service_update_flow", "- expected_version: ", object{"id": "01900000-0000-7000-8000-00000000ffff", "name": "A", "nodes": []object{}, "expected_version": 0}},
		{"service_revoke_tokens", "- id: ", object{"of": "application"}},
		{"service_integrate_react_sdk", "- serviceUrl: ", object{"serviceUrl": "https://id.example.org"}},
	} {
		calls = append(calls, object{"name": m.tool, "arguments": m.arguments})
		says = append(says, m.says)
	}
	return calls, says
}

// An assistant sees the error of its call, in either version of the SDK: both validate
// replies against the listed schemas.
func TestMCPErrorsReachTheClient(t *testing.T) {
	t.Parallel()
	p := serve(t)
	calls, says := invalidArguments()
	for _, sdk := range []string{"v1", "v2"} {
		seen := runMCP(t, object{"url": p.base + "/mcp", "token": adminToken(t, p), "sdk": sdk, "mistakes": calls}, nil)
		if len(seen.Failures) != len(toolNames()) {
			t.Fatalf("%s: %d tools were called, expected %d", sdk, len(seen.Failures), len(toolNames()))
		}
		for i, failure := range seen.Failures {
			if !failure.IsError || len(failure.Texts) != 2 || !strings.Contains(failure.Texts[0], says[i]) {
				t.Errorf("%s: %s shows %q, expected %q", sdk, failure.Name, failure.Texts, says[i])
			}
			if failure.Name == "service_create_flow" && !(strings.Contains(failure.Texts[0], "[unauthenticated]") && strings.Contains(failure.Texts[1], `"rule":"unauthenticated"`)) {
				t.Errorf("%s: the finding is shown as %q", sdk, failure.Texts)
			}
		}
	}
}
