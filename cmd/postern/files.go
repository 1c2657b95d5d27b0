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

// files are those a command works on.
type files struct {
	noun, patterns string
	wanted         func(name string) bool
	// refuse says why a file that is named, and not wanted, is not taken.
	refuse func(name string) error
}

// stdinPath stands for standard input among paths.
const stdinPath = "-"

// checkedFiles are flows and scenarios.
func checkedFiles() files {
	wanted := func(name string) bool { return flows.IsFlow(name) || flows.IsScenarios(name) }
	return files{"flow", flows.FlowFiles, wanted, func(string) error { return nil }}
}

// flowFiles are flows alone.
func flowFiles() files {
	return files{"flow", flows.FlowFiles, flows.IsFlow, func(name string) error {
		if flows.IsScenarios(name) {
			return fmt.Errorf("%s: these are scenarios; expected a flow", name)
		}
		return nil
	}}
}

func scenarioFiles() files {
	return files{"scenario", flows.ScenarioFiles, flows.IsScenarios, func(name string) error {
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

// under lists the files that are named, and in named folders those that are
// wanted, each once.
func (f files) under(paths []string) ([]string, error) {
	var list []string
	seen := map[string]bool{}
	for _, path := range paths {
		found, err := f.at(path)
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

// at lists the files at one path: itself, those in it, or those that fit it as a
// pattern, which a shell may have left to us.
func (f files) at(path string) (list []string, err error) {
	if path == stdinPath {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if fitting, err := filepath.Glob(path); err == nil && len(fitting) > 0 && !slices.Contains(fitting, path) {
			return f.under(fitting)
		}
		return nil, fmt.Errorf("there is no file or folder %s", path)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, f.refuse(path)
	}
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && f.wanted(d.Name()) {
			list = append(list, file)
		}
		return err
	})
	return list, err
}
