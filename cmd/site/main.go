// Command site writes the documentation as a static website.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/draw"
	"github.com/postern-id/postern/flows/recipes"
	"github.com/postern-id/postern/internal/site"
	"github.com/postern-id/postern/nodes"
)

func main() {
	out := flag.String("out", "bin/site", "the folder to write")
	flag.Parse()
	files, err := site.Build(os.DirFS("."), drawRecipe)
	if err == nil {
		err = files.Write(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d files in %s; open %[2]s/index.html\n", len(files), *out)
}

// drawRecipe draws the flows of the page of recipes.
func drawRecipe(source, name string) (string, error) {
	if source != "docs/recipes.md" {
		return "", nil
	}
	recipe, err := recipes.Find(name)
	if err != nil {
		return "", err
	}
	_, graph, problems := engine.Check(recipe.Flow, true, nodes.Kinds(nodes.Deps{}))
	if graph == nil {
		return "", fmt.Errorf("%s: %v", recipe.Path, problems)
	}
	return draw.SVG(graph, draw.Options{}), nil
}
