package react_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/examples/react"
	"github.com/postern-id/postern/schemas"
)

func TestIntegrateFillsInTheService(t *testing.T) {
	const base = "https://id.example.org"
	in, err := react.Integrate(base + "/")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(in.Instructions, base); n < 3 || strings.Contains(in.Instructions, base+"//") {
		t.Errorf("the instructions name %s %d times", base, n)
	}
	if !strings.Contains(in.Instructions, "npm install @thunderid/react@0.4.") {
		t.Error("the instructions do not say which version to install")
	}
	filled := map[string]bool{}
	for _, s := range in.Snippets {
		if strings.Contains(s.Code+in.Instructions, "localhost:8090") {
			t.Errorf("%s of %s is still about another Postern", s.File, s.Mode)
		}
		if s.Language == "" || s.Description == "" || s.Code == "" {
			t.Errorf("%s of %s lacks something: %+v", s.File, s.Mode, s)
		}
		if strings.Contains(s.Code, `baseUrl = "`+base+`"`) {
			filled[s.Mode] = true
		}
		for mode, placeholder := range map[string]string{react.Redirect: react.ClientIDPlaceholder, react.SelfHosted: react.ApplicationIDPlaceholder} {
			if s.File == "postern.ts" && s.Mode == mode && !strings.Contains(s.Code, placeholder) {
				t.Errorf("%s of %s has no place for %s", s.File, mode, placeholder)
			}
		}
	}
	if !filled[react.Redirect] || !filled[react.SelfHosted] {
		t.Errorf("filled in: %v", filled)
	}
}

// Every file of a mode is returned; without it the app would be incomplete.
func TestIntegrateIncludesAllFiles(t *testing.T) {
	in, err := react.Integrate("https://id.example.org")
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]bool{}
	for _, s := range in.Snippets {
		given[s.Mode+"/"+s.File] = true
	}
	for _, mode := range []string{react.Redirect, react.SelfHosted} {
		there, err := filepath.Glob(mode + "/*")
		if err != nil || len(there) == 0 {
			t.Fatalf("%s has no files: %v", mode, err)
		}
		for _, path := range there {
			if !given[filepath.ToSlash(path)] {
				t.Errorf("%s is not handed out", path)
			}
		}
	}
}

// The address is inserted into string literals of code that users run.
func TestIntegrateRejectsInvalidAddresses(t *testing.T) {
	for _, base := range []string{
		"", "id.example.org", "ftp://id.example.org", "https://", "javascript:alert(1)", "https://u:p@id.example.org",
		"https://id.example.org/?a=b", "https://id.example.org/#a", `https://id.example.org/";alert(1);"`, "https://id.example.org/${a}", "https://id.example.org/\n",
	} {
		if _, err := react.Integrate(base); schemas.AsError(err) == nil || schemas.AsError(err).Class != schemas.Invalid {
			t.Errorf("%q: %v, want a refusal", base, err)
		}
	}
}
