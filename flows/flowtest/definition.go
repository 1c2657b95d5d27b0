package flowtest

import (
	"cmp"
	"slices"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/schemas"
)

// Definition is the text of a flow, with the sub-flows and user types that it can use.
type Definition struct {
	Text      []byte
	JSON      bool // otherwise the text is YAML
	Subflows  schemas.Subflows
	UserTypes []schemas.UserType // without Person, the built-in type of that name applies
}

// definition returns the flow of the file.
func (f *File) definition() (*Definition, error) {
	if f.flow != nil {
		return f.flow, nil
	}
	return readDefinition(cmp.Or[flows.Files](f.files, flows.Disk{}), f.FlowPath())
}

// ReadDefinition reads a flow file. The flow can use the sub-flows and user types around it.
func ReadDefinition(path string) (*Definition, error) { return readDefinition(flows.Disk{}, path) }

func readDefinition(files flows.Files, path string) (*Definition, error) {
	text, err := files.ReadFile(path)
	types := flows.UserTypes{Files: files}
	return &Definition{text, flows.IsJSON(path), flows.NewSubflowResolverIn(files).ForFile(path), types.ForFile(path)}, err
}

// Parse reads the text of a scenario file for a flow that need not be in a file. The file is nil if
// there are problems other than warnings.
func Parse(flow Definition, text []byte) (*File, []schemas.Problem) {
	f := &File{flow: &flow}
	problems := f.decode(text)
	if len(problems) == 0 {
		problems = f.locate(slices.Concat(f.checkNames(), f.checkAgainst(&flow, flow.UserTypes)))
	}
	if slices.ContainsFunc(problems, func(p schemas.Problem) bool { return !p.Warning }) {
		return nil, problems
	}
	return f, problems
}
