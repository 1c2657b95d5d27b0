package claims_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// The names of sources, targets and scopes are listed in one place each: no other list of the program names them all, which a
// new one would have to be added to.
func TestNamesAreListedOnce(t *testing.T) {
	var sources, targets, scopes []string
	for _, s := range claims.Sources() {
		sources = append(sources, s.Name)
	}
	for _, target := range claims.Targets() {
		targets = append(targets, target.Name)
	}
	for _, s := range schemas.AllIdentityScopes() {
		scopes = append(scopes, s.Name)
	}
	root := "../.."
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && slices.Contains([]string{"node_modules", ".git", "testdata", "dist", "bin"}, entry.Name()) {
			return skipDirectory(err)
		}
		inside, _ := filepath.Rel(root, path)
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || inside == "internal/claims/source.go" || inside == "schemas/claim.go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for what, names := range map[string][]string{"sources": sources, "targets": targets, "scopes": scopes} {
			if found := namesIn(t, path, text, names); len(found) >= len(names)-1 {
				t.Errorf("%s names the %s %q; read them from their list", inside, what, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func skipDirectory(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

// namesIn returns the names that are string literals of one list, switch or map in a Go file.
func namesIn(t *testing.T, path string, text []byte, names []string) (most []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CompositeLit, *ast.SwitchStmt:
		default:
			return true
		}
		var found []string
		ast.Inspect(n, func(part ast.Node) bool {
			if literal, is := part.(*ast.BasicLit); is && literal.Kind == token.STRING {
				if name, err := strconv.Unquote(literal.Value); err == nil && slices.Contains(names, name) && !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
			return true
		})
		if len(found) > len(most) {
			most = found
		}
		return true
	})
	return most
}
