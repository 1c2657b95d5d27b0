package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/stacks"
)

// For each stack, `app create --stack` creates an application that fits, and prints code that has its
// values and no placeholder, and that the tools of its language accept. The secret comes after the code.
func TestCreateForEachStack(t *testing.T) {
	t.Parallel()
	p := serve(t)
	environment := append(p.env, "ADMIN_SERVER_URL="+p.base, "ADMIN_TOKEN="+adminToken(t, p))
	postern := func(arguments ...string) string {
		command := exec.Command(binary(t), arguments...)
		command.Dir, command.Env = p.dir, environment
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, out)
		}
		return string(out)
	}
	code := map[string][]string{} // the files by their extension
	for _, s := range stacks.All() {
		if s.Type == "flow" {
			continue
		}
		printed := postern("app", "create", "For "+s.Name, "--stack", s.Name)
		snippet, text, _ := strings.Cut(printed, "\n----- the application -----\n")
		checkValues(t, p, s, text, snippet)
		for i, part := range strings.Split("\n"+snippet, "\n----- ")[1:] {
			path, content, _ := strings.Cut(part, " -----\n")
			file := filepath.Join(t.TempDir(), s.Name, strings.Repeat("_", i)+filepath.Base(path))
			datatest.WriteFile(t, file, content+"\n")
			code[filepath.Ext(file)] = append(code[filepath.Ext(file)], file)
		}
	}
	checkCode(t, code)
}

// checkValues compares what `app create` printed for a stack with the application that it created.
func checkValues(t *testing.T, p *postern, s stacks.Stack, printed, code string) {
	t.Helper()
	value := func(name string) string {
		if found := regexp.MustCompile(`(?mi)^` + name + `: +(\S+)$`).FindStringSubmatch(printed); found != nil {
			return found[1]
		}
		return ""
	}
	config := clientOf(t, p, value("application"))
	secret, isPublic := value("client secret"), s.Type == "spa" || s.Type == "native"
	if isPublic != (secret == "") || isPublic != (config["tokenEndpointAuthMethod"] == "none") || config["clientId"] != value("client id") {
		t.Errorf("%s: the client is %v\n%s", s.Name, config, printed)
	}
	if secret != "" && (!strings.Contains(printed, "\nexport CLIENT_SECRET='"+secret+"'\n") || strings.Contains(code, secret) || !strings.Contains(code, "CLIENT_SECRET")) {
		t.Errorf("%s: expected a line that exports the secret, and code that reads it\n%s\n%s", s.Name, printed, code)
	}
	want := []string{p.base, value("client id")}
	if s.Redirect != "" {
		want = append(want, s.Redirect)
		if uris, _ := config["redirectUris"].([]any); !slices.Equal(uris, []any{s.Redirect}) || !strings.Contains(printed, s.Redirect) {
			t.Errorf("%s: the redirect URIs are %v\n%s", s.Name, uris, printed)
		}
	}
	if uris, _ := config["postLogoutRedirectUris"].([]any); s.PostLogout != "" && (len(uris) != 1 || !strings.Contains(printed, uris[0].(string))) {
		t.Errorf("%s: the post-logout URIs are %v\n%s", s.Name, uris, printed)
	}
	for _, one := range want {
		if !strings.Contains(code, one) {
			t.Errorf("%s: the code does not contain %s\n%s", s.Name, one, code)
		}
	}
	if left := regexp.MustCompile(`__[A-Z_]+__`).FindString(code); left != "" {
		t.Errorf("%s: the code contains %s", s.Name, left)
	}
}

// checkCode lets the tools of the languages read the files.
func checkCode(t *testing.T, files map[string][]string) {
	t.Helper()
	for _, check := range []struct {
		extension string
		command   []string
	}{
		{".go", []string{"go", "vet"}},
		{".mjs", []string{"node", "--check"}},
		{".js", []string{"node", "--input-type=module", "--check"}},
		{".py", []string{"python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"}},
		{".sh", []string{"sh", "-n"}},
	} {
		if _, err := exec.LookPath(check.command[0]); err != nil {
			missingFrom(t, "%s is not installed", check.command[0])
			continue
		}
		for _, file := range found(t, files, check.extension) {
			command := exec.Command(check.command[0], append(slices.Clone(check.command[1:]), file)...)
			if check.extension == ".js" { // a module without package.json is read from the standard input
				command.Args = command.Args[:len(command.Args)-1]
				command.Stdin = bytes.NewReader(datatest.ReadFile(t, file))
			}
			command.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", file, err, out)
			}
		}
	}
	for _, file := range slices.Concat(found(t, files, ".yml"), found(t, files, ".yaml")) {
		var document any
		if err := yaml.Unmarshal(datatest.ReadFile(t, file), &document); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	setting := regexp.MustCompile(`^(\w+) = (\S.*)$`)
	for _, file := range slices.Concat(found(t, files, ".cfg"), found(t, files, ".ini")) {
		for line := range strings.Lines(string(datatest.ReadFile(t, file))) {
			line = strings.TrimSpace(line)
			pair := setting.FindStringSubmatch(line)
			isOther := line == "" || strings.HasPrefix(line, ";") || strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]")
			if pair == nil && !isOther || filepath.Ext(file) == ".cfg" && pair != nil && !json.Valid([]byte(pair[2])) {
				t.Errorf("%s: %s", file, line)
			}
		}
	}
	for _, extension := range []string{".php", ".java", ".cs", ".kt", ".kts", ".swift", ".ts", ".tsx"} {
		for _, file := range found(t, files, extension) {
			text := string(datatest.ReadFile(t, file))
			for _, pair := range []string{"()", "{}", "[]"} {
				if strings.Count(text, pair[:1]) != strings.Count(text, pair[1:]) {
					t.Errorf("%s: the %s are not balanced\n%s", file, pair, text)
				}
			}
		}
	}
}

func found(t *testing.T, files map[string][]string, extension string) []string {
	t.Helper()
	if len(files[extension]) == 0 {
		t.Errorf("no stack has a file %s", extension)
	}
	return files[extension]
}
