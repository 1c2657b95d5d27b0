package main

import (
	"os"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/site"
)

// The site shows a drawing of each recipe.
func TestRecipesAreDrawn(t *testing.T) {
	files, err := site.Build(os.DirFS("../.."), drawRecipe)
	if err != nil {
		t.Fatal(err)
	}
	page, drawings := string(files["recipes.html"]), 0
	for name, text := range files {
		if !strings.HasPrefix(name, "recipes-") {
			continue
		}
		drawings++
		if !strings.Contains(page, `<img src="`+name+`" alt="The graph of the flow `) || !strings.Contains(string(text), "data-node=") {
			t.Errorf("%s is not shown, or no drawing: %.80s", name, text)
		}
	}
	if drawings < 12 {
		t.Errorf("%d drawings", drawings)
	}
	if _, err := drawRecipe("docs/recipes.md", "terms-of-servise"); err == nil || !strings.Contains(err.Error(), "terms-of-service") {
		t.Errorf("an unknown recipe: %v", err)
	}
}
