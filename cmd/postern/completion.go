package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// The scripts ask the program on the command line for completions, so they need no change when a command does, and
// the program need not be in PATH. Without a completion they complete names of files.
const (
	bashCompletion = `# postern completion for bash: source <(postern completion bash)
_postern() {
	local IFS=$'\n'
	COMPREPLY=($("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _postern postern
`
	zshCompletion = `#compdef postern
# postern completion for zsh: source <(postern completion zsh), or save it as _postern in a folder of $fpath
_postern() {
	local -a found
	found=("${(@f)$($words[1] complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n "${found[1]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _postern postern
`
	fishCompletion = `# postern completion for fish: postern completion fish | source
function __postern_complete
	set -l words (commandline -opc)
	set -l last (commandline -ct)
	command $words[1] complete -- $words[2..-1] "$last" 2>/dev/null
end
complete -c postern -a '(__postern_complete)'
`
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the completion script of a shell.
func (c completionCommand) Run(p program) error {
	_, err := io.WriteString(p.stdout, map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell])
	return err
}

type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"The words after postern, up to the cursor."`
}

// Run prints the completions of the last word, one a line.
func (c completeCommand) Run(p program) error {
	parser, err := newParser(new(commands))
	if err != nil {
		return err
	}
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	var failed error
	for _, word := range completions(parser.Model.Node, words) {
		_, err := fmt.Fprintln(p.stdout, word)
		failed = errors.Join(failed, err)
	}
	return failed
}

// completions returns the words with which a command line may continue: commands, flags and
// the values of flags. bash separates --flag=value into three words; zsh and fish do not.
func completions(node *kong.Node, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	if last == "=" {
		last = ""
	}
	var flag *kong.Flag // that expects the next word as its value
	for _, word := range words[:len(words)-1] {
		switch {
		case flag != nil && word == "=":
		case flag != nil:
			flag = nil
		case strings.HasPrefix(word, "-"):
			flag = flagOf(node, word)
		case word == "help": // the words after it are those of a command
		default:
			if i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
				node = node.Children[i]
			}
		}
	}
	list := candidates(node, flag, last)
	if name, _, joined := strings.Cut(last, "="); joined {
		if flag := flagOf(node, name); flag != nil {
			list = nil
			for _, value := range valuesOf(flag.Value) {
				list = append(list, name+"="+value)
			}
		}
	}
	return slices.DeleteFunc(list, func(word string) bool { return !strings.HasPrefix(word, last) })
}

// candidates returns the words that are possible at the position of a word.
func candidates(node *kong.Node, flag *kong.Flag, word string) (list []string) {
	if flag != nil {
		return valuesOf(flag.Value)
	}
	if strings.HasPrefix(word, "-") {
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				list = append(list, "--"+f.Name)
			}
		}
		return list
	}
	for _, child := range node.Children {
		if !child.Hidden {
			list = append(list, child.Name)
		}
	}
	for _, argument := range node.Positional {
		list = append(list, valuesOf(argument)...)
	}
	return list
}

// flagOf returns the flag of a word if the next word is its value.
func flagOf(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if (word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short)) && !f.IsBool() {
				return f
			}
		}
	}
	return nil
}

// valuesOf returns the values of an enumeration.
func valuesOf(v *kong.Value) []string {
	switch v.Target.Interface().(type) {
	case stack:
		return stackNames()
	case clientType:
		return clientTypes()
	}
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(value string) bool { return value == "" })
}
