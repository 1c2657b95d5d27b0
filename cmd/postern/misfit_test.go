package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// memberType returns a user type with required attributes.
func memberType(required string) string {
	return `{"name": "Member", "schema": {"type": "object", "additionalProperties": false, "required": [` + required + `],
		"properties": {"username": {"type": "string", "x-unique": true}, "phone_number": {"type": "string"}}}}`
}

const (
	joinFlow = `handle: join
name: Join
flowType: REGISTRATION
nodes:
  - id: who
    use: prompt
    with: {inputs: [{identifier: username, type: TEXT_INPUT, required: true}], actions: [{ref: continue}]}
    next: create
  - {id: create, use: user-create, with: {type: Member}, next: {created: key, taken: who}}
  - {id: key, use: passkey-register, next: done}
  - {id: done, use: authorization-code}
`
	phoneInput = ", {identifier: phone_number, type: PHONE_INPUT, required: true}]"
)

// joinWithPhone asks for the number, too.
func joinWithPhone() string {
	return strings.Replace(joinFlow, "required: true}]", "required: true}"+phoneInput, 1)
}

// jsonOf returns a flow as JSON.
func jsonOf(t *testing.T, yaml string) string {
	t.Helper()
	doc, problems := schemas.ParseYAML([]byte(yaml))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return string(doc.JSON())
}

// A sign-up that does not ask for what its user type requires is refused however it is stored: with
// the attribute, the node and the form.
func TestMisfitsAreRefused(t *testing.T) {
	sequential(t)
	onDatabases(t, func(t *testing.T, environ ...string) {
		environ = append(testEnvironment(t.TempDir()), environ...)
		w := newTestAppIn(t, environ)
		server := httptest.NewServer(w.http)
		t.Cleanup(server.Close)
		admin := w.admin()
		var member struct{ ID string }
		w.send(201, "/user-types", admin, memberType(`"username", "phone_number"`), &member)
		explains := func(how, said string) {
			t.Helper()
			for _, part := range []string{"without the attribute", "phone_number", "Member", "create", "who"} {
				if !strings.Contains(said, part) {
					t.Errorf("%s: the error lacks %q: %s", how, part, said)
				}
			}
		}
		write := func(path string) *httptest.ResponseRecorder {
			return w.exchange(http.MethodPost, path, joinFlow, "Content-Type: application/yaml", bearer(admin))
		}
		var check struct {
			Valid    bool
			Findings []schemas.Problem
		}
		rec := write("/flows/check")
		if err := json.Unmarshal(rec.Body.Bytes(), &check); err != nil || rec.Code != 200 || check.Valid || len(check.Findings) != 1 || check.Findings[0].Line != 9 {
			t.Errorf("checked: %d %s", rec.Code, rec.Body)
		}
		explains("check", rec.Body.String())
		rec = write("/flows")
		var refusal schemas.Error
		if err := json.Unmarshal(rec.Body.Bytes(), &refusal); err != nil || rec.Code != 400 || refusal.Code != schemas.CodeFlowDoesNotFit || len(refusal.Errors) != 1 || refusal.Errors[0].Line != 9 {
			t.Errorf("over REST: %d %s", rec.Code, rec.Body)
		}
		explains("REST", rec.Body.String())
		assistant := w.assistant()
		said, failed := w.callTool(assistant, "service_create_flow", jsonOf(t, joinFlow))
		if explains("MCP", said); !failed {
			t.Error("MCP accepted it")
		}
		dir := exported(t, environ)
		file := filepath.Join(dir, "flows", "registration", "join.yaml")
		datatest.WriteFile(t, file, joinFlow)
		code, said := runProgram(t, environ, "flow", "push", "--server", server.URL, "--token", admin, file)
		if explains("flow push", said); code == exitFine || !strings.Contains(said, "join.yaml:9:5: nodes[1]") {
			t.Errorf("flow push: %d %s", code, said)
		}
		for _, args := range [][]string{{"apply", "--plan", dir}, {"apply", dir}} {
			code, said = runProgram(t, environ, args...)
			if explains(args[0]+" "+args[1], said); code == exitFine {
				t.Errorf("%v accepted it", args)
			}
		}
		var join struct{ ID string }
		w.send(201, "/flows", admin, jsonOf(t, joinWithPhone()), &join)
		rec = w.call(http.MethodPut, "/user-types/"+member.ID, admin, strings.Replace(memberType(`"username", "nickname"`), `"phone_number":`, `"nickname": {"type": "string"}, "phone_number":`, 1))
		if rec.Code != 400 || !strings.Contains(rec.Body.String(), `join\" creates users of the type \"Member\" at the node \"create\" without the attribute \"nickname\"`) {
			t.Errorf("the type: %d %s", rec.Code, rec.Body)
		}
		said, failed = w.callTool(assistant, "service_create_application", `{"name": "Club", "registrationFlowId": "`+join.ID+`", "isRegistrationFlowEnabled": true, "allowedUserTypes": ["Person"]}`)
		if !failed || !strings.Contains(said, "which the application does not allow") {
			t.Errorf("the application: %s", said)
		}
	})
}

// exported returns a folder with the resources of the store.
func exported(t *testing.T, environ []string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	mustRun(t, environ, "export", dir)
	return dir
}

// A misfit that an earlier release stored is logged at startup.
func TestStoredMisfitsAreLogged(t *testing.T) {
	w := newTestApp(t)
	admin := w.admin()
	var member, join struct{ ID string }
	w.send(201, "/user-types", admin, memberType(`"username"`), &member)
	w.send(201, "/flows", admin, jsonOf(t, joinFlow), &join)
	var text logtest.Buffer
	w.log = newLog(&text, w.cfg.Log)
	if w.reportMisfits(t.Context()); text.String() != "" {
		t.Errorf("without a misfit the log has:\n%s", text.String())
	}
	w.storeSchema(member.ID, func(is []byte) []byte {
		return bytes.Replace(is, []byte(`["username"]`), []byte(`["username","phone_number"]`), 1)
	})
	w.reportMisfits(t.Context())
	if got := text.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "flow=join") || !strings.Contains(got, `without the attribute \"phone_number\"`) {
		t.Errorf("the log has:\n%s", got)
	}
}

// storeSchema changes the schema of a user type without the checks of this release.
func (w *testApp) storeSchema(id string, change func([]byte) []byte) {
	w.t.Helper()
	err := w.store.Update(w.t.Context(), func(tx *store.Tx) error {
		is, err := store.UserTypes().Get(w.t.Context(), tx, id)
		if err != nil {
			return err
		}
		is.Schema = change(is.Schema)
		return store.UserTypes().Replace(tx, is, is.UpdatedAt)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
