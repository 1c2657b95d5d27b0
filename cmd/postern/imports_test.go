package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/postern-id/postern/"

// allowedImports lists which packages of this module each package may import. A folder
// that is not listed belongs to the nearest listed folder above it. Test files may also
// import what testImports lists.
func allowedImports() map[string][]string {
	return map[string][]string{
		"schemas":                      {},
		"engine":                       {"schemas"},
		"internal/passkey":             {"schemas"},
		"internal/passkey/passkeytest": {"schemas", "internal/passkey"},
		"internal/password":            {"schemas"},
		"internal/totp":                {"schemas"},
		"internal/signins":             {"schemas"},
		"internal/throttle":            {"schemas"},
		"internal/store":               {"schemas", "internal/recent"},
		"internal/store/storetest":     {"schemas", "internal/store"},
		"internal/backup":              {"schemas", "internal/store", "internal/folder"},
		"internal/token":               {"schemas", "internal/recent", "internal/folder"},
		"internal/design":              {},
		"internal/document":            {},
		"internal/recent":              {},
		"internal/folder":              {},
		"internal/telemetry":           {},
		"internal/outbound":            {"schemas", "internal/throttle"},
		"internal/delivery":            {"schemas"},
		"internal/jwtverify":           {"schemas"},
		"internal/federation":          {"schemas", "internal/claims", "internal/outbound", "internal/jwtverify"},
		"internal/translations":        {"internal/folder"},
		"internal/mail":                {"schemas", "internal/design", "internal/delivery", "internal/translations"},
		"internal/notice":              {"schemas", "internal/delivery"},
		"internal/target":              {"schemas", "internal/delivery", "internal/outbound"},
		"internal/config":              {"schemas", "internal/throttle", "internal/folder"},
		"internal/logtest":             {},
		"internal/porttest":            {},
		"internal/datatest":            {},
		"internal/simulation":          {},
		"internal/stacks":              {},
		"internal/expr":                {"schemas"},
		"internal/claims":              {"schemas", "internal/recent", "internal/expr"},
		"internal/directory":           {"schemas", "internal/claims", "internal/password", "internal/store", "internal/throttle", "internal/jwtverify"},
		"internal/declare":             {"schemas", "internal/directory", "internal/folder"},
		"internal/importer":            {"schemas", "internal/claims", "internal/passkey", "internal/password", "internal/totp", "internal/store", "internal/directory", "internal/declare", "internal/folder"},
		"nodes":                        {"engine", "schemas", "internal/claims", "internal/expr", "internal/passkey", "internal/password", "internal/totp", "internal/federation"},
		"flows":                        {"engine", "nodes", "schemas", "internal/translations", "internal/folder"},
		"flows/rules":                  {"engine", "schemas"},
		"flows/chains":                 {"engine", "schemas"},
		"flows/diff":                   {"engine", "schemas"},
		"flows/draw":                   {"engine", "schemas", "internal/design"},
		"flows/findings":               {"flows", "flows/rules", "engine", "schemas"},
		"flows/recipes":                {"flows", "flows/draw", "flows/findings", "engine", "nodes", "schemas"},
		"flows/flowtest":               {"flows", "engine", "nodes", "schemas", "internal/passkey", "internal/passkey/passkeytest", "internal/password", "internal/totp", "internal/federation", "internal/federation/federationtest"},
		"flows/syntax":                 {},
		"flows/format":                 {"flows/syntax", "schemas"},
		"flows/lsp":                    {"flows", "flows/draw", "flows/findings", "flows/flowtest", "flows/format", "flows/rules", "flows/studio", "flows/syntax", "engine", "nodes", "schemas"},
		"flows/play":                   {"flows/flowtest", "schemas"},
		"flows/studio":                 {"flows", "flows/diff", "flows/flowtest", "engine", "nodes", "schemas"},
		"server/runs":                  {"engine", "schemas"},
		"server/oauth":                 {"engine", "schemas", "internal/claims", "server/runs", "internal/document", "internal/document", "internal/jwtverify", "internal/token", "internal/directory", "internal/outbound", "internal/delivery"},
		"server":                       {"engine", "flows", "flows/chains", "schemas", "internal/passkey", "internal/token", "internal/config", "internal/design", "internal/directory", "internal/throttle", "internal/document", "internal/recent", "internal/signins", "internal/telemetry", "internal/translations", "server/oauth", "server/openapi", "server/runs"},
		"server/console":               {"internal/document"},
		"server/console/wasm":          {"flows/studio"},
		"server/gate":                  {"internal/design", "internal/document", "internal/translations"},
		"server/openapi":               {"internal/design"},
		"mcp":                          {"engine", "flows", "flows/draw", "schemas", "internal/directory", "internal/document", "internal/throttle", "examples/react"},
		"bootstrap":                    {"flows", "flows/chains", "schemas", "internal/password", "internal/directory", "internal/declare", "internal/folder"},
		"examples":                     {"internal/design"},
		"examples/react":               {"schemas"},
		"internal/site":                {"internal/design"},
		"cmd/site":                     {"internal/site", "engine", "flows/draw", "flows/recipes", "nodes"},
		"e2e":                          {"examples/react", "internal/design", "internal/site", "internal/stacks"},
		"e2e/load":                     {"schemas", "internal/design", "internal/store", "internal/store/storetest", "internal/passkey", "internal/passkey/passkeytest", "internal/porttest"},
		"cmd/postern":                  {"*"},
		"deploy/sbom":                  {},

		"internal/federation/federationtest": {"schemas", "internal/outbound", "internal/federation"},
	}
}

// testImports lists what the tests of every package may import: conformance suites,
// software authenticators, and the packages that these need.
func testImports() []string {
	return []string{"schemas", "internal/claims", "internal/signins", "internal/logtest", "internal/porttest", "internal/datatest", "engine", "flows/chains", "flows/studio", "internal/passkey", "internal/passkey/passkeytest", "internal/store", "internal/store/storetest", "flows/flowtest", "nodes", "internal/password", "internal/totp", "internal/token", "internal/federation", "internal/federation/federationtest"}
}

// Imports point from the top of the table in CONTRIBUTING.md to its bottom. The test reads
// the files itself instead of calling `go list`, so that the test cache notices changes.
func TestImportsFollowTheLayers(t *testing.T) {
	root := filepath.Join("..", "..")
	table := allowedImports()
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files++
		pkg := packageOf(filepath.ToSlash(filepath.Dir(rel)), table)
		if pkg == "" {
			t.Errorf("%s belongs to no listed package; add its package to this test and to CONTRIBUTING.md", rel)
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		allowed := append(slices.Clone(table[pkg]), pkg)
		if strings.HasSuffix(path, "_test.go") {
			allowed = append(allowed, testImports()...)
		}
		for _, spec := range f.Imports {
			imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if ours && !slices.Contains(allowed, "*") && !slices.Contains(allowed, packageOf(imported, table)) {
				t.Errorf("%s imports %s: %s may import %v", rel, imported, pkg, table[pkg])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("only %d files were read", files)
	}
}

// packageOf returns the listed package of a folder: the longest listed path above it.
func packageOf(dir string, table map[string][]string) string {
	for ; dir != "." && dir != "/"; dir = filepath.ToSlash(filepath.Dir(dir)) {
		if _, listed := table[dir]; listed {
			return dir
		}
	}
	return ""
}
