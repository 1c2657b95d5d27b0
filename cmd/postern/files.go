package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postern-id/postern/flows"
)

// fileSet selects the files that a command works on.
type fileSet struct {
	noun, patterns string
	wanted         func(name string) bool
	// rejectPath explains why an unwanted file that is named on the command line is
	// rejected.
	rejectPath func(name string) error
}

// stdinPath is the path of standard input.
const stdinPath = "-"

// checkedFiles selects flows and scenarios.
func checkedFiles() fileSet {
	wanted := func(name string) bool { return flows.IsFlow(name) || flows.IsScenarios(name) }
	return fileSet{"flow", flows.FlowFiles, wanted, func(string) error { return nil }}
}

// flowFiles selects flows.
func flowFiles() fileSet {
	return fileSet{"flow", flows.FlowFiles, flows.IsFlow, func(name string) error {
		if flows.IsScenarios(name) {
			return fmt.Errorf("%s: these are scenarios; expected a flow", name)
		}
		return nil
	}}
}

func scenarioFiles() fileSet {
	return fileSet{"scenario", flows.ScenarioFiles, flows.IsScenarios, func(name string) error {
		if flows.IsFlow(name) {
			return fmt.Errorf("%s: this is a flow; expected the file of its scenarios, such as %s", name, flows.ScenariosOf(name))
		}
		return nil
	}}
}

// filterFlows returns the files that are flows.
func filterFlows(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !flows.IsFlow(file) })
}

// expandPaths lists the named files, and the wanted files of named folders, each once.
func (f fileSet) expandPaths(paths []string) ([]string, error) {
	var list []string
	seen := map[string]bool{}
	for _, path := range paths {
		found, err := f.expandPath(path)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if !seen[file] {
				list = append(list, file)
			}
			seen[file] = true
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no %s files (%s) under %s", f.noun, f.patterns, strings.Join(paths, ", "))
	}
	return list, nil
}

// expandPath lists the files of one path: the file itself, the files of the folder, or the
// matches of a pattern that the shell has not expanded.
func (f fileSet) expandPath(path string) (list []string, err error) {
	if path == stdinPath {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if fitting, err := filepath.Glob(path); err == nil && len(fitting) > 0 && !slices.Contains(fitting, path) {
			return f.expandPaths(fitting)
		}
		return nil, fmt.Errorf("there is no file or folder %s", path)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, f.rejectPath(path)
	}
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && f.wanted(d.Name()) {
			list = append(list, file)
		}
		return err
	})
	return list, err
}
