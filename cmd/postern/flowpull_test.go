package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A malicious server cannot write files outside of the folder.
func TestPullWritesOnlyItsFolder(t *testing.T) {
	for _, f := range []schemas.Flow{
		{Handle: "../out", FlowType: schemas.Authentication},
		{Handle: "/tmp/out", FlowType: schemas.Authentication},
		{Handle: "a/../../out", FlowType: schemas.Authentication},
		{Handle: "..\\out", FlowType: schemas.Authentication},
		{Handle: "a\x1b[2J", FlowType: schemas.Authentication},
		{Handle: "", FlowType: schemas.Authentication},
		{Handle: "a", FlowType: "/../../out"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(map[string]any{"totalResults": 2, "flows": []schemas.Flow{{Handle: "a", FlowType: schemas.Registration}, f}})
		}))
		around := t.TempDir()
		c := flowPullCommand{Dir: filepath.Join(around, "flows")}
		c.Server, c.Token = server.URL, "token"
		err := c.Run(t.Context(), program{stdout: io.Discard, stderr: io.Discard})
		server.Close()
		if err == nil || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%q, %q: %v", f.Handle, f.FlowType, err)
		}
		if left, err := os.ReadDir(around); err != nil || len(left) > 0 {
			t.Errorf("%q: wrote %v, %v", f.Handle, left, err)
		}
	}
}
