package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// errorCode is a code in the source, with the HTTP statuses of the calls that make an error with it.
type errorCode struct {
	statuses map[string]bool
	oauth    bool // only server/oauth defines it
}

// errorCodes are the codes of a source tree by their value.
type errorCodes struct {
	found  map[string]*errorCode
	values map[string]string // of constants by package and name, "schemas.CodeInUse"
}

var (
	codeName  = regexp.MustCompile(`^[Cc]ode[A-Z]\w*$`)
	codeValue = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
)

// isCodeName reports whether a constant is an error code, not the name of an input with a code.
func isCodeName(name string) bool {
	return codeName.MatchString(name) && !strings.HasSuffix(name, "Input")
}

// statusOfClass maps the names of the classes in package schemas to HTTP statuses.
func statusOfClass() map[string]string {
	return map[string]string{
		"Internal": "500", "Invalid": "400", "Unauthenticated": "401", "Forbidden": "403", "NotFound": "404",
		"Conflict": "409", "Precondition": "412", "TooLarge": "413", "Throttled": "429", "Unavailable": "503",
	}
}

// add notes a code, and the class of an error with it; "" if the class is not known.
func (c *errorCodes) add(code, pkg, class string) {
	if !codeValue.MatchString(code) {
		return
	}
	e := c.found[code]
	if e == nil {
		e = &errorCode{statuses: map[string]bool{}, oauth: true}
		c.found[code] = e
	}
	e.oauth = e.oauth && pkg == "oauth"
	if status := statusOfClass()[class]; status != "" {
		e.statuses[status] = true
	}
}

// readConstants collects the constants of a file that are codes.
func (c *errorCodes) readConstants(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		for i := 0; ok && i < min(len(spec.Names), len(spec.Values)); i++ {
			if value, isText := literal(spec.Values[i]); isText && isCodeName(spec.Names[i].Name) {
				c.values[file.Name.Name+"."+spec.Names[i].Name] = value
				c.add(value, file.Name.Name, "")
			}
		}
		return true
	})
}

// readCalls collects the codes of the calls of a file that make errors, and those of resources:
// role_not_found and role_exists of newTable("role", "role_not_found", …).
func (c *errorCodes) readCalls(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			return true
		}
		switch name := lastName(call.Fun); name {
		case "Errorf":
			if statusOfClass()[lastName(call.Args[0])] == "" {
				return true // of another package
			}
			c.add(c.value(file.Name.Name, call.Args[1]), file.Name.Name, lastName(call.Args[0]))
		case "newTable":
			noun, _ := literal(call.Args[0])
			c.add(c.value(file.Name.Name, call.Args[1]), file.Name.Name, "NotFound")
			c.add(strings.ReplaceAll(noun, " ", "_")+"_exists", file.Name.Name, "Conflict")
		}
		return true
	})
}

// value returns the value of a code, a literal or a constant; "" for any other expression.
func (c *errorCodes) value(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return c.values[pkg+"."+e.Name]
	case *ast.SelectorExpr:
		return c.values[lastName(e.X)+"."+e.Sel.Name]
	}
	text, _ := literal(e)
	return text
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

// lastName returns the name of an identifier, with or without a package; "" for any other
// expression.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// codesOfSource returns the codes in the shipped source.
func codesOfSource(t *testing.T) map[string]*errorCode {
	t.Helper()
	codes := errorCodes{found: map[string]*errorCode{}, values: map[string]string{}}
	var files []*ast.File
	for _, root := range []string{"schemas", "engine", "nodes", "internal", "server", "mcp"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			files = append(files, file)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		codes.readConstants(file)
	}
	for _, file := range files {
		codes.readCalls(file)
	}
	return codes.found
}

// docs/errors.md lists the codes of all errors, with the statuses that the source gives them.
func TestDocsListErrorCodes(t *testing.T) {
	sequential(t)
	text := datatest.ReadFile(t, "../../docs/errors.md")
	api, oauth, found := strings.Cut(string(text), "\n## OAuth\n")
	if !found {
		t.Fatal("docs/errors.md has no section OAuth")
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]*) \\| ([^|]+) \\|")
	listed := map[string]string{}
	for _, section := range []string{api, oauth} {
		for _, row := range rows.FindAllStringSubmatch(section, -1) {
			listed[row[1]] = row[2]
		}
	}
	codes := codesOfSource(t)
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		statuses, ok := listed[code]
		if !ok {
			t.Errorf("docs/errors.md lacks a row: | `%s` | %s | MEANING |", code, strings.Join(slices.Sorted(maps.Keys(codes[code].statuses)), ", "))
			continue
		}
		if in := strings.Contains(oauth, "| `"+code+"` |"); in != codes[code].oauth {
			t.Errorf("%s is in the wrong section of docs/errors.md: only server/oauth defines it: %v", code, codes[code].oauth)
		}
		for status := range codes[code].statuses {
			// The router overrides the status of this code.
			if !strings.Contains(statuses, status) && code != "method_not_allowed" {
				t.Errorf("docs/errors.md: %s has the statuses %s, and the source also gives it %s", code, statuses, status)
			}
		}
	}
	for code := range listed {
		if codes[code] == nil {
			t.Errorf("docs/errors.md lists %s, which no error of the source has", code)
		}
	}
}
