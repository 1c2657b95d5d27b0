package studio

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/flows"
)

// A flow is compared with the built-in one of its type and handle.
func TestCompareBuiltin(t *testing.T) {
	text, err := flows.ReadFile("sign_in.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shipped := string(text)
	modified := strings.Replace(shipped, "next: {active: enough, none: key}", "next: {active: enough, none: who}", 1)
	tests := []struct {
		name, text  string
		isBuiltin   bool
		differences string
	}{
		{"the same", shipped, true, ""},
		{"modified", modified, true, "~ session: none leads to: who → key"},
		{"another handle", strings.Replace(modified, "handle: sign-in", "handle: door", 1), false, ""},
		{"another type", strings.Replace(modified, "flowType: AUTHENTICATION", "flowType: REGISTRATION", 1), false, ""},
		{"the name of a file", strings.Replace(modified, "handle: sign-in", "handle: ../sign-in", 1), false, ""},
		{"no flow", "nodes: [", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := New().CompareBuiltin(Source{Text: tt.text})
			if err != nil || (got.Text == shipped) != tt.isBuiltin {
				t.Fatal(got, err)
			}
			var texts []string
			for _, d := range got.Differences {
				texts = append(texts, d.Text)
			}
			if strings.Join(texts, "\n") != tt.differences {
				t.Errorf("got %q", texts)
			}
		})
	}
}
