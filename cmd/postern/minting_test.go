package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mintingPlaces lists the files that make what signs a user in. Only a run of the engine knows what a
// user has proved, so the assertion, the session and the grant of a sign-in come from the node
// at the end of a run. The others pass on what such a run has stored, or state why they need none.
func mintingPlaces() map[string][]string {
	return map[string][]string{
		"Assert": {"nodes/authorization_code.go"},
		"StartSession": {
			"nodes/authorization_code.go",
			"cmd/postern/token.go", // the operator, who has the store and its keys: without a class and methods
		},
		"Grant": {
			"nodes/authorization_code.go",
			"server/oauth/callback.go", // of the session of an assertion
		},
		"Access": {
			"server/oauth/issue.go",              // of a grant
			"server/oauth/client_credentials.go", // without a user
			"cmd/postern/token.go",
		},
		"IDToken": {"server/oauth/issue.go"},
	}
}

// No other place makes what signs a user in.
func TestOnlyRunsSignUsersIn(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"node_modules", "testdata", ".git"}, entry.Name()):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		if strings.HasPrefix(file, "flows/flowtest/") || strings.HasPrefix(file, "internal/store/storetest/") {
			return nil // they are parts of tests
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for name := range minted(parsed) {
			found[name] = append(found[name], file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, places := range mintingPlaces() {
		slices.Sort(places)
		slices.Sort(found[name])
		if !slices.Equal(found[name], places) {
			t.Errorf("%s is used in %v, expected %v: a sign-in must come from a run of the engine", name, found[name], places)
		}
	}
}

// isLiteral returns the function that reports whether an expression is a value of a type of that name, of
// any package.
func isLiteral(name string) func(ast.Expr) bool {
	return func(e ast.Expr) bool {
		literal, ok := e.(*ast.CompositeLit)
		if !ok {
			return false
		}
		of, ok := literal.Type.(*ast.SelectorExpr)
		return ok && of.Sel.Name == name
	}
}

// minted returns which of the functions and values of mintingPlaces a file uses.
func minted(file *ast.File) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr: // x.Assert(ctx, …), x.Access(ctx, token.Claims{…})
			f, ok := n.Fun.(*ast.SelectorExpr)
			if ok && (f.Sel.Name == "Assert" || slices.Contains([]string{"Access", "IDToken"}, f.Sel.Name) && slices.ContainsFunc(n.Args, isLiteral("Claims"))) {
				names[f.Sel.Name] = true
			}
		case *ast.CompositeLit:
			for _, name := range []string{"StartSession", "Grant"} {
				if isLiteral(name)(n) {
					names[name] = true
				}
			}
		}
		return true
	})
	return names
}
