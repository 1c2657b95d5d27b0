package nodes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
)

// Every code with which a node makes an error is declared by a kind, or common to all. Enrollment
// serves the API and is no node.
func TestErrorCodesAreDeclared(t *testing.T) {
	declared := map[string]bool{}
	files := datatest.Glob(t, "*.go")
	tables := map[string]bool{"errorcodes.go": true, filepath.Join("..", "engine", "errorcodes.go"): true}
	for table := range tables {
		for _, name := range codeNames(t, table, nil) {
			declared[name] = true
		}
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || tables[file] || file == "enrollment.go" {
			continue
		}
		for _, name := range codeNames(t, file, func(call *ast.CallExpr) bool {
			selector, ok := call.Fun.(*ast.SelectorExpr)
			return ok && selector.Sel.Name == "Errorf"
		}) {
			if found++; !declared[name] && name != "" {
				t.Errorf("%s makes errors with %s, which no kind in errorcodes.go declares", file, name)
			}
		}
	}
	if found < 20 {
		t.Errorf("the nodes make %d errors", found)
	}
}

// codeNames returns the constants of codes in a file, or those that are arguments of the calls.
func codeNames(t *testing.T, file string, calls func(*ast.CallExpr) bool) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	collect := func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(strings.ToLower(id.Name), "code") && len(id.Name) > 4 {
			names = append(names, id.Name)
		}
		return true
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		switch {
		case calls == nil:
			collect(n)
		case ok && calls(call) && len(call.Args) > 1:
			ast.Inspect(call.Args[1], collect)
		}
		return true
	})
	return names
}

// The table is of kinds that exist, which have its codes.
func TestErrorCodesAreOfKinds(t *testing.T) {
	kinds := Kinds(Deps{})
	for name, codes := range maps.All(errorCodes()) {
		if kinds[name] == nil || !slices.Equal(kinds[name].Codes, codes) {
			t.Errorf("the kind %s does not declare %v", name, codes)
		}
		for _, code := range codes {
			if code == "" || slices.Contains(codes[:slices.Index(codes, code)], code) {
				t.Errorf("%s: the code %q", name, code)
			}
		}
	}
	if len(engine.CommonCodes()) == 0 {
		t.Error("there are no common codes")
	}
}
