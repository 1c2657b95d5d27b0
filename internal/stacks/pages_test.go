package stacks

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

var (
	created  = regexp.MustCompile(`postern app create .* --stack (\S+)(?: --scope (\S+))?(?:.* --redirect (\S+))?`)
	examples = regexp.MustCompile(`(?m)^From \[.(examples/[^\]]+)/[^/]+.\]`)
)

// readFile returns a file of the repository.
func readFile(t *testing.T, name string) string {
	t.Helper()
	return string(datatest.ReadFile(t, filepath.Join("../..", name)))
}

// pageTexts returns the page of a stack, and the files of the examples that the page shows.
func pageTexts(t *testing.T, page string) []string {
	t.Helper()
	texts := []string{readFile(t, page)}
	for _, found := range examples.FindAllStringSubmatch(texts[0], -1) {
		files, err := filepath.Glob(filepath.Join("../..", found[1], "*.*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s shows %s: %d files, %v", page, found[1], len(files), err)
		}
		for _, file := range files {
			texts = append(texts, readFile(t, strings.TrimPrefix(file, "../../")))
		}
	}
	return texts
}

// onPage returns the client that the page of a stack registers.
func onPage(s Stack, page string) Client {
	c := Client{Issuer: "https://id.example.org", ClientID: "CLIENT_ID", Scopes: []string{"openid", "profile", "email"}}
	if s.Type == "service" {
		c.Scopes = []string{"system:users:read"}
	}
	c.Scopes = append(c.Scopes, s.Scopes...)
	for _, found := range created.FindAllStringSubmatch(page, -1) {
		if found[1] == s.Name {
			c.RedirectURI = found[3]
			if found[2] != "" && s.Type != "service" {
				c.Scopes = append(c.Scopes, found[2])
			}
		}
	}
	return c
}

// Each paragraph of a snippet is on the page of its stack, or in an example that this page shows and
// that runs in a browser in e2e. So a check that is added to a page is added to the snippet.
func TestPagesHaveTheSnippets(t *testing.T) {
	for _, s := range All() {
		if s.Page == "" {
			continue
		}
		texts := pageTexts(t, s.Page)
		if !strings.Contains(texts[0], "--stack "+s.Name) && s.Name != "ios" { // as android
			t.Errorf("%s has no command with --stack %s", s.Page, s.Name)
		}
		for _, claim := range s.Claims {
			if !strings.Contains(texts[0], string(claim)) {
				t.Errorf("%s does not have the claim of its stack, %s", s.Page, claim)
			}
		}
		files, err := s.Snippet(onPage(s, texts[0]))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for paragraph := range strings.SplitSeq(strings.TrimSpace(file.Text), "\n\n") {
				paragraph = "\n" + strings.Trim(paragraph, "\n") + "\n"
				if !containsAny(texts, paragraph) {
					t.Errorf("%s, %s: neither %s nor an example on it has%s", s.Name, file.Path, s.Page, paragraph)
				}
			}
		}
	}
}

func containsAny(texts []string, part string) bool {
	for _, text := range texts {
		if strings.Contains("\n"+text+"\n", part) {
			return true
		}
	}
	return false
}
