package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/folder"
)

// fileSet selects the files of folders that a command works on.
type fileSet struct {
	noun, patterns string
	wanted         func(name string) bool
}

// stdinPath is the path of standard input.
const stdinPath = "-"

// checkedFiles selects flows and scenarios.
func checkedFiles() fileSet {
	return fileSet{"flow", flows.FlowFiles, func(name string) bool { return flows.IsFlow(name) || flows.IsScenarios(name) }}
}

func flowFiles() fileSet { return fileSet{"flow", flows.FlowFiles, flows.IsFlow} }

func scenarioFiles() fileSet { return fileSet{"scenario", flows.ScenarioFiles, flows.IsScenarios} }

// filterFlows returns the files that are flows.
func filterFlows(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !flows.IsFlow(file) })
}

// expandPaths lists the named files, and the wanted files of named folders, each once.
func (f fileSet) expandPaths(paths []string) ([]string, error) {
	var list []string
	for _, path := range paths {
		found, err := f.expandPath(path)
		if err != nil {
			return nil, err
		}
		list = append(list, slices.DeleteFunc(found, func(file string) bool { return slices.Contains(list, file) })...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no %s files (%s) under %s", f.noun, f.patterns, strings.Join(paths, ", "))
	}
	return list, nil
}

// readStdin reads standard input.
func (p program) readStdin() ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(p.stdin, folder.MaxFile+1))
	if err == nil && len(text) > folder.MaxFile {
		err = fmt.Errorf("expected at most %d bytes", folder.MaxFile)
	}
	return text, err
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
		return []string{path}, nil
	}
	return folder.Find(path, f.wanted, func(name string) bool { return name == flows.UserTypesFolder })
}
