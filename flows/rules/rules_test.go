package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/flows/rules"
	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// Each bad example breaks its rule once and no other, and each good example none.
func TestExamples(t *testing.T) {
	for _, r := range rules.All() {
		t.Run(r.ID, func(t *testing.T) {
			if bad := check(t, r, r.Bad); len(bad) != 1 || bad[0].Rule != r.ID {
				t.Errorf("the bad example: %v", bad)
			}
			if good := check(t, r, r.Good); len(good) != 0 {
				t.Errorf("the good example: %v", good)
			}
			for name, text := range map[string]string{"title": r.Title, "why": r.Why, "fix": r.Fix} {
				if len(text) < 20 {
					t.Errorf("its %s is %q", name, text)
				}
			}
		})
	}
}

func check(t *testing.T, r rules.Rule, text string) []schemas.Problem {
	if r.ID == schemas.RuleClaim {
		return checkClaims(t, text)
	}
	if r.ID != rules.Scenario {
		_, _, problems := engine.Check([]byte(text), true, nodes.Kinds(nodes.Deps{}))
		return problems
	}
	dir := t.TempDir()
	datatest.WriteFile(t, filepath.Join(dir, "sign_in.yaml"), "")
	_, problems := flowtest.Check(filepath.Join(dir, "sign_in_test.yaml"), []byte(text))
	for i := range problems {
		problems[i].Rule = rules.Scenario
	}
	return problems
}

// checkClaims checks the example of an application whose users have the type Person.
func checkClaims(t *testing.T, text string) (problems []schemas.Problem) {
	doc, problems := schemas.ParseYAML([]byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var a schemas.Application
	if problems := doc.Decode(schemas.ApplicationSchema(), &a); len(problems) > 0 {
		t.Fatal(problems)
	}
	person := schemas.Person()
	system := claims.System{Applications: map[string]*schemas.Application{"": &a}, Types: map[string]*schemas.UserType{person.ID: &person}, SendsMail: true}
	for _, c := range system.Settings().All() {
		problems = append(problems, claims.Problem(&c))
	}
	return problems
}

// The catalog contains every rule that the code names, and the code names each by a constant.
func TestCatalogIsComplete(t *testing.T) {
	var reported []string
	for _, r := range rules.All() {
		if slices.Contains(reported, r.ID) {
			t.Errorf("%s is listed twice", r.ID)
		}
		reported = append(reported, r.ID)
	}
	var named []string
	for _, space := range []string{"../../schemas", "../../engine", "../../nodes"} {
		for _, file := range datatest.Glob(t, filepath.Join(space, "*.go")) {
			if !strings.HasSuffix(file, "_test.go") {
				named = append(named, rulesIn(t, file)...)
			}
		}
	}
	for _, id := range named {
		if !slices.Contains(reported, id) {
			t.Errorf("the rule %q is not in the catalog", id)
		}
	}
	if len(named)+1 != len(reported) { // and the rule of scenarios
		t.Errorf("the code has the rules %q, and the catalog %q", named, reported)
	}
}

// rulesIn returns the values of the constants named Rule… in a file. A rule given as a literal
// would be missing from the catalog.
func rulesIn(t *testing.T, file string) (ids []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if text, ok := literal(n.Values, i); ok && strings.HasPrefix(name.Name, "Rule") {
					ids = append(ids, text)
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Rule" {
				if text, ok := literal([]ast.Expr{n.Value}, 0); ok {
					t.Errorf("%s names the rule %q by text; use a constant", file, text)
				}
			}
		case *ast.CallExpr:
			if call, ok := n.Fun.(*ast.SelectorExpr); ok && call.Sel.Name == "report" {
				if text, ok := literal(n.Args, 0); ok {
					t.Errorf("%s reports the rule %q by text; use a constant", file, text)
				}
			}
		}
		return true
	})
	return ids
}

func literal(list []ast.Expr, i int) (string, bool) {
	if i >= len(list) {
		return "", false
	}
	lit, ok := list[i].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// docs/rules.md is up to date.
func TestPageIsUpToDate(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil || string(page) != rules.Page() {
		t.Errorf("docs/rules.md is not what the catalog says (%v); run go generate ./flows/rules", err)
	}
}

func TestFind(t *testing.T) {
	for id, want := range map[string]string{"takeover": "", "takover": `did you mean "takeover"?`, "x": "--list"} {
		r, err := rules.Find(id)
		if want == "" && (err != nil || r.ID != id) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v", id, r.ID, err)
		}
	}
}

func TestTextIsWrappedAtItsWidth(t *testing.T) {
	for _, r := range rules.All() {
		prose, _, _ := strings.Cut(r.Text(60), "\nBad:")
		for line := range strings.Lines(prose[strings.Index(prose, "\n"):]) {
			if len([]rune(strings.TrimSuffix(line, "\n"))) > 60 {
				t.Errorf("%s: %q", r.ID, line)
			}
		}
	}
}
