package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/schemas"
)

// watchInterval is how often files are checked for changes.
const watchInterval = 300 * time.Millisecond

// whenChanged calls run each time that a fingerprint has changed from the last one, until the context
// ends. It waits until two looks are equal: saving has finished then.
func whenChanged(ctx context.Context, last []byte, fingerprint func() []byte, run func()) {
	taken, seen := last, last
	repeat(ctx, watchInterval, func(time.Time) {
		now := fingerprint()
		settled := bytes.Equal(now, seen)
		seen = now
		if settled && !bytes.Equal(now, taken) {
			taken = now
			run()
		}
	})
}

// watchedFolder is a folder whose files a command depends on.
type watchedFolder struct {
	path      string
	recursive bool
}

// fingerprint changes with the wanted files of folders.
func fingerprint(folders []watchedFolder, wanted func(name string) bool) []byte {
	h := sha256.New()
	for _, f := range folders {
		// Read errors are reported when the files are read.
		_ = filepath.WalkDir(f.path, func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case d.IsDir() && path != f.path && !f.recursive:
				return filepath.SkipDir
			case d.IsDir() || !wanted(d.Name()):
				return nil
			}
			if info, err := d.Info(); err == nil {
				fmt.Fprintf(h, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return h.Sum(nil)
}

// watching is the flag of a command that can run again and again.
type watching struct {
	Watch bool `help:"Run again whenever a file changes, until Ctrl-C."`
}

// run runs a command on the files of paths: once or, if watching, whenever they change. When watching,
// errors are printed and do not end the command.
func (c watching) run(ctx context.Context, p program, paths []string, command func() error) error {
	if !c.Watch {
		return command()
	}
	if slices.Contains(paths, stdinPath) {
		return errors.New("--watch watches files; expected their paths instead of -")
	}
	again := func() {
		if err := command(); err != nil && !errors.Is(err, errFindings) {
			fmt.Fprintln(p.stderr, "postern:", err)
		}
		fmt.Fprintln(p.stdout, "\nwaiting for changes; Ctrl-C ends")
	}
	look := func() []byte { return fingerprint(foldersOf(paths), isAuthored) }
	first := look()
	p.clearTerminal()
	again()
	whenChanged(ctx, first, look, func() {
		p.clearTerminal()
		again()
	})
	return nil
}

// isAuthored reports whether a file of the name is a flow, scenarios or a user type.
func isAuthored(name string) bool { return flows.IsFlow(name) || flows.IsScenarios(name) }

// foldersOf returns the folders of the files that paths name, of the flows that scenarios name, and of
// the user types that belong to them.
func foldersOf(paths []string) (list []watchedFolder) {
	add := func(f watchedFolder) {
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	for _, path := range expandPatterns(paths) {
		info, err := os.Stat(path)
		isFolder := err == nil && info.IsDir()
		dirs := []string{path}
		if !isFolder {
			dirs = []string{filepath.Dir(path), filepath.Dir(flowNamedBy(path))}
		}
		for _, dir := range dirs {
			add(watchedFolder{dir, isFolder})
			for _, types := range flows.UserTypeFolders(filepath.Join(dir, "flow.yaml")) {
				add(watchedFolder{types, false})
			}
		}
	}
	return list
}

// expandPatterns replaces patterns that the shell has not expanded.
func expandPatterns(paths []string) (list []string) {
	for _, path := range paths {
		found, err := filepath.Glob(path)
		if err != nil || len(found) == 0 {
			found = []string{path}
		}
		list = append(list, found...)
	}
	return list
}

// flowNamedBy returns the path of the flow that a scenario file names, or the file itself.
func flowNamedBy(path string) string {
	if !flows.IsScenarios(path) {
		return path
	}
	text, err := flows.Disk{}.ReadFile(path)
	if err != nil {
		return path
	}
	doc, _ := schemas.ParseYAML(text)
	if doc == nil || doc.TextAt("flow") == "" {
		return path
	}
	return filepath.Join(filepath.Dir(path), doc.TextAt("flow"))
}

// clearTerminal clears the screen, if the output is one.
func (p program) clearTerminal() {
	if isTerminal(p.stdout) && p.getenv("TERM") != "dumb" {
		fmt.Fprint(p.stdout, "\x1b[H\x1b[2J\x1b[3J")
	}
}
