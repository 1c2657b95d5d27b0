package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// newMeta is what a message of the protocol version 2026-07-28 says of itself.
const newMeta = `"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": {}}`

// Every version of the protocol is answered: the older ones are negotiated by
// initialize and named in a header from 2025-06-18 on, the newest is named in
// each message.
func TestProtocolVersions(t *testing.T) {
	w := newFixture(t)
	const call = `"method": "tools/call", "params": {"name": "service_list_flows", "arguments": {}`
	for asked, answered := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2023-01-01": "2025-11-25", "2099-01-01": "2025-11-25", "2026-07-28": "2025-11-25",
	} {
		reply, body := w.post(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "` + asked + `", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}`)
		var m struct {
			Result struct {
				ProtocolVersion string
				ServerInfo      struct{ Name, Version string }
				Capabilities    map[string]any
			}
		}
		must(t, json.Unmarshal(body, &m))
		if reply.StatusCode != 200 || m.Result.ProtocolVersion != answered || m.Result.ServerInfo.Name != "postern" || len(m.Result.Capabilities) != 3 {
			t.Errorf("initialize %s: %d %s", asked, reply.StatusCode, body)
		}
		if reply.Header.Get("Mcp-Session-Id") != "" || reply.Header.Get("Cache-Control") != "no-store" || reply.Header.Get("Content-Type") != "application/json" {
			t.Errorf("initialize %s: %v", asked, reply.Header)
		}
	}
	for _, version := range []string{"", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		headers := []string{}
		if version != "" {
			headers = append(headers, "Mcp-Protocol-Version: "+version)
		}
		if reply, body := w.post(`{"jsonrpc": "2.0", "method": "notifications/initialized"}`, headers...); reply.StatusCode != 202 || len(body) != 0 {
			t.Errorf("notification, %q: %d %s", version, reply.StatusCode, body)
		}
		if reply, body := w.post(`{"jsonrpc": "2.0", "id": 1, `+call+`}}`, headers...); reply.StatusCode != 200 || !strings.Contains(string(body), `"total_count":4`) {
			t.Errorf("call, %q: %d %s", version, reply.StatusCode, body)
		}
	}
	newest := []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: service_list_flows"}
	reply, body := w.post(`{"jsonrpc": "2.0", "id": 1, `+call+`, `+newMeta+`}}`, newest...)
	if reply.StatusCode != 200 || !strings.Contains(string(body), `"total_count":4`) || !strings.Contains(string(body), `"resultType":"complete"`) {
		t.Errorf("2026-07-28: %d %s", reply.StatusCode, body)
	}
	reply, body = w.post(`{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {`+newMeta+`}}`, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover")
	if reply.StatusCode != 200 || !strings.Contains(string(body), `"2026-07-28"`) || !strings.Contains(string(body), `"2025-03-26"`) {
		t.Errorf("discover: %d %s", reply.StatusCode, body)
	}
}

// Whatever the transport refuses is refused in the form of the protocol.
func TestRefusals(t *testing.T) {
	w := newFixture(t)
	const list = `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`
	const listed = `{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {` + newMeta + `}}`
	for name, tt := range map[string]struct {
		body    string
		headers []string
		status  int
		code    int
	}{
		"no JSON":                         {`{"jsonrpc": `, nil, 400, -32700},
		"nothing":                         {``, nil, 400, -32700},
		"something after it":              {list + `}`, nil, 400, -32700},
		"not UTF-8":                       {"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"\xff\"}", nil, 400, -32600},
		"no message":                      {`{}`, nil, 400, -32600},
		"a number":                        {`7`, nil, 400, -32600},
		"JSON-RPC 1.0":                    {`{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}`, nil, 400, -32600},
		"a method that is not there":      {`{"jsonrpc": "2.0", "id": 1, "method": "tools/delete"}`, nil, 400, -32600},
		"not there, newest version":       {strings.Replace(listed, "tools/list", "tools/delete", 1), []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/delete"}, 404, -32601},
		"parameters that are no object":   {`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": 7}`, nil, 200, -32602},
		"a batch of none":                 {`[]`, nil, 400, -32600},
		"a batch of many":                 {`[` + strings.Repeat(list+",", 20) + list + `]`, nil, 400, -32600},
		"a batch, which is over":          {`[` + list + `]`, []string{"Mcp-Protocol-Version: 2025-06-18"}, 400, -32600},
		"a version that never was":        {list, []string{"Mcp-Protocol-Version: 2025-01-01"}, 400, -32600},
		"no version":                      {list, []string{"Mcp-Protocol-Version: latest"}, 400, -32602},
		"a version to come":               {strings.ReplaceAll(listed, "2026-07-28", "2099-01-01"), []string{"Mcp-Protocol-Version: 2099-01-01", "Mcp-Method: tools/list"}, 400, -32022},
		"two versions":                    {listed, []string{"Mcp-Protocol-Version: 2025-11-25"}, 400, -32020},
		"the newest without its header":   {listed, nil, 400, -32020},
		"another method in the header":    {listed, []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call"}, 400, -32020},
		"another type":                    {list, []string{"Content-Type: text/plain"}, 415, -32600},
		"a form":                          {`a=b`, []string{"Content-Type: application/x-www-form-urlencoded"}, 400, -32700},
		"who takes no JSON":               {list, []string{"Accept: text/html"}, 400, -32600},
		"who takes no stream":             {list, []string{"Accept: application/json"}, 400, -32600},
		"a stream that is taken up again": {list, []string{"Last-Event-Id: 7"}, 400, -32600},
	} {
		reply, body := w.post(tt.body, tt.headers...)
		var m struct {
			Version string `json:"jsonrpc"`
			Error   struct {
				Code    int
				Message string
			}
		}
		err := json.Unmarshal(body, &m)
		if err != nil || reply.StatusCode != tt.status || m.Version != "2.0" || m.Error.Code != tt.code || m.Error.Message == "" {
			t.Errorf("%s: %d %s, %v; expected %d, %d", name, reply.StatusCode, body, err, tt.status, tt.code)
		}
		if got := reply.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: Content-Type %s", name, got)
		}
	}
}

// A batch, which protocol versions up to 2025-03-26 allow, is answered as one.
func TestBatch(t *testing.T) {
	w := newFixture(t)
	reply, body := w.post(`[{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]`, "Mcp-Protocol-Version: 2025-03-26")
	var list []struct{ ID int }
	if err := json.Unmarshal(body, &list); err != nil || reply.StatusCode != 200 || len(list) != 2 || list[0].ID+list[1].ID != 3 {
		t.Errorf("%d %.300s, %v", reply.StatusCode, body, err)
	}
}

func TestLargeBodies(t *testing.T) {
	w := newFixture(t)
	reply, _ := w.post(`{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {"x": "` + strings.Repeat("x", 1<<20+1<<16) + `"}}}`)
	if reply.StatusCode != http.StatusRequestEntityTooLarge || reply.Header.Get("X-Code") != "payload_too_large" {
		t.Errorf("%d %v", reply.StatusCode, reply.Header)
	}
}
