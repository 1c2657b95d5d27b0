package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/postern-id/postern/internal/datatest"
)

// checkShell parses each postern command of shell lines with the real command line. Of a console
// block it reads the lines with a prompt.
func checkShell(_ *testing.T, s snippet) error {
	var faults []error
	for _, args := range posternCommands(shellLines(s)) {
		if err := parseCommand(args); err != nil {
			faults = append(faults, fmt.Errorf("postern %s: %w", strings.Join(args, " "), err))
		}
	}
	return errors.Join(faults...)
}

// shellLines returns the text of a block that the shell reads.
func shellLines(s snippet) string {
	if s.language != "console" {
		return s.text
	}
	var b strings.Builder
	for line := range strings.Lines(s.text) {
		if typed, found := strings.CutPrefix(line, "$ "); found {
			b.WriteString(typed)
		}
	}
	return b.String()
}

// parseCommand parses the arguments of one command, without running it. A missing file is no fault.
func parseCommand(args []string) error {
	parser, err := newParser(new(commands), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		return err
	}
	if _, err = parser.Parse(args); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// posternCommands returns the arguments of each call of postern in a text of the shell, also within
// $(…). It reads quotes, comments and continued lines.
func posternCommands(text string) (calls [][]string) {
	words, isFile := []string{}, false // isFile: the next word is the file of a redirection
	end := func() {
		for len(words) > 0 && (assignment.MatchString(words[0]) || slices.Contains([]string{"export", "if", "then", "!"}, words[0])) {
			words = words[1:]
		}
		if len(words) > 0 && filepath.Base(words[0]) == "postern" {
			calls = append(calls, words[1:])
		}
		words = []string{}
	}
	for text != "" {
		switch text[0] {
		case '\n', ';', '|', '&', '(', ')':
			end()
			text = text[1:]
		case ' ', '\t', '\r':
			text = text[1:]
		case '#':
			_, text, _ = strings.Cut(text, "\n")
			end()
		case '\\':
			text = text[min(2, len(text)):]
		default:
			word, rest, nested := shellWord(text)
			for _, inner := range nested {
				calls = append(calls, posternCommands(inner)...)
			}
			isOperator := redirection.MatchString(word)
			if !isOperator && !isFile {
				words = append(words, word)
			}
			isFile = isOperator && strings.Trim(word, "0123456789<>") == ""
			text = rest
		}
	}
	end()
	return calls
}

var (
	assignment  = regexp.MustCompile(`^\w+=`)
	redirection = regexp.MustCompile(`^\d*[<>]`)
)

// shellWord splits the first word from a text, without its quotes, and returns the commands in its
// substitutions.
func shellWord(text string) (word, rest string, nested []string) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != '\'' && strings.HasPrefix(text[i:], "$("):
			end := closing(text, i+2)
			nested = append(nested, text[i+2:end])
			b.WriteString("VALUE")
			i = end
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote != '\'' && c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case quote == 0 && strings.IndexByte(" \t\r\n;|&()", c) >= 0:
			return b.String(), text[i:], nested
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", nested
}

// closing returns the index of the parenthesis that closes one before the index i.
func closing(text string, i int) int {
	for depth := 1; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}

func TestPosternCommands(t *testing.T) {
	const text = `export A=$(B=1 bin/postern token --config x) # postern not
postern app create "My shop" --type web \
  --redirect 'http://a/ b' > out.txt; echo postern && ADMIN=… postern flow push flows | postern audit list
curl -H "Authorization: Bearer $(postern token $(postern version))" x/postern`
	want := "[[token --config x] [app create My shop --type web --redirect http://a/ b] [flow push flows] [audit list] [version] [token VALUE]]"
	if got := fmt.Sprint(posternCommands(text)); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

var inlineCommand = regexp.MustCompile("`(?:bin/)?postern ([^`]+)`")

// The commands within sentences exist, with their flags.
func TestInlineCommands(t *testing.T) {
	sequential(t)
	root, err := newParser(new(commands))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, page := range append(pagesOfDocs(t), "CHANGELOG.md") {
		text := datatest.ReadFile(t, "../../"+page)
		prose := fence.ReplaceAllString(string(text), "")
		for _, found := range inlineCommand.FindAllStringSubmatch(prose, -1) {
			checked++
			if err := checkWords(root.Model.Node, strings.Fields(found[1])); err != nil {
				t.Errorf("%s: %s: %v", page, found[0], err)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d commands were checked", checked)
	}
	for words, want := range map[string]string{"flow chek": "chek", "flow check --nope": "nope", "serve --try": ""} {
		if err := checkWords(root.Model.Node, strings.Fields(words)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s is reported as %v, want %s", words, err, want)
		}
	}
}

// placeholderWord matches words that stand for others.
var placeholderWord = regexp.MustCompile(`^([A-Z]+|…|\.\.\.)$`)

// checkWords checks the names of a command and of its flags.
func checkWords(node *kong.Node, words []string) error {
	for _, word := range words {
		if flag, isFlag := strings.CutPrefix(word, "--"); isFlag {
			name, _, _ := strings.Cut(flag, "=")
			if !slices.ContainsFunc(slices.Concat(node.AllFlags(false)...), func(f *kong.Flag) bool { return f.Name == name || f.Negated && "no-"+f.Name == name }) {
				return fmt.Errorf("%s has no flag --%s", node.FullPath(), name)
			}
			continue
		}
		at := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word })
		if at < 0 && len(node.Children) > 0 && !placeholderWord.MatchString(word) {
			return fmt.Errorf("%s has no command %s", node.FullPath(), word)
		}
		if at >= 0 {
			node = node.Children[at]
		}
	}
	return nil
}
