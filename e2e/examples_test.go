package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/logtest"
)

// The applications and the resource server of `serve --try` for the examples.
const (
	examplesID   = "01900000-0000-7000-8000-000000000003"
	exampleAPIID = "01900000-0000-7000-8000-000000000031"
)

// goExamples builds the examples in Go, and returns the folder of the programs.
var goExamples = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch(), "examples")
	build := exec.Command("go", "build", "-o", dir+"/", "../examples/go-web", "../examples/go-api", "../examples/mcp-client")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, output)
	}
	return dir, nil
})

// startExample starts a program in the folder of the examples, and returns its output. The test ends
// it, and expects exit code 0: the program shuts down.
func startExample(t *testing.T, env []string, program ...string) *bufio.Scanner {
	t.Helper()
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Dir, cmd.Env = filepath.Join("..", "examples"), append(os.Environ(), env...)
	output := &logtest.Buffer{}
	cmd.Stderr = output
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended
		_, _ = io.Copy(io.Discard, out)
		err := cmd.Wait()
		if err != nil || t.Failed() {
			t.Errorf("%s: %v\n%s", program, err, output)
		}
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("%s printed nothing\n%s", program, output)
	}
	return lines
}

// pythonWith returns a Python that has packages.
func pythonWith(t *testing.T, packages string) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import "+packages).Run() == nil {
			return python
		}
	}
	missingFrom(t, "no Python has the packages %s: install them, on Debian those that .ci/run lists", packages)
	return ""
}

// exampleWorld is a server with the API of the examples, and a user's browser.
type exampleWorld struct {
	t      *testing.T
	p      *postern
	g      *gateTab
	origin string // of the web application, whichever runs
	api    string
}

func newExampleWorld(t *testing.T) *exampleWorld {
	t.Helper()
	dir, err := goExamples()
	if err != nil {
		t.Fatal(err)
	}
	p := serve(t)
	w := &exampleWorld{t: t, p: p, g: &gateTab{tab: openTab(t), base: p.base},
		origin: fmt.Sprintf("http://localhost:%d", freePort(t)), api: fmt.Sprintf("http://localhost:%d", freePort(t))}
	w.patch("/resource-servers/"+exampleAPIID, object{"identifier": w.api})
	// The examples refresh ten seconds before a token expires: two seconds after it was issued.
	w.patch("/applications/"+examplesID, object{"inboundAuthConfig": []object{{"type": "oauth2", "config": object{
		"clientId": "EXAMPLE", "publicClient": true, "grantTypes": []string{"authorization_code", "refresh_token"}, "scopes": []string{"openid", "profile", "email"},
		"redirectUris": []string{w.origin + "/", w.origin + "/callback", w.origin + "/auth/callback/postern"}, "postLogoutRedirectUris": []string{w.origin + "/"},
		"token": object{"accessToken": object{"validityPeriod": 12}}}}}})
	startExample(t, []string{"ISSUER=" + p.base, "LISTEN=" + strings.TrimPrefix(w.api, "http://"), "AUDIENCE=" + w.api}, filepath.Join(dir, "go-api"))
	return w
}

// in returns the world in a subtest.
func (w *exampleWorld) in(t *testing.T) *exampleWorld {
	browser := *w.g.tab
	browser.t = t
	return &exampleWorld{t: t, p: w.p, g: &gateTab{tab: &browser, base: w.g.base}, origin: w.origin, api: w.api}
}

func (w *exampleWorld) patch(path string, change object) {
	w.t.Helper()
	r := w.p.send(http.MethodPatch, path, string(datatest.Marshal(w.t, change)), "Content-Type: application/merge-patch+json", bearer(adminToken(w.t, w.p)))
	if r.status != http.StatusOK {
		w.t.Fatalf("PATCH %s: %s", path, r.body)
	}
}

// signUp creates an account on the way from the application and back.
func (w *exampleWorld) signUp() {
	w.t.Helper()
	w.g.open(w.origin)
	w.g.click("sign-in")
	w.g.signUpInstead("ada")
	w.g.until(`document.getElementById("user")?.textContent === "ada"`)
}

// signIn signs the user in to the web application with the passkey: no session is left of the sign-in
// before.
func (w *exampleWorld) signIn() {
	w.t.Helper()
	w.g.open(w.origin)
	w.g.present(false)
	w.g.click("sign-in")
	w.g.until(fmt.Sprintf(`location.origin === %q || document.querySelector("button[type=submit]")`, w.p.base))
	if eval[string](w.g.tab, `location.pathname`) == "/auth/signin" { // Auth.js asks which provider
		eval[any](w.g.tab, `document.querySelector("button[type=submit]").click()`)
	}
	w.g.until(`document.getElementById("action-passkey")`)
	w.g.present(true)
	w.g.until(`(document.getElementById("action-passkey")?.click(), document.getElementById("user")?.textContent === "ada")`)
}

// signOut signs the user out of the application and of the server.
func (w *exampleWorld) signOut() {
	w.t.Helper()
	w.g.open(w.origin)
	eval[any](w.g.tab, `window.isAnswered = true`)
	w.g.click("sign-out")
	// Auth.js asks, and so does the server if the application has no ID token. Each page is answered once: another
	// answer would begin again. A page without a server has no user before the browser leaves it.
	w.g.until(fmt.Sprintf(`((ask) => {
		if (window.isAnswered) return false;
		if (ask) window.isAnswered = true;
		ask?.click();
		return location.href === %q && document.getElementById("sign-in") && !document.getElementById("user")?.textContent;
	})(document.querySelector("#submitButton, #view[data-view=signout] #sign-out"))`, w.origin+"/"))
}

// calledAPI returns what the API replied to the application.
func (w *exampleWorld) calledAPI() (reply struct {
	Subject string `json:"sub"`
	Client  string `json:"client_id"`
	Expires int64  `json:"exp"`
}) {
	w.t.Helper()
	w.g.open(w.origin + "/me")
	if err := json.Unmarshal([]byte(eval[string](w.g.tab, `document.body.innerText`)), &reply); err != nil || reply.Subject == "" {
		w.t.Fatalf("the API replied %+v, %v\n%s", reply, err, w.g.describe())
	}
	return reply
}

// Each web application signs a user in, calls the API, refreshes the access token, and signs out.
func TestExamples(t *testing.T) {
	t.Parallel()
	w := newExampleWorld(t)
	port := w.origin[strings.LastIndex(w.origin, ":")+1:]
	env := []string{"ISSUER=" + w.p.base, "LISTEN=localhost:" + port, "PORT=" + port, "API_URL=" + w.api}
	dir, _ := goExamples() // newExampleWorld has built them
	modules(t, "../examples/node", "openid-client")
	confidential := append(env, w.confidentialClient()...)
	for i, example := range []struct {
		name    string
		env     []string // with a client of its own, or the public one
		program []string
		refresh bool // with an access token for the API
	}{
		{"Go", confidential, []string{filepath.Join(dir, "go-web")}, true},
		{"Python", env, []string{pythonWith(t, "authlib, flask, requests"), "python/app.py"}, true},
		{"Python with FastAPI", confidential, []string{pythonWith(t, "authlib, fastapi, httpx, itsdangerous, uvicorn"), "python/fast.py"}, true},
		{"Node with openid-client", confidential, []string{"node", "node/openid-client.mjs"}, true},
		{"Node with Passport", env, []string{"node", "node/passport.mjs"}, false},
		{"Node with Auth.js", confidential, []string{"node", "node/auth-js.mjs"}, false},
	} {
		t.Run(example.name, func(t *testing.T) {
			w := w.in(t)
			if lines := startExample(t, example.env, example.program...); lines.Text() != "Open "+w.origin {
				t.Fatalf("it printed %q", lines.Text())
			}
			eventually(t, "the application listens", func() bool { // Flask does not report it
				c, err := net.Dial("tcp", strings.TrimPrefix(w.origin, "http://"))
				return err == nil && c.Close() == nil
			})
			if i == 0 {
				w.signUp()
				w.signOut()
			}
			w.signIn()
			first := w.calledAPI()
			if example.refresh {
				if !slices.Contains(example.env, "CLIENT_ID="+first.Client) && first.Client != "EXAMPLE" {
					t.Errorf("the API replied %+v", first)
				}
				eventually(t, "the access token was refreshed", func() bool { return w.calledAPI().Expires > first.Expires })
			}
			w.signOut()
		})
	}
	t.Run("plain JavaScript", w.plainJavaScript)
	t.Run("MCP client", w.mcpClient)
	t.Run("API", w.resourceServer)
	t.Run("API that asks the server", w.introspection)
	t.Run("registration", w.registrations)
}

// confidentialClient registers a client as `postern app create --type web` does, and returns the
// variables that name it. Its tokens expire as soon as those of the public client.
func (w *exampleWorld) confidentialClient() []string {
	w.t.Helper()
	var client createdApp
	r, err := w.p.post("/applications", adminToken(w.t, w.p), object{"name": "Example with a secret",
		"authFlowId": "passkey-sign-in", "registrationFlowId": "passkey-sign-up", "isRegistrationFlowEnabled": true,
		"inboundAuthConfig": []object{{"type": "oauth2", "config": object{
			"tokenEndpointAuthMethod": "client_secret_basic", "pkceRequired": true, "grantTypes": []string{"authorization_code", "refresh_token"},
			"redirectUris": []string{w.origin + "/callback", w.origin + "/auth/callback/postern"}, "postLogoutRedirectUris": []string{w.origin + "/"},
			"scopes": []string{"openid", "profile", "email"}, "token": object{"accessToken": object{"validityPeriod": 12}}}}}})
	if err != nil || r.status != http.StatusCreated || json.Unmarshal(r.body, &client) != nil {
		w.t.Fatalf("%v %s", err, r.body)
	}
	return []string{"CLIENT_ID=" + client.ClientID, "CLIENT_SECRET=" + client.ClientSecret}
}

// createdApp is what `postern app create` prints.
type createdApp struct{ ID, ClientID, ClientSecret string }

func (w *exampleWorld) createApp(arguments ...string) (client createdApp) {
	w.t.Helper()
	create := exec.Command(binary(w.t), append([]string{"app", "create", "--json", "--server", w.p.base}, arguments...)...)
	create.Dir, create.Env = w.p.dir, append(w.p.env, "ADMIN_TOKEN="+adminToken(w.t, w.p))
	if out, err := create.Output(); err != nil || json.Unmarshal(out, &client) != nil {
		w.t.Fatalf("%v %s", err, out)
	}
	return client
}

func (w *exampleWorld) plainJavaScript(t *testing.T) {
	w = w.in(t)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("../examples/plain-js")))
	mux.HandleFunc("/config.js", func(rw http.ResponseWriter, _ *http.Request) {
		text, _ := os.ReadFile("../examples/plain-js/config.js")
		rw.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(rw, strings.ReplaceAll(string(text), "http://localhost:8090", w.p.base))
	})
	l, err := net.Listen("tcp", strings.TrimPrefix(w.origin, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	site := &httptest.Server{Listener: l, Config: &http.Server{Handler: mux}}
	site.Start()
	defer site.Close()
	w.signIn()
	const access = `JSON.parse(sessionStorage.getItem("tokens")).access_token`
	first := eval[string](w.g.tab, access)
	w.g.click("api")
	w.g.until(`document.getElementById("reply").textContent.includes('"sub"')`)
	w.g.until(fmt.Sprintf(`(document.getElementById("api").click(), %s !== %q)`, access, first))
	w.signOut()
	w.g.open(w.origin + "/?code=x&state=y&iss=" + url.QueryEscape(w.p.base))
	w.g.until(`document.getElementById("alert").textContent.includes("did not start")`)
}

// The folder for GitOps passes its own check: it can be deployed to an empty server, twice.
func TestExampleGitOps(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	check := exec.Command("../examples/gitops/check.sh")
	check.Env = append(os.Environ(), "POSTERN="+bin, fmt.Sprintf("PORT=%d", freePort(t)))
	out, err := check.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"2 passed, 0 failed", "shop-sign-in: version 1", `created application "Shop"`, "shop-sign-in: unchanged"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// The MCP client signs an administrator in, who consents, and prints the tools.
func (w *exampleWorld) mcpClient(t *testing.T) {
	w = w.in(t)
	dir, _ := goExamples()
	lines := startExample(t, []string{"MCP_URL=" + w.p.base + "/mcp"}, filepath.Join(dir, "mcp-client"))
	address, found := strings.CutPrefix(lines.Text(), "Open ")
	if !found {
		t.Fatalf("it printed %q", lines.Text())
	}
	w.g.present(false)
	w.g.signInAsAdmin(address)
	w.g.click("action-allow")
	var printed []string
	for lines.Scan() {
		printed = append(printed, lines.Text())
	}
	for _, want := range append(toolNames(), `"EXAMPLE_MCP"`) {
		if !strings.Contains(strings.Join(printed, "\n"), want) {
			t.Errorf("no %s in %q", want, printed)
		}
	}
}

// serviceToken creates a service, as docs/connect/service.md does, and returns a function that gets its
// token for a resource.
func (w *exampleWorld) serviceToken(name string, flags ...string) func(resource string) string {
	w.t.Helper()
	client := w.createApp(append([]string{name, "--type", "service"}, flags...)...)
	return func(resource string) string {
		config := clientcredentials.Config{ClientID: client.ClientID, ClientSecret: client.ClientSecret, TokenURL: w.p.base + "/oauth2/token",
			AuthStyle: oauth2.AuthStyleInHeader, EndpointParams: url.Values{"resource": {resource}}}
		token, err := config.Token(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		return token.AccessToken
	}
}

// The API rejects what is not an access token for it, and checks permissions.
func (w *exampleWorld) resourceServer(t *testing.T) {
	w = w.in(t)
	nightly, reader := w.serviceToken("Nightly", "--scope", "example-api:notes:write"), w.serviceToken("Reader")
	forAPI := nightly(w.api)
	w.checkAPI(w.api, []apiCall{
		{"with the permission", "DELETE", "/notes", forAPI, http.StatusNoContent, ""},
		{"that needs no permission", "GET", "/me", reader(w.api), http.StatusOK, ""},
		{"without the permission", "DELETE", "/notes", reader(w.api), http.StatusForbidden, `error="insufficient_scope", scope="example-api:notes:write"`},
		{"of an administrator for the server", "GET", "/me", adminToken(t, w.p), http.StatusUnauthorized, `error="invalid_token"`},
		{"for another audience", "GET", "/me", nightly(w.p.base), http.StatusUnauthorized, `error="invalid_token"`},
		{"changed", "GET", "/me", forAPI + "A", http.StatusUnauthorized, `error="invalid_token"`},
		{"absent", "GET", "/me", "", http.StatusUnauthorized, `Bearer resource_metadata="` + w.api + `/.well-known/oauth-protected-resource"`},
	})
}

// apiCall is a call of the API with a token, and what it must reply.
type apiCall struct {
	name, method, path, token string
	status                    int
	challenge                 string
}

func (w *exampleWorld) checkAPI(address string, calls []apiCall) {
	w.t.Helper()
	for _, call := range calls {
		r, _ := http.NewRequest(call.method, address+call.path, nil)
		if call.token != "" {
			r.Header.Set("Authorization", "Bearer "+call.token)
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			w.t.Fatal(err)
		}
		body, _ := io.ReadAll(reply.Body)
		reply.Body.Close()
		if where := w.p.base + " with resource=" + w.api; strings.Contains(string(body), where) != (call.status == http.StatusUnauthorized) {
			w.t.Errorf("a token %s: the body is %s, expected %q only without a valid token", call.name, body, where)
		}
		if got := reply.Header.Get("WWW-Authenticate"); reply.StatusCode != call.status || !strings.Contains(got, call.challenge) {
			w.t.Errorf("a token %s: %s %q, expected %d %q", call.name, reply.Status, got, call.status, call.challenge)
		}
	}
}

// The lines of docs/connect/service.md start an API that rejects a revoked token, and call it.
func (w *exampleWorld) introspection(t *testing.T) {
	w = w.in(t)
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			missingFrom(t, "%s is not installed", tool)
		}
	}
	dir, _ := goExamples()
	port := fmt.Sprint(freePort(t))
	address := "http://localhost:" + port
	environment := append(slices.Clone(w.p.env), "ADMIN_SERVER_URL="+w.p.base, "ADMIN_TOKEN="+adminToken(t, w.p),
		"LISTEN=localhost:"+port, "AUDIENCE="+w.api, "PATH="+filepath.Dir(binary(t))+":"+os.Getenv("PATH"))
	blocks := fencedBlocks(t, "docs/connect/service.md", "sh")
	blocks = blocks[slices.IndexFunc(blocks, func(b string) bool { return strings.Contains(b, "INTROSPECT=true") }):]
	replace := strings.NewReplacer("go run ./examples/go-api", "exec "+filepath.Join(dir, "go-api"),
		"resource=http://localhost:4000", "resource="+w.api, "http://localhost:4000", address)
	startExample(t, environment, "bash", "-euo", "pipefail", "-c", replace.Replace(blocks[0]))

	lines := exec.Command("bash", "-euo", "pipefail", "-c", replace.Replace(blocks[1]+blocks[2]))
	lines.Dir, lines.Env = w.p.dir, append(os.Environ(), environment...)
	out, err := lines.CombinedOutput()
	if err != nil || string(out) != "200\n204\n403\n200\n401\n" {
		t.Errorf("the lines printed %q, %v", out, err)
	}

	reader := w.serviceToken("Another reader")
	w.checkAPI(address, []apiCall{
		{"without the permission", "DELETE", "/notes", reader(w.api), http.StatusForbidden, `error="insufficient_scope", scope="example-api:notes:write"`},
		{"for another audience", "GET", "/me", reader(w.p.base), http.StatusUnauthorized, `error="invalid_token"`},
		{"that is none", "GET", "/me", "none", http.StatusUnauthorized, `error="invalid_token"`},
		{"absent", "GET", "/me", "", http.StatusUnauthorized, `Bearer resource_metadata="`},
	})
}

// The commands with which the pages of docs/connect register a client succeed.
func (w *exampleWorld) registrations(t *testing.T) {
	bin := binary(t)
	pages, err := filepath.Glob("../docs/connect/*.md")
	if err != nil {
		t.Fatal(err)
	}
	environment := append(w.p.env, "ADMIN_SERVER_URL="+w.p.base, "ADMIN_TOKEN="+adminToken(t, w.p))
	for _, page := range pages {
		for i, block := range fencedBlocks(t, strings.TrimPrefix(page, "../"), "sh") {
			command, found := strings.CutPrefix(block, "postern app create ")
			if !found {
				continue
			}
			name := strings.TrimSuffix(filepath.Base(page), ".md")
			command = regexp.MustCompile(`^("[^"]*"|\S+)`).ReplaceAllString(command, fmt.Sprintf("Page-%s-%d", name, i)) // pages share names
			create := exec.Command("sh", "-c", `"$0" app create `+command, bin)
			create.Dir, create.Env = w.p.dir, environment
			if out, err := create.CombinedOutput(); err != nil || !strings.Contains(string(out), "client id:") {
				t.Errorf("%s: %v\n%s", page, err, out)
			}
		}
	}
}
