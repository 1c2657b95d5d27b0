package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

const (
	mailingFlow = `handle: by-mail
name: By mail
flowType: AUTHENTICATION
nodes:
` + askedName + `  - {id: check, use: email-otp, next: {success: done, failure: who}}
  - {id: done, use: authorization-code}
`
	askingFlow = `handle: by-risk
name: By risk
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, next: ask}
  - {id: ask, use: http-request, with: {target: risk, mode: query}, next: done}
  - {id: done, use: authorization-code}
`
	mailingPart = `handle: mailed
name: Mailed
flowType: SUBFLOW
requires: {facts: [user]}
outcomes: {in: They are., out: They are not.}
nodes:
  - {id: check, use: email-otp, next: {success: in, failure: out}}
`
	usingPart = `handle: by-part
name: By part
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, next: code}
  - {id: code, use: flow, with: {flow: mailed}, next: {in: done, out: key}}
  - {id: done, use: authorization-code}
`
)

// A server without mail or without a target refuses flows that need it, however they are stored: new
// ones, old versions, and those that use a stored sub-flow.
func TestFlowsNeedTheServicesOfTheServer(t *testing.T) {
	sequential(t)
	onDatabases(t, func(t *testing.T, environ ...string) {
		environ = append(testEnvironment(t.TempDir()), environ...)
		complete := append([]string{"POSTERN_MAIL_HOST=127.0.0.1", "POSTERN_MAIL_TLS=none", "POSTERN_MAIL_FROM=a@example.com",
			`POSTERN_HTTP_TARGETS={"risk":{"url":"https://risk.example.com"}}`}, environ...)
		before := newTestAppIn(t, complete)
		admin := before.admin()
		ids := map[string]string{}
		for handle, text := range map[string]string{"by-mail": mailingFlow, "by-risk": askingFlow, "mailed": mailingPart} {
			var flow struct{ ID string }
			before.send(201, "/flows", admin, jsonOf(t, text), &flow)
			ids[handle] = flow.ID
		}
		plain := "nodes:\n  - {id: key, use: passkey-authenticate, next: done}\n  - {id: done, use: authorization-code}\n"
		for handle, text := range map[string]string{"by-mail": mailingFlow, "by-risk": askingFlow} {
			head, _, _ := strings.Cut(text, "nodes:")
			before.put("/flows/"+ids[handle], jsonOf(t, "waive: [{rule: chain, node: key, reason: A test.}]\n"+head+plain), admin)
		}

		w := newTestAppIn(t, environ)
		server := httptest.NewServer(w.http)
		t.Cleanup(server.Close)
		assistant := w.assistant()
		const noMail, noTarget = "this server sends no mail", "this server has no target"
		for _, tt := range []struct{ name, folder, text, want string }{
			{"mail", "authentication", strings.Replace(mailingFlow, "by-mail", "new", 1), noMail}, {"target", "authentication", strings.Replace(askingFlow, "by-risk", "new", 1), noTarget},
			{"sub-flow", "subflow", strings.Replace(mailingPart, "handle: mailed", "handle: new", 1), noMail}, {"stored sub-flow", "authentication", usingPart, noMail},
		} {
			t.Run(tt.name, func(t *testing.T) {
				if rec := w.call(http.MethodPost, "/flows", admin, jsonOf(t, tt.text)); rec.Code != 400 || !strings.Contains(rec.Body.String(), tt.want) {
					t.Errorf("REST: %d %s", rec.Code, rec.Body)
				}
				if said, failed := w.callTool(assistant, "service_create_flow", jsonOf(t, tt.text)); !failed || !strings.Contains(said, tt.want) {
					t.Errorf("MCP: %s", said)
				}
				file := filepath.Join(t.TempDir(), "new.yaml")
				datatest.WriteFile(t, file, tt.text)
				push := []string{"flow", "push", "--server", server.URL, "--token", admin, file}
				dir := exported(t, environ)
				datatest.WriteFile(t, filepath.Join(dir, "flows", tt.folder, "new.yaml"), tt.text)
				if tt.text == usingPart {
					part := filepath.Join(filepath.Dir(file), "mailed.yaml")
					datatest.WriteFile(t, part, mailingPart)
					push = append(push, part)
				}
				if code, said := runProgram(t, environ, push...); code == exitFine || !strings.Contains(said, tt.want) {
					t.Errorf("flow push: %d %s", code, said)
				}
				if code, said := runProgram(t, environ, "apply", dir); code == exitFine || !strings.Contains(said, tt.want) {
					t.Errorf("apply: %d %s", code, said)
				}
			})
		}
		for handle, want := range map[string]string{"by-mail": noMail, "by-risk": noTarget} {
			if rec := w.call(http.MethodPost, "/flows/"+ids[handle]+"/restore", admin, `{"version": 1}`); rec.Code != 400 || !strings.Contains(rec.Body.String(), want) {
				t.Errorf("restore of %s: %d %s", handle, rec.Code, rec.Body)
			}
		}
	})
}
