// Package recipes contains flows for common needs with their scenario tests, which authors copy and
// change. Some of them are built-in flows.
package recipes

import (
	"cmp"
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/schemas"
)

//go:embed *.yaml user-types
var files embed.FS

// Recipe is a flow for a common need.
type Recipe struct {
	Name string // the handle of the flow, such as terms-of-service
	When string // when to use it, in Markdown

	// Flow and Scenarios are the texts of the files.
	Flow, Scenarios []byte

	// UserType is the name of a file in the folder user-types with attributes that the flow needs.
	UserType string

	// Path is the path of the flow's file, from the root of the repository.
	Path string
}

// FileName returns the name of the flow's file, such as terms_of_service.yaml.
func (r *Recipe) FileName() string { return strings.ReplaceAll(r.Name, "-", "_") + ".yaml" }

// All returns the recipes in the order of docs/recipes.md.
var All = sync.OnceValue(func() []Recipe {
	all := list()
	for i := range all {
		if err := all[i].read(); err != nil {
			panic(err) // the binary lacks a file
		}
	}
	return all
})

// read reads the files of the recipe.
func (r *Recipe) read() (err error) {
	name := r.FileName()
	if r.Flow, err = flows.ReadFile(name); err == nil {
		r.Path = "flows/" + name
		r.Scenarios, err = flows.ReadFile(flows.ScenariosOf(name))
		return err
	}
	r.Path = "flows/recipes/" + name
	if r.Flow, err = files.ReadFile(name); err != nil {
		return err
	}
	r.Scenarios, err = files.ReadFile(flows.ScenariosOf(name))
	return err
}

// UserTypeText returns the text of the file UserType.
func (r *Recipe) UserTypeText() ([]byte, error) { return files.ReadFile("user-types/" + r.UserType) }

// Find returns the recipe of a name. The error suggests the most similar name.
func Find(name string) (*Recipe, error) {
	var names []string
	for _, r := range All() {
		if r.Name == name {
			return &r, nil
		}
		names = append(names, r.Name)
	}
	hint := cmp.Or(schemas.Hint(name, names), "; `postern flow new --list` lists them")
	return nil, fmt.Errorf("there is no recipe %q%s", name, hint)
}
