package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/format"
)

type flowFmtCommand struct {
	Write bool     `short:"w" help:"Write the files instead of printing them."`
	Diff  bool     `short:"d" help:"Print what would change. The exit code is 1 if anything would."`
	List  bool     `short:"l" help:"Print the names of the files that would change. The exit code is 1 if any would, unless they are written."`
	Paths []string `arg:"" name:"path" help:"Flow and scenario files in YAML, folders of them, patterns such as 'flows/*.yaml', or - for standard input."`
}

// errJSON is the error for a file that fmt does not format.
var errJSON = errors.New("the file is JSON; expected YAML. Format it with a tool for JSON")

// Run formats every file. A file that cannot be formatted stays as it is, and the others are formatted.
func (c flowFmtCommand) Run(p program) error {
	files, err := checkedFiles().expandPaths(c.Paths)
	if err != nil {
		return err
	}
	var failures []error
	changed := false
	for _, file := range files {
		if flows.IsJSON(file) && len(files) > 1 {
			continue // a folder or a pattern names it
		}
		would, err := c.format(p, file)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", file, err))
		}
		changed = changed || would
	}
	if len(failures) > 0 {
		return errors.Join(failures...)
	}
	if changed && !c.Write && (c.Diff || c.List) {
		return errFindings
	}
	return nil
}

// format formats a file and reports whether it changes.
func (c flowFmtCommand) format(p program, file string) (changed bool, err error) {
	if flows.IsJSON(file) {
		return false, errJSON
	}
	source, err := p.readSource(file)
	if err != nil {
		return false, err
	}
	if source.JSON {
		return false, errJSON
	}
	formatted, err := format.Format(source.Text)
	if err != nil {
		return false, err
	}
	changed = !bytes.Equal(source.Text, formatted)
	if c.List && changed {
		fmt.Fprintln(p.stdout, source.Name)
	}
	if c.Diff && changed {
		if _, err := p.stdout.Write(diff.Diff(source.Name, source.Text, source.Name+" (formatted)", formatted)); err != nil {
			return changed, err
		}
	}
	switch {
	case c.Write && changed && file != stdinPath:
		return changed, replaceFile(file, formatted)
	case c.Write && file != stdinPath, c.List, c.Diff:
		return changed, nil
	}
	_, err = io.Copy(p.stdout, bytes.NewReader(formatted))
	return changed, err
}

// replaceFile replaces the content of a file and keeps its permissions. It writes a second file first: a
// full disk must not destroy the flow. A symbolic link stays one.
func replaceFile(file string, text []byte) error {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(target), ".postern-*")
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // it is gone after success
	_, err = next.Write(text)
	if err := errors.Join(err, next.Chmod(info.Mode().Perm()), next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), target)
}
