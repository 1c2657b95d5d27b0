package flowtest

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// Load reads a scenario file. The error lists all problems with line and column, or
// reports that the file names no flow and none has the matching name.
func Load(path string) (*File, error) {
	text, err := flows.Disk{}.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, problems, err := parse(flows.Disk{}, path, text)
	if len(problems) > 0 {
		return nil, flows.Faults(path, problems)
	}
	return f, err
}

// parse reads the text of a scenario file and makes the checks that do not need the flow.
// The error reports that the file names no flow and none has the matching name.
func parse(files flows.Files, path string, text []byte) (*File, []schemas.Problem, error) {
	f := &File{files: files, path: path}
	problems := f.decode(text)
	if len(problems) == 0 {
		problems = f.locate(f.checkNames())
	}
	var err error
	if len(problems) == 0 && f.Flow == "" {
		f.Flow, err = flows.FlowOf(files, path)
	}
	return f, problems, err
}

// decode reads the text of a file, with a scenario for each row of a table.
func (f *File) decode(text []byte) []schemas.Problem {
	doc, problems := schemas.ParseYAML(text)
	if len(problems) > 0 {
		return problems
	}
	f.expansion = expand(doc)
	if f.doc = f.expansion.doc; len(f.expansion.problems) > 0 {
		return f.locate(f.expansion.problems)
	}
	return f.locate(f.doc.Decode(strictSchema(), f))
}

// Check checks a scenario file without running it. It returns the number of scenarios, and all
// problems; some are warnings. If the flow compiles, Check looks up the expected steps and errors
// in it. It looks up attributes in the user types of the folder. It does not report errors in the
// flow.
func Check(path string, text []byte) (scenarios int, problems []schemas.Problem) {
	return CheckIn(flows.Disk{}, path, text)
}

// CheckIn is Check for other files than those of the disk.
func CheckIn(files flows.Files, path string, text []byte) (scenarios int, problems []schemas.Problem) {
	f, problems, err := parse(files, path, text)
	if err != nil {
		problems = []schemas.Problem{{Message: strings.TrimPrefix(err.Error(), path+": "), Line: 1, Column: 1}}
	}
	if len(problems) > 0 {
		return 0, problems
	}
	flow, err := f.definition()
	if err != nil {
		problems = []schemas.Problem{problem("flow", "there is no flow %q; expected its path from this file", f.Flow)}
	} else {
		problems = f.checkAgainst(flow, flow.UserTypes)
	}
	problems = f.locate(problems)
	if slices.ContainsFunc(problems, func(p schemas.Problem) bool { return !p.Warning }) {
		return 0, problems
	}
	return len(f.Scenarios), problems
}

// checkAgainst finds names and codes that the flow does not have, if it compiles.
func (f *File) checkAgainst(flow *Definition, types []schemas.UserType) []schemas.Problem {
	_, graph, _ := engine.CheckUsing(flow.Text, !flow.JSON, nodes.Kinds(nodes.Deps{}), flow.Subflows)
	if graph == nil {
		return nil
	}
	return slices.Concat(f.checkGraphNames(graph), f.checkErrorCodes(graph), f.checkAttributes(graph, types))
}

// FlowPath returns the path of the flow that the scenarios test.
func (f *File) FlowPath() string { return filepath.Join(filepath.Dir(f.path), f.Flow) }

// place returns the position of a value in the file.
func (f *File) place(path string) (line, column int) {
	at := f.doc.Locate([]schemas.Problem{{Path: path}})[0]
	return at.Line, at.Column
}
