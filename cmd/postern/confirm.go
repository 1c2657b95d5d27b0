package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
)

// confirmation are the flags of commands that remove what cannot be restored.
type confirmation struct {
	Yes    bool `short:"y" help:"Do not ask. Required where the command would ask, unless standard input is a terminal."`
	DryRun bool `help:"Print what would be changed, and change nothing."`
}

// confirm reports whether to go on: with --yes, or after the answer yes on a terminal. what is the change in
// the imperative, and with is what goes with it.
func (c confirmation) confirm(p program, what string, with []string) (bool, error) {
	if len(with) > 0 {
		what += ", with " + listWords(with)
	}
	switch {
	case c.DryRun:
		_, err := fmt.Fprintf(p.stdout, "would %s\n", what)
		return false, err
	case c.Yes:
		return true, nil
	case !isTerminal(p.stdin):
		return false, fmt.Errorf("refusing to %s: standard input is no terminal; pass --yes, or --dry-run to change nothing", what)
	}
	fmt.Fprintf(p.stderr, "%s%s? [y/N] ", strings.ToUpper(what[:1]), what[1:])
	answer, err := bufio.NewReader(p.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	return false, errors.New("nothing was changed: the answer was not yes")
}

func isTerminal(stream any) bool {
	f, isFile := stream.(*os.File)
	return isFile && isatty.IsTerminal(f.Fd())
}

// listWords joins texts: "a, b and c".
func listWords(list []string) string {
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
