package schemas_test

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

func TestPrivateUseScheme(t *testing.T) {
	for name, want := range map[string]bool{
		"cursor": true, "vscode": true, "vscode-insiders": true, "a": true, "x+y-1": true,
		"javascript": false, "vbscript": false, "data": false, "file": false, "http": false, "https": false, "blob": false, "filesystem": false,
		"view-source": false, "intent": false, "about": false, "mailto": false,
		"": false, "com.example.app": false, "Cursor": false, "cursor:": false, "cursor://": false, "1a": false, "a b": false, "ä": false,
		strings.Repeat("a", 63): true, strings.Repeat("a", 64): false,
	} {
		if schemas.PrivateUseScheme(name) != want {
			t.Errorf("%q: %v, expected %v", name, !want, want)
		}
	}
}
