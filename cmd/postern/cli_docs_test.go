package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/postern-id/postern/internal/datatest"
)

// docs/cli.md describes every command and flag. Run with -update to write it.
func TestCommandLineDocs(t *testing.T) {
	parser, err := newParser(new(commands))
	if err != nil {
		t.Fatal(err)
	}
	const path = "../../docs/cli.md"
	text := describeCommands(parser.Model.Node)
	if *updateSchemas {
		datatest.WriteFile(t, path, text)
	}
	kept, err := os.ReadFile(path)
	if err != nil || string(kept) != text {
		t.Errorf("%s is outdated (%v): run go test ./cmd/postern -run CommandLineDocs -update", path, err)
	}
}

// describeCommands returns the page.
func describeCommands(root *kong.Node) string {
	var b strings.Builder
	b.WriteString("# The command line\n\nThis page is generated from the program; do not edit it. `postern COMMAND --help` prints the same.\n\n" +
		"Exit codes: 0 success, 1 findings, differences or warnings, 2 failures.\n\n" +
		"Commands with `--server` use the API of a running server. They authenticate with `--token` or `ADMIN_TOKEN`, with\n" +
		"`ADMIN_USERNAME` and `ADMIN_PASSWORD`, or, on the machine of the server, with `--config`. Without `--server` and `--config`\n" +
		"they use the server that runs in this folder, such as that of `make run`. Commands with `--config` alone use the store of\n" +
		"the local server directly.\n\n" +
		"`source <(postern completion bash)`, or the same with `zsh`, completes commands and flags in the shell;\n" +
		"for fish: `postern completion fish | source`. Write `bin/postern` instead of `postern` if it is not in `PATH`.\n\n| command | what it does |\n|---|---|\n")
	leaves := root.Leaves(true)
	for _, leaf := range leaves {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", leaf.Path(), strings.ReplaceAll(leaf.FullPath(), " ", "-"), cellText(leaf.Help))
	}
	for _, leaf := range leaves {
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s\n```\n\n%s\n", leaf.FullPath(), leaf.Summary(), leaf.Help)
		b.WriteString(describeFlags(leaf))
	}
	return b.String()
}

func describeFlags(leaf *kong.Node) string {
	var b strings.Builder
	row := func(name, help string) {
		if b.Len() == 0 {
			b.WriteString("\n| argument | meaning |\n|---|---|\n")
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, cellText(help))
	}
	for _, argument := range leaf.Positional {
		row(argument.Summary(), argument.Help)
	}
	for _, group := range leaf.AllFlags(true) {
		for _, f := range group {
			if slices.Contains([]string{"help", "version"}, f.Name) {
				continue
			}
			help := f.Help
			if f.HasDefault {
				help += fmt.Sprintf(" Default: `%s`.", f.Default)
			}
			if f.Required {
				help += " Required."
			}
			row(f.String(), help)
		}
	}
	return b.String()
}

func cellText(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
