package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// connect connects the official client.
func (w *fixture) connect() *sdk.ClientSession {
	w.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(w.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: w.http.URL + "/mcp", HTTPClient: w.http.Client(), DisableStandaloneSSE: true,
	}, nil)
	must(w.t, err)
	w.t.Cleanup(func() { _ = session.Close() })
	return session
}

// The official client does a round trip through everything there is.
func TestOfficialClient(t *testing.T) {
	w := newFixture(t)
	session := w.connect()
	ctx := t.Context()
	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != 13 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "service_get_flow_by_handle", Arguments: map[string]any{"handle": "sign-in", "flow_type": "AUTHENTICATION"}})
	if err != nil || result.IsError || result.StructuredContent.(map[string]any)["id"] != signInID {
		t.Errorf("%+v, %v", result, err)
	}
	_, err = session.CallTool(ctx, &sdk.CallToolParams{Name: "service_delete_application", Arguments: map[string]any{}})
	if reported, ok := errors.AsType[*jsonrpc.Error](err); !ok || reported.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("a tool that is not there: %v", err)
	}
	prompts, err := session.ListPrompts(ctx, nil)
	if err != nil || len(prompts.Prompts) != 1 {
		t.Errorf("%+v, %v", prompts, err)
	}
	templates, err := session.ListResourceTemplates(ctx, nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Errorf("%+v, %v", templates, err)
	}
}

// Every flow is a resource, whichever its type, in pages if there are many.
func TestListResources(t *testing.T) {
	w := newFixture(t)
	for i := range 230 {
		w.make(w.directory.Flows, fmt.Sprintf(`{"handle": "more-%d", "name": "More", "flowType": "REGISTRATION", "nodes": %s}`, i, nodesOfSignUp))
	}
	w.make(w.directory.Flows, `{"handle": "sign-in", "name": "Another", "flowType": "REGISTRATION", "nodes": `+nodesOfSignUp+`}`)
	var uris []string
	session := w.connect()
	for resource, err := range session.Resources(t.Context(), nil) {
		must(t, err)
		uris = append(uris, resource.URI)
	}
	want := 3 + 4 + 230 + 1
	if len(uris) != want || len(slices.Compact(sorted(uris))) != want {
		t.Errorf("%d resources, expected %d", len(uris), want)
	}
	for _, uri := range uris {
		if !slices.Contains([]string{uris[0], uris[len(uris)-1], "postern://flows/AUTHENTICATION/sign-in", "postern://flows/REGISTRATION/sign-in"}, uri) {
			continue
		}
		if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

const nodesOfSignUp = `[{"id": "who", "use": "prompt", "with": {"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "required": true}], "actions": [{"ref": "go", "label": "Go"}]}, "next": "create"},
	{"id": "create", "use": "user-create", "next": {"created": "key", "taken": "who"}},
	{"id": "key", "use": "passkey-register", "next": "done"}, {"id": "done", "use": "authorization-code"}]`

// The YAML of a flow is the flow, and its findings are with it.
func TestFlowResources(t *testing.T) {
	w := newFixture(t)
	session := w.connect()
	for uri, warnings := range map[string]int{"postern://flows/AUTHENTICATION/sign-in": 0, "postern://flows/REGISTRATION/counter": 1} {
		result, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		must(t, err)
		yaml, found := result.Contents[0], result.Contents[1]
		flow, _, problems := schemas.ParseFlow([]byte(yaml.Text), true)
		if len(problems) > 0 || yaml.URI != uri || yaml.MIMEType != "application/yaml" || !strings.HasSuffix(uri, "/"+flow.Handle) {
			t.Errorf("%s: %v in %s", uri, problems, yaml.Text)
		}
		if picture := result.Contents[2]; picture.MIMEType != "text/vnd.mermaid" || !strings.Contains(picture.Text, "flowchart") || !strings.Contains(picture.Text, flow.Nodes[0].ID) {
			t.Errorf("%s: the picture is %s", uri, picture.Text)
		}
		var list struct{ Findings []schemas.Problem }
		must(t, json.Unmarshal([]byte(found.Text), &list))
		if len(list.Findings) != warnings || list.Findings == nil {
			t.Errorf("%s: %s", uri, found.Text)
		}
	}
	for _, uri := range []string{
		"postern://flows/REGISTRATION/sign-in", "postern://flows/AUTHENTICATION/none", "postern://flows/sign-in", "postern://flows/AUTHENTICATION/",
		"postern://flows/AUTHENTICATION/../sign-in", "postern://users/ada", "file:///etc/passwd",
	} {
		_, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if reported, ok := errors.AsType[*jsonrpc.Error](err); !ok || reported.Code == jsonrpc.CodeInternalError {
			t.Errorf("%s: %v", uri, err)
		}
	}
	if log := w.log.String(); log != "" {
		t.Errorf("logged: %s", log)
	}
}

// The catalog says of every kind what the kind says of itself.
func TestCatalogOfKinds(t *testing.T) {
	w := newFixture(t)
	result, err := w.connect().ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "postern://kinds"})
	must(t, err)
	var list struct {
		Facts map[string]string
		Kinds []struct {
			Name, Doc string
			With      json.RawMessage
			Needs     []struct{ AnyOf []string }
			Outcomes  []struct {
				Name        string
				Establishes []string
			}
		}
	}
	must(t, json.Unmarshal([]byte(result.Contents[0].Text), &list))
	kinds := nodes.Kinds(nodes.Deps{})
	if len(list.Kinds) != len(kinds) {
		t.Errorf("there are %d kinds, expected %d", len(list.Kinds), len(kinds))
	}
	for _, k := range list.Kinds {
		kind := kinds[k.Name]
		if kind == nil || k.Doc == "" || len(k.Outcomes) != len(kind.Outcomes) || len(k.Needs) != len(kind.Needs) || (kind.With != nil) != (k.With != nil) {
			t.Errorf("%+v", k)
		}
		for _, o := range k.Outcomes {
			for _, fact := range o.Establishes {
				if list.Facts[fact] == "" {
					t.Errorf("%s of %s establishes %s, which nothing explains", o.Name, k.Name, fact)
				}
			}
		}
	}
	for _, uri := range []string{"postern://schemas/flow", "postern://schemas/application"} {
		result, err := w.connect().ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		must(t, err)
		if _, err := schemas.CompileSchema("read", []byte(result.Contents[0].Text)); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestPrompt(t *testing.T) {
	w := newFixture(t)
	session := w.connect()
	result, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "write_flow", Arguments: map[string]string{"goal": "Sign in with a {kinds} passkey", "flow_type": "REGISTRATION"}})
	must(t, err)
	text := result.Messages[0].Content.(*sdk.TextContent).Text
	for _, word := range []string{"Sign in with a {kinds} passkey", "Write a flow of the type REGISTRATION", "## passkey-authenticate", "dry_run: true"} {
		if !strings.Contains(text, word) {
			t.Errorf("the prompt lacks %q", word)
		}
	}
	for _, arguments := range []map[string]string{{}, {"goal": " "}, {"goal": "x", "flow_type": "SIGN_IN"}} {
		if _, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "write_flow", Arguments: arguments}); err == nil {
			t.Errorf("%v: a prompt", arguments)
		}
	}
}

// Nothing can be subscribed to: a stream would be open for as long as the client
// likes, and take a place from others.
func TestNoSubscriptions(t *testing.T) {
	w := newFixture(t)
	reply, body := w.post(`{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"notifications": {"toolsListChanged": true}, `+newMeta+`}}`,
		"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
	if reply.StatusCode != http.StatusNotFound || !strings.Contains(string(body), `-32601`) {
		t.Errorf("%d %s", reply.StatusCode, body)
	}
}
