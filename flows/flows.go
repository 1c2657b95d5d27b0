// Package flows holds the flows Postern comes with, as YAML files with their
// scenario tests beside them, and the catalogue that finds compiled flows by id
// and version.
package flows

import (
	"embed"
	"io/fs"
	"path"

	"github.com/postern-id/postern/schemas"
)

//go:embed *.yaml
var files embed.FS

// Builtin returns the flows Postern comes with, in the order of their files'
// names. They have no ids yet.
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
