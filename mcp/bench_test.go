package mcp_test

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkServe is a request, with what the protocol costs and without what it
// costs to receive it and to check its token.
func BenchmarkServe(b *testing.B) {
	for name, message := range map[string]string{
		"ping":        `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`,
		"tools-list":  `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`,
		"get-flow":    `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "service_get_flow_by_id", "arguments": {"id": "` + signInID + `"}}}`,
		"create-flow": `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "service_create_flow", "arguments": {"handle": "new", "name": "New", "flowType": "AUTHENTICATION", "nodes": ` + strings.ReplaceAll(passkeyNodes, "\n", " ") + `, "dry_run": true}}}`,
	} {
		b.Run(name, func(b *testing.B) {
			w := newFixture(b)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r := httptest.NewRequest("POST", "/mcp", strings.NewReader(message))
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("Accept", "application/json, text/event-stream")
					rec := httptest.NewRecorder()
					if err := w.tools.Serve(rec, r, w.caller); err != nil || rec.Code != 200 || bytes.Contains(rec.Body.Bytes(), []byte("isError")) {
						b.Errorf("%d %s, %v", rec.Code, rec.Body, err)
					}
				}
			})
		})
	}
}
