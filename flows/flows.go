// Package flows contains the built-in flows as YAML files with their scenario tests, and the
// catalog of compiled flows.
package flows

import (
	"embed"
	"io/fs"
	"path"

	"github.com/postern-id/postern/schemas"
)

//go:embed *.yaml
var files embed.FS

// ReadFile returns the text of a built-in flow or of its scenarios, such as sign_in.yaml. The error
// is fs.ErrNotExist for any other name.
func ReadFile(name string) ([]byte, error) { return files.ReadFile(name) }

// Builtin returns the built-in flows, in the order of their file names. They have no IDs yet.
func Builtin() ([]schemas.Flow, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	var list []schemas.Flow
	for _, name := range names {
		if !IsFlow(name) {
			continue
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		flow, _, problems := schemas.ParseFlow(text, true)
		if len(problems) > 0 {
			return nil, Faults(path.Join("flows", name), problems)
		}
		list = append(list, *flow)
	}
	return list, nil
}
