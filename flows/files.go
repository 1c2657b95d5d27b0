package flows

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/schemas"
)

// The file names of flows and scenarios, for messages.
const (
	FlowFiles     = "*.yaml, *.yml, *.json"
	ScenarioFiles = "*_test.yaml, *_test.yml"
)

// Files reads files. An editor replaces those of the disk that it has open.
type Files interface {
	ReadFile(name string) ([]byte, error)
	ReadDir(name string) ([]fs.DirEntry, error)
}

// Disk is the file system of the operating system.
type Disk struct{}

// ReadFile implements Files.
func (Disk) ReadFile(name string) ([]byte, error) { return folder.Read(name, folder.MaxFile) }

// ReadDir implements Files.
func (Disk) ReadDir(name string) ([]fs.DirEntry, error) { return folder.FS(name).ReadDir(".") }

// IsScenarios reports whether a file of the name contains scenarios.
func IsScenarios(name string) bool {
	return strings.HasSuffix(name, "_test.yaml") || strings.HasSuffix(name, "_test.yml")
}

// IsFlow reports whether a file of the name is treated as a flow: all YAML and JSON except
// scenarios and JSON Schemas.
func IsFlow(name string) bool {
	return slices.Contains(flowEndings(), filepath.Ext(name)) && !IsScenarios(name) && !strings.HasSuffix(name, ".schema.json")
}

func flowEndings() []string { return []string{".yaml", ".yml", ".json"} }

// IsJSON reports whether a flow's file is JSON; any other is YAML.
func IsJSON(name string) bool { return filepath.Ext(name) == ".json" }

// ScenariosOf returns the name of the scenario file of a flow: sign_in_test.yaml for
// sign_in.yaml.
func ScenariosOf(flow string) string {
	ending := ".yaml"
	if filepath.Ext(flow) == ".yml" {
		ending = ".yml"
	}
	return strings.TrimSuffix(flow, filepath.Ext(flow)) + "_test" + ending
}

// FlowOf returns the name of the only flow in the same folder that matches a scenario file:
// sign_in.yaml, sign_in.yml or sign_in.json for sign_in_test.yaml.
func FlowOf(files Files, scenarios string) (string, error) {
	stem, ok := strings.CutSuffix(strings.TrimSuffix(scenarios, filepath.Ext(scenarios)), "_test")
	if !ok {
		return "", fmt.Errorf("%s: the file name does not identify a flow: expected %s, or a member `flow`", scenarios, ScenarioFiles)
	}
	var names, found []string
	entries, _ := files.ReadDir(filepath.Dir(scenarios)) // an unreadable folder contains none
	for _, ending := range flowEndings() {
		name := filepath.Base(stem) + ending
		names = append(names, name)
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s: no flow next to it has its name: expected one of %s, or a member `flow`", scenarios, strings.Join(names, ", "))
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s: several flows next to it have its name, %s: select one with a member `flow`", scenarios, strings.Join(found, " and "))
}

// Faults returns problems as one error with a line for each, which starts with its position.
func Faults(where string, problems []schemas.Problem) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		between := ": "
		if p.Line > 0 {
			between = ":" // editors recognize file:line:column
		}
		errs[i] = errors.New(where + between + p.String())
	}
	return errors.Join(errs...)
}
