package connect_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// page is a page of docs/connect: its commands and the configuration of the other product.
type page struct {
	t    *testing.T
	text string
}

func readPage(t *testing.T, name string) *page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "connect", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return &page{t, string(text)}
}

var name = regexp.MustCompile(`postern app create ("[^"]*"|\S+)`)

// rename gives the application of the page another name: names are unique.
func (p *page) rename(to string) *page {
	p.text = name.ReplaceAllLiteralString(p.text, `postern app create "`+to+`"`)
	return p
}

var fence = regexp.MustCompile("(?ms)^```[a-z]+\n(.*?)^```$")

// block returns the first fenced block that contains a text.
func (p *page) block(part string) string {
	p.t.Helper()
	for _, found := range fence.FindAllStringSubmatch(p.text, -1) {
		if strings.Contains(found[1], part) {
			return found[1]
		}
	}
	p.t.Fatalf("the page has no block with %q", part)
	return ""
}

var (
	clientID     = regexp.MustCompile(`\bCLIENT_ID\b`)
	clientSecret = regexp.MustCompile(`\$\{CLIENT_SECRET\}|\$?\bCLIENT_SECRET\b`)
)

// fill replaces the address of the server and the client in a configuration.
func (a application) fill(configuration string) string {
	configuration = strings.ReplaceAll(configuration, "https://id.example.org", a.server.issuer)
	return clientSecret.ReplaceAllLiteralString(clientID.ReplaceAllLiteralString(configuration, a.ClientID), a.ClientSecret)
}

// readYAML reads the documents of a configuration.
func readYAML[T any](t *testing.T, text string) (documents []T) {
	t.Helper()
	for document := range strings.SplitSeq(text, "\n---\n") {
		var value T
		if err := yaml.Unmarshal([]byte(document), &value); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		documents = append(documents, value)
	}
	return documents
}

// readSettings returns the lines NAME = VALUE of a configuration, without quotes around the values.
func readSettings(text string) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(line, "="); found {
			settings[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return settings
}

// readFlags returns the flags of the command of a program in a block, as a shell reads them.
func readFlags(t *testing.T, program, block string) map[string][]string {
	t.Helper()
	out, err := exec.Command("sh", "-euc", program+"() { printf '%s\\n' \"$@\"; }\n"+block).Output()
	if err != nil {
		t.Fatalf("%v in\n%s", err, block)
	}
	flags := map[string][]string{}
	words := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	for i, word := range words {
		name, isFlag := strings.CutPrefix(word, "--")
		if !isFlag {
			continue
		}
		name, value, found := strings.Cut(name, "=")
		if !found && i+1 < len(words) {
			value = words[i+1]
		}
		flags[name] = append(flags[name], value)
	}
	return flags
}
