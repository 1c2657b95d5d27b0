package oauth_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The error page shows fixed codes only: it must know each that the server redirects with.
func TestErrorPageKnowsItsCodes(t *testing.T) {
	text := func(path string) string {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	list := regexp.MustCompile(`(?s)const codes = \[(.*?)\]`).FindStringSubmatch(text("../gate/web/main.js"))
	if list == nil {
		t.Fatal("the page has no codes")
	}
	known := regexp.MustCompile(`[a-z_]+`).FindAllString(list[1], -1)
	tokens := strings.Fields("invalid_grant invalid_token insufficient_scope unsupported_grant_type unsupported_token_type") // of endpoints without a page
	for _, sent := range regexp.MustCompile(`(?m)^\t(?:code\w+|pageLost) += "([a-z_]+)"`).FindAllStringSubmatch(text("error.go"), -1) {
		if slices.Contains(known, sent[1]) == slices.Contains(tokens, sent[1]) {
			t.Errorf("the page knows %s: %v", sent[1], slices.Contains(known, sent[1]))
		}
	}
}
