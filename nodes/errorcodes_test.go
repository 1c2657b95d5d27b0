package nodes

import (
	"go/ast"
	"go/parser"
	"go/token"
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
	for _, name := range codeNames(t, filepath.Join("..", "engine", "errorcodes.go"), nil) {
		declared[name] = true
	}
	for _, file := range files {
		for _, name := range codeNames(t, file, func(n ast.Node) ast.Node {
			if list, ok := n.(*ast.CompositeLit); ok && isNamedType(list.Type, "errorCodes") {
				return list
			}
			return nil
		}) {
			declared[name] = true
		}
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "enrollment.go" {
			continue
		}
		for _, name := range codeNames(t, file, func(n ast.Node) ast.Node {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return nil
			}
			if selector, ok := call.Fun.(*ast.SelectorExpr); !ok || selector.Sel.Name != "Errorf" {
				return nil
			}
			return call.Args[1]
		}) {
			if found++; !declared[name] && name != "" {
				t.Errorf("%s makes errors with %s, which no kind declares", file, name)
			}
		}
	}
	if found < 20 {
		t.Errorf("the nodes make %d errors", found)
	}
}

func isNamedType(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// codeNames returns the constants of codes in the parts of a file, or in all of it.
func codeNames(t *testing.T, file string, parts func(ast.Node) ast.Node) (names []string) {
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
		if parts == nil {
			return collect(n)
		}
		if part := parts(n); part != nil {
			ast.Inspect(part, collect)
		}
		return true
	})
	return names
}

// No kind declares a code twice, and none is empty.
func TestErrorCodesDiffer(t *testing.T) {
	for name, kind := range Kinds(Deps{}) {
		for i, code := range kind.Codes {
			if code == "" || slices.Contains(kind.Codes[:i], code) {
				t.Errorf("%s: the code %q", name, code)
			}
		}
	}
	if len(engine.CommonCodes()) == 0 {
		t.Error("there are no common codes")
	}
}
