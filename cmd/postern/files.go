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

// fileSet are those a command works on.
type fileSet struct {
	noun, patterns string
	wanted         func(name string) bool
	// rejectPath says why a file that is named, and not wanted, is not taken.
	rejectPath func(name string) error
}

// stdinPath stands for standard input among paths.
const stdinPath = "-"

// checkedFiles are flows and scenarios.
func checkedFiles() fileSet {
	wanted := func(name string) bool { return flows.IsFlow(name) || flows.IsScenarios(name) }
	return fileSet{"flow", flows.FlowFiles, wanted, func(string) error { return nil }}
}

// flowFiles are flows alone.
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

// flowsAmong are the files that are flows.
func flowsAmong(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !flows.IsFlow(file) })
}

// expandPaths lists the files that are named, and in named folders those that are
// wanted, each once.
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

// expandPath lists the files at one path: itself, those in it, or those that fit it as a
// pattern, which a shell may have left to us.
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
