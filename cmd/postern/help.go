package main

import (
	"slices"

	"github.com/alecthomas/kong"
)

// helpCommand describes a command that withHelp replaces, so that it never runs.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The words of the command, such as user create."`
}

// withHelp replaces the word help, where a command line expects a command or nothing, by --help at the
// end: `postern help user create` and `postern user help create` are `postern user create --help`.
func withHelp(root *kong.Node, args []string) []string {
	node := root
	for i, word := range args {
		if word == "help" && len(node.Positional) == 0 {
			return slices.Concat(args[:i], args[i+1:], []string{"--help"})
		}
		at := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word })
		if at < 0 {
			break
		}
		node = node.Children[at]
	}
	return args
}
