package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Whatever is sent, the reply is one of the protocol, and nothing goes wrong on
// our side.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `[]`, `null`, `[1]`, `{"jsonrpc": "2.0"}`, `[` + strings.Repeat(`[`, 50),
		`{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`,
		`{"jsonrpc": "2.0", "id": null, "method": "tools/call", "params": {"name": "service_list_flows"}}`,
		`{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "service_create_flow", "arguments": {"nodes": [{"use": 1}]}}}`,
		`{"jsonrpc": "2.0", "id": 1.5, "method": "tools/call", "params": {"name": "service_update_flow", "arguments": {"id": "x", "nodes": {}}}}`,
		`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "service_create_application", "arguments": {"name": "A", "name": "B", "dry_run": true}}}`,
		`{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "postern://flows/AUTHENTICATION/sign-in"}}`,
		`{"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "write_flow", "arguments": {"goal": "x"}}}`,
		`{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {` + newMeta + `}}`,
		`{"jsonrpc": "2.0", "id": 1, "result": {}}`, `{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}`,
		`[{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 1, "method": "ping"}]`,
	} {
		f.Add(body, "")
		f.Add(body, "2026-07-28")
		f.Add(body, "2025-06-18")
	}
	w := newFixture(f)
	f.Fuzz(func(t *testing.T, body, version string) {
		w := &fixture{t: t, http: w.http, log: w.log}
		headers := []string{}
		if version != "" && strings.Trim(version, "0123456789-") == "" {
			headers = append(headers, "Mcp-Protocol-Version: "+version, "Mcp-Method: tools/call")
		}
		reply, text := w.post(body, headers...)
		switch reply.StatusCode {
		case http.StatusAccepted:
			if len(text) > 0 {
				t.Errorf("accepted, and answered: %s", text)
			}
		case http.StatusOK, http.StatusBadRequest, http.StatusNotFound:
			// The library answers this one as a stream, whatever is asked for.
			listen := strings.Contains(body, "subscriptions/listen") && strings.HasPrefix(reply.Header.Get("Content-Type"), "text/event-stream")
			if !json.Valid(text) && !listen {
				t.Errorf("%d %q", reply.StatusCode, text)
			}
		default:
			t.Errorf("%d %q", reply.StatusCode, text)
		}
		if log := w.log.String(); log != "" {
			t.Errorf("logged: %s", log)
		}
	})
}
