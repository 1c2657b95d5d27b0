package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// These tests are named after finding 18 of the security audit of November 2026: names of
// applications and clients could mix scripts and contain invisible characters.

// deceptiveNames look like another name, or contain invisible characters.
func deceptiveNames() []string {
	return []string{"Соnsole", "Shоp desk", "Console\u200b", "Shop\u00ad", "Shop\u202egnp", "\u3164"}
}

// confusableNames are names that an attacker might use to imitate the console.
func confusableNames() []string {
	return []string{"Console", "console", "CONSOLE", "C0nsole", "ConsoIe", "Conso1e", "Consolé", "Con sole", "Console.", " Console ", "Ｃonsole"}
}

// called is the body of an application.
func called(name string) string {
	text, err := json.Marshal(map[string]any{"name": name})
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(text)
}

// A name is checked in every way to set it.
func TestAudit18DeceptiveNamesAreRefused(t *testing.T) {
	r := newRegistrars(t)
	admin := r.admin()
	id := r.create(r.directory.Applications, called("Plain")).ID
	send := func(method, path, body string) (int, string) {
		rec := r.testApp.call(method, path, admin, body)
		return rec.Code, rec.Body.String()
	}
	for _, name := range append(deceptiveNames(), " Shop", "Shop ", "Shop\u00a0") {
		for what, send := range map[string]func() (int, string){
			"POST": func() (int, string) { return send(http.MethodPost, "/applications", called(name)) },
			"PUT":  func() (int, string) { return send(http.MethodPut, "/applications/"+id, called(name)) },
			"role": func() (int, string) { return send(http.MethodPost, "/roles", called(name)) },
		} {
			if status, said := send(); status != http.StatusBadRequest || !strings.Contains(said, `"path":"name"`) {
				t.Errorf("%s %q: %d %s", what, name, status, said)
			}
		}
		for tool, arguments := range map[string]string{"service_create_application": called(name), "service_update_application": strings.Replace(called(name), "{", `{"id":"`+id+`",`, 1)} {
			if said, failed := r.callTool(admin, tool, arguments); !failed || !strings.Contains(said, "name") {
				t.Errorf("%s %q: %s", tool, name, said)
			}
		}
	}
	for _, name := range deceptiveNames() {
		r.refusesUntrustedClient(t, name)
	}
	if status, said := send(http.MethodPut, "/applications/"+id, called("Яндекс Maps")); status != http.StatusOK {
		t.Errorf("words of two scripts: %d %s", status, said)
	}
}

// callTool calls a tool, and returns its text and whether it failed.
func (w *testApp) callTool(token, name, arguments string) (said string, failed bool) {
	w.t.Helper()
	var m struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	w.send(200, "/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}}`, &m)
	return fmt.Sprint(m.Result.Content), m.Result.IsError
}

// refusesUntrustedClient makes sure that an unvouched client cannot use a name, neither at the
// registration endpoint nor by a metadata document.
func (r *registrars) refusesUntrustedClient(t *testing.T, name string) {
	t.Helper()
	if said, status := r.register(t, "client_name", name); status != http.StatusBadRequest || said["error"] != "invalid_client_metadata" || !strings.Contains(fmt.Sprint(said), "client_name") {
		t.Errorf("registering %q: %d %v", name, status, said)
	}
	p := r.document(t, "client_name", name)
	if a := p.ask(pkce()...); !strings.HasPrefix(a.to, p.at("/gate/error?")) || a.params.Get("error") != "invalid_client" {
		t.Errorf("a document of %q is answered with %+v", name, a)
	}
	if _, err := r.store.ApplicationByClientID(t.Context(), p.id); !schemas.HasClass(err, schemas.NotFound) {
		t.Errorf("the client of %q was made: %v", name, err)
	}
}

// An unvouched client cannot use the name of an application that an administrator made, nor
// one that looks like it. Unvouched clients may share a name, and an administrator may use
// any.
func TestAudit05UntrustedClientsCannotPoseAsTheConsole(t *testing.T) {
	r := newRegistrars(t)
	r.create(r.directory.Applications, called("Rent portal"))
	for _, name := range append(confusableNames(), "rent portal", "RENT PORTAL", "Rent p0rtal") {
		r.refusesUntrustedClient(t, name)
	}
	for _, want := range []string{"Editor", "Editor (2)"} {
		if said, status := r.register(t, "client_name", "Editor"); status != http.StatusCreated || said["client_name"] != want {
			t.Errorf("%d %v, want the name %q", status, said, want)
		}
	}
	r.create(r.directory.Applications, called("Consoles"))
}
