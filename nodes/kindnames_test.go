package nodes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
)

// The program knows a kind by what the kind declares, not by its name. testdata/kindnames.txt lists the
// places that still know names, each with what it does; a line can only be removed. Importers and seeds
// write flows, for which they need names; messages and examples may contain names.
func TestKindsAreKnownByTheirDeclarations(t *testing.T) {
	listed := map[string]bool{}
	for line := range strings.Lines(string(datatest.ReadFile(t, "testdata/kindnames.txt"))) {
		place, reason, explained := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case strings.HasPrefix(line, "#"):
		case !explained || reason == "":
			t.Errorf("testdata/kindnames.txt: %q does not say what the place does", line)
		default:
			listed[place] = true
		}
	}
	found := kindNames(t, "..")
	for _, place := range found {
		if !listed[place] {
			t.Errorf("%s knows a kind by its name; let the kind declare what the place needs", place)
		}
	}
	for place := range listed {
		if !slices.Contains(found, place) {
			t.Errorf("testdata/kindnames.txt: %s is no longer a place that knows the name; remove the line", place)
		}
	}
	if len(scannedFiles(t, "..")) < 500 {
		t.Errorf("only %d files were read", len(scannedFiles(t, "..")))
	}
}

// kindNames lists the places below a folder that know a kind by its name: "path name".
func kindNames(t *testing.T, root string) (places []string) {
	t.Helper()
	kinds := Kinds(Deps{})
	add := func(path, name string) {
		name, outcome, whole := strings.Cut(name, " ")
		if kinds[name] == nil || whole && !slices.ContainsFunc(outcomesOf(kinds[name]), isNamed(outcome)) {
			return
		}
		path = filepath.ToSlash(must(filepath.Rel(root, path)))
		if place := path + " " + name; !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	for _, path := range scannedFiles(t, root) {
		for _, name := range namesIn(t, path) {
			if declares := filepath.Base(path) == strings.ReplaceAll(name, "-", "_")+".go"; !declares || filepath.Dir(path) != filepath.Join(root, "nodes") {
				add(path, name)
			}
		}
	}
	slices.Sort(places)
	return places
}

// scannedFiles lists the files with code of the product.
func scannedFiles(t *testing.T, root string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"node_modules", "testdata", "dist", "importer", "bootstrap", "examples", ".git"}, name):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"), strings.Contains(name, ".test."), strings.HasSuffix(name, ".d.ts"):
		case slices.Contains([]string{".go", ".ts", ".tsx", ".js", ".mjs"}, filepath.Ext(name)):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// quotedName is a name in a program that is not Go.
var quotedName = regexp.MustCompile("[\"'`]([a-z]+(?:-[a-z]+)+)[\"'`]|(?:kind|use) [!=]==? [\"']([a-z]+)[\"']")

// namesIn lists the texts of a file that can be names of kinds: those with a dash, which mean nothing else,
// and others that are compared with the kind of a node.
func namesIn(t *testing.T, path string) (names []string) {
	t.Helper()
	if filepath.Ext(path) != ".go" {
		for _, m := range quotedName.FindAllStringSubmatch(string(datatest.ReadFile(t, path)), -1) {
			names = append(names, m[1]+m[2])
		}
		return names
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	compared := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			compared[n.X], compared[n.Y] = compared[n.X] || isKind(n.Y), compared[n.Y] || isKind(n.X)
		case *ast.SwitchStmt:
			for _, clause := range n.Body.List {
				for _, value := range clause.(*ast.CaseClause).List {
					compared[value] = compared[value] || isKind(n.Tag)
				}
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && (compared[n] || strings.Contains(text, "-")) {
				names = append(names, text)
			}
		}
		return true
	})
	return names
}

// isKind reports whether an expression is the kind of a node.
func isKind(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	case *ast.IndexExpr:
		if key, ok := e.Index.(*ast.BasicLit); ok {
			name = strings.Trim(key.Value, `"`)
		}
	case *ast.CallExpr:
		if len(e.Args) == 1 {
			if key, ok := e.Args[0].(*ast.BasicLit); ok {
				name = strings.Trim(key.Value, `"`)
			}
		}
	}
	return slices.Contains([]string{"kind", "Kind", "use", "Use"}, name)
}

// isNamed returns whether an outcome has the name.
func isNamed(name string) func(engine.Outcome) bool {
	return func(o engine.Outcome) bool { return o.Name() == name }
}
