package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/schemas"
)

// flowBody returns a flow in JSON with nodes, and a waiver at a node if one is given. Without its
// guarantee the flow of passkeys would accept one that was added after a password.
func flowBody(t *testing.T, handle, nodes, waived string) string {
	t.Helper()
	text := "handle: " + handle + "\nname: Door\nflowType: AUTHENTICATION\n"
	if nodes == onlyPasskeys {
		text += "guarantees: {phishingResistant: true}\n"
	}
	if waived != "" {
		text += "waive: [{rule: chain, node: " + waived + ", reason: The owner of the shop accepts this.}]\n"
	}
	doc, problems := schemas.ParseYAML([]byte(text + "nodes:\n" + nodes))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return string(doc.JSON())
}

const (
	askedName = `
  - id: who
    use: prompt
    with: {inputs: [{identifier: username, type: TEXT_INPUT, required: true}], actions: [{ref: continue}]}
    next: find
  - {id: find, use: user-resolve, with: {by: [username, email], from: username, conceal: true}, next: check}
`
	onlyPasskeys  = "  - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: done}\n  - {id: done, use: authorization-code}\n"
	onlyPasswords = askedName + "  - {id: check, use: password-authenticate, next: {success: done, failure: who}}\n  - {id: done, use: authorization-code}\n"
	mailToPasskey = askedName + "  - {id: check, use: email-otp, next: {success: key, failure: who, unavailable: who}}\n" +
		"  - {id: key, use: passkey-register, next: done}\n  - {id: done, use: authorization-code}\n"
)

// Interrupted, postern prove ends with a message, without a report. The signal ends the context: see main.
func TestInterruptedProve(t *testing.T) {
	environ := testEnvironment(t.TempDir())
	newTestAppIn(t, environ).close()
	dir := t.TempDir()
	files, err := filepath.Glob("../../flows/*_in.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("the flow files are %q, %v", files, err)
	}
	for _, file := range files {
		datatest.WriteFile(t, filepath.Join(dir, filepath.Base(file)), datatest.ReadFile(t, file))
	}
	for _, args := range [][]string{{"prove"}, {"prove", dir}} {
		var out logtest.Buffer
		p := program{args: args, environ: environ, stdout: &out, stderr: &out}
		whole := &endingContext{Context: t.Context()}
		whole.left.Store(1 << 30)
		if code := p.run(whole); code != exitFine {
			t.Fatalf("%s: %d %s", args, code, out.String())
		}
		asked := 1<<30 - whole.left.Load()
		for _, left := range []int64{asked / 2, asked * 3 / 4} {
			out = logtest.Buffer{}
			p.stdout, p.stderr = &out, &out
			ending := &endingContext{Context: t.Context()}
			ending.left.Store(left)
			code := p.run(ending)
			if said := out.String(); code != exitUsage || said != "postern: interrupted before the command was done\n" {
				t.Errorf("%s, after %d of %d questions: %d %q", args, left, asked, code, said)
			}
		}
	}
}

// endingContext ends after a number of questions whether it has.
type endingContext struct {
	context.Context
	left atomic.Int64
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// GET /flows/chains stops when its caller closes the connection.
func TestChainsEndWithTheirCaller(t *testing.T) {
	w := newTestApp(t)
	begun, ended := make(chan bool), make(chan error)
	w.directory.AnalyzeChains = func(ctx context.Context, _ *schemas.SignInSystem) (any, error) {
		close(begun)
		<-ctx.Done() // an analysis asks for it at least every 1,024 moves: see package chains
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	server := httptest.NewServer(w.handler())
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/flows/chains", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.admin())
	go func() {
		if rec, err := http.DefaultClient.Do(req); err == nil {
			rec.Body.Close()
			t.Errorf("the reply of an analysis that the caller left is %d", rec.StatusCode)
			close(begun)
		}
	}()
	<-begun
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the analysis ends with %v", err)
	}
}

// A flow that adds a passkey after a mailed code is refused, over REST and MCP, unless the finding
// is waived.
func TestPasskeyAfterAMailedCodeIsRefused(t *testing.T) {
	w := newTestApp(t)
	admin := w.admin()
	refused := flowBody(t, "lost", mailToPasskey, "")
	rec := w.call("POST", "/flows", admin, refused)
	if rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), `"rule":"chain"`) {
		t.Errorf("POST /flows: %d %s", rec.Code, rec.Body)
	}
	if said, failed := w.callTool(w.assistant(), "service_create_flow", refused); !failed || !strings.Contains(said, "[chain]") {
		t.Errorf("service_create_flow: %s", said)
	}
	if rec := w.call("POST", "/flows", admin, flowBody(t, "lost", mailToPasskey, "key")); rec.Code != http.StatusCreated {
		t.Errorf("with a waiver: %d %s", rec.Code, rec.Body)
	}
}

// A change of a flow or an application that lets an attacker in with less than before is refused as
// a whole, unless the way is waived.
func TestNewWaysAreRefused(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		admin := w.admin()
		var door, weak, waived struct{ ID string }
		w.send(201, "/flows", admin, flowBody(t, "door", onlyPasskeys, ""), &door)
		w.send(201, "/flows", admin, flowBody(t, "weak", onlyPasswords, ""), &weak)
		w.send(201, "/flows", admin, flowBody(t, "waived", onlyPasswords, "check"), &waived)
		shop := w.application(admin, "Shop", "authFlowId", door.ID)
		before := w.call("GET", "/flows/"+door.ID, admin, "").Body.String()
		for _, change := range []struct{ method, path, body string }{
			{"PUT", "/flows/" + door.ID, flowBody(t, "door", onlyPasswords, "")},
			{"PATCH", "/applications/" + shop, `{"authFlowId": "` + weak.ID + `"}`},
		} {
			rec := w.call(change.method, change.path, admin, change.body)
			var refusal struct {
				Code   string
				Errors []schemas.Problem
			}
			if err := json.Unmarshal(rec.Body.Bytes(), &refusal); err != nil || rec.Code != http.StatusBadRequest || refusal.Code != schemas.CodeNewWay || len(refusal.Errors) != 1 {
				t.Fatalf("%s %s: %d %s, %v", change.method, change.path, rec.Code, rec.Body, err)
			}
			for _, part := range []string{`"Shop"`, "the user's password", schemas.ACRPassword, "check —success→"} {
				if p := refusal.Errors[0]; p.Rule != engine.RuleChain || !strings.Contains(p.Message, part) {
					t.Errorf("%s %s: the finding %s lacks %q", change.method, change.path, p, part)
				}
			}
		}
		if after := w.call("GET", "/flows/"+door.ID, admin, "").Body.String(); after != before {
			t.Errorf("the refused flow became %s", after)
		}
		if rec := w.call("PATCH", "/applications/"+shop, admin, `{"authFlowId": "`+waived.ID+`"}`); rec.Code != http.StatusOK {
			t.Errorf("another flow with a waiver: %d %s", rec.Code, rec.Body)
		}
		w.put("/flows/"+door.ID, flowBody(t, "door", onlyPasswords, "check"), admin)
		w.put("/flows/"+door.ID, flowBody(t, "door", onlyPasskeys, ""), admin) // stronger is always accepted
	})
}

// A recovery flow opens a way for readers of the user's mail. That of Postern accepts it.
func TestRecoveryFlowsAreWays(t *testing.T) {
	w := newTestApp(t, "POSTERN_MAIL_HOST=127.0.0.1", "POSTERN_MAIL_TLS=none", "POSTERN_MAIL_FROM=a@example.com")
	admin := w.admin()
	var door, weak struct{ ID string }
	w.send(201, "/flows", admin, flowBody(t, "door", onlyPasskeys, ""), &door)
	w.send(201, "/flows", admin, flowBody(t, "mailed", askedName+"  - {id: check, use: email-otp, next: {success: done, failure: who, unavailable: who}}\n  - {id: done, use: authorization-code}\n", ""), &weak)
	shop := w.application(admin, "Shop", "authFlowId", door.ID)
	rec := w.call("PATCH", "/applications/"+shop, admin, `{"recoveryFlowId": "`+weak.ID+`"}`)
	if rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), schemas.CodeNewWay) || !strings.Contains(rec.Body.String(), "mailbox") {
		t.Errorf("a flow with a mailed code alone: %d %s", rec.Code, rec.Body)
	}
	for _, handle := range []string{"lost-passkey", "forgotten-password"} {
		if rec := w.call("PATCH", "/applications/"+shop, admin, `{"recoveryFlowId": "`+handle+`"}`); rec.Code != http.StatusOK {
			t.Errorf("%s: %d %s", handle, rec.Code, rec.Body)
		}
	}
}

// The report about the same applications is the same from the store, a server and a folder.
func TestProve(t *testing.T) {
	sequential(t)
	environ := append(testEnvironment(t.TempDir()), "POSTERN_MAIL_HOST=127.0.0.1", "POSTERN_MAIL_TLS=none", "POSTERN_MAIL_FROM=a@example.com")
	w := newTestAppIn(t, environ)
	server := httptest.NewServer(w.http)
	t.Cleanup(server.Close)
	admin, dir := w.admin(), filepath.Join(t.TempDir(), "out")
	w.shop(admin, "email_code.yaml")
	service := `{"name": "Nightly", "inboundAuthConfig": [{"type": "oauth2", "config": {"grantTypes": ["client_credentials"]}}]}` // with a secret
	if rec := w.call("POST", "/applications", admin, service); rec.Code != http.StatusCreated {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	prove := func(args ...string) *chains.Report {
		t.Helper()
		var out, failures bytes.Buffer
		p := program{args: append([]string{"prove", "--format", "json"}, args...), environ: environ, stdout: &out, stderr: &failures}
		if code := p.run(t.Context()); code != exitFine {
			t.Fatalf("%v: %d %s", args, code, &failures)
		}
		report := new(chains.Report)
		datatest.Unmarshal(t, out.Bytes(), report)
		return report
	}
	local := prove()
	if !local.Reaches(targetNamed(t, local, "Shop email_code.yaml", schemas.ACRVouched), chains.Means{Mailbox: true}) ||
		!local.Reaches(targetNamed(t, local, "Console", schemas.ACRPassword), chains.Means{Password: true}) {
		t.Errorf("the report lacks a way: %+v", local.Ways)
	}
	mustRun(t, environ, "export", dir)
	for name, other := range map[string]*chains.Report{"server": prove("--server", server.URL, "--token", admin), "folder": prove(dir)} {
		if got, want := textOf(t, other), textOf(t, local); got != want {
			t.Errorf("from a %s:\n%s\nfrom the store:\n%s", name, got, want)
		}
	}
}

func targetNamed(t *testing.T, r *chains.Report, name, class string) chains.Target {
	t.Helper()
	for id, names := range r.Names {
		for _, n := range names {
			if n == name {
				return chains.Target{Application: id, Class: class}
			}
		}
	}
	t.Fatalf("no application %s in %v", name, r.Names)
	return chains.Target{}
}

func textOf(t *testing.T, r *chains.Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A folder of flows is analyzed as if each had an application.
func TestProveFolderOfFlows(t *testing.T) {
	dir := t.TempDir()
	for name, nodes := range map[string]string{"door": onlyPasskeys, "weak": onlyPasswords} {
		datatest.WriteFile(t, filepath.Join(dir, name+".json"), flowBody(t, name, nodes, ""))
	}
	want := `any application that uses the flow "weak"
  urn:postern:acr:password
    with the user's password
    1. any application that uses the flow "weak", weak: who —continue→ find —found→ check —success→ done. The attacker gains: tokens of any application that uses the flow "weak" (urn:postern:acr:password)
`
	if output := mustRun(t, nil, "prove", dir); output != want {
		t.Errorf("%s\nwant\n%s", output, want)
	}
}

// loopingFlow lets in who has an authenticator app, and registers one for who has none.
const loopingFlow = "  - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: app}\n" +
	"  - {id: app, use: totp-register, next: {success: again, kept: done}}\n" +
	"  - {id: again, use: prompt, with: {actions: [{ref: go}]}, next: key}\n  - {id: done, use: authorization-code}\n"

// A flow that an attacker passes after registering a factor in an earlier run is a new way.
func TestFactorsOfEarlierRunsAreWays(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		admin := w.admin()
		var door, loop struct{ ID string }
		w.send(201, "/flows", admin, flowBody(t, "door", onlyPasskeys, ""), &door)
		w.send(201, "/flows", admin, flowBody(t, "loop", loopingFlow, ""), &loop)
		shop := w.application(admin, "Shop", "authFlowId", door.ID)
		rec := w.call("PATCH", "/applications/"+shop, admin, `{"authFlowId": "`+loop.ID+`"}`)
		if rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), schemas.CodeNewWay) || !strings.Contains(rec.Body.String(), "app —kept→") {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
	})
}

// An application that is created again under the identifiers of a deleted one must not be weaker, even
// if its flow was created again too.
func TestApplicationsReturnAsStrong(t *testing.T) {
	const appID, flowID = "01900000-0000-7000-8000-00000000a001", "01900000-0000-7000-8000-00000000a002"
	app := func(id, clientID, flow string) string {
		return `{` + id + `"name": "Shop", "authFlowId": "` + flow + `", "inboundAuthConfig": [{"type": "oauth2", "config": {"clientId": "` + clientID +
			`", "redirectUris": ["https://shop.example/back"]}}]}`
	}
	named := `"id": "` + appID + `", `
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		admin := w.admin()
		var weak struct{ ID string }
		w.send(201, "/flows", admin, flowBody(t, "weak", onlyPasswords, ""), &weak)
		strong := strings.Replace(flowBody(t, "door", onlyPasskeys, ""), "{", `{"id": "`+flowID+`",`, 1)
		w.made(admin, "/flows", strong)
		w.made(admin, "/applications", app(named, "shop", flowID))
		remove := func(path string) {
			if rec := w.call("DELETE", path, admin, ""); rec.Code != http.StatusNoContent {
				t.Fatalf("DELETE %s: %d %s", path, rec.Code, rec.Body)
			}
		}
		remove("/applications/" + appID)
		refuse := func(what, body string) {
			t.Helper()
			if rec := w.call("POST", "/applications", admin, body); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), schemas.CodeNewWay) {
				t.Errorf("%s: %d %s", what, rec.Code, rec.Body)
			}
		}
		refuse("with the same id", app(named, "other", weak.ID))
		refuse("with the same client id", app("", "shop", weak.ID))
		remove("/flows/" + flowID)
		w.made(admin, "/flows", strings.Replace(flowBody(t, "door", onlyPasswords, ""), "{", `{"id": "`+flowID+`",`, 1))
		refuse("with the same flow, which is weaker", app(named, "shop", flowID))
		other := w.made(admin, "/applications", app("", "other", weak.ID))
		if rec := w.call("PUT", "/applications/"+other, admin, app("", "shop", weak.ID)); rec.Code != http.StatusBadRequest {
			t.Errorf("another application takes the client id: %d %s", rec.Code, rec.Body)
		}
		remove("/applications/" + other)
		w.put("/flows/"+flowID, flowBody(t, "door", onlyPasskeys, ""), admin)
		w.made(admin, "/applications", app(named, "shop", flowID))
	})
}

// Administrators select a built-in flow by its name, so a change of one takes their permissions, also
// while no application uses it.
func TestBuiltInFlowsNeedThePermissionsOfTheirUsers(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		editor := w.holder("editor", "system:flows:write", "system:flows:read")
		harvest := flowBody(t, "password-then-passkey", onlyPasswords, "")
		const builtIn = "/flows/01900000-0000-7000-8000-000000000065"
		if rec := w.call("PUT", builtIn, editor, harvest); rec.Code != http.StatusForbidden {
			t.Errorf("a built-in flow: %d %s", rec.Code, rec.Body)
		}
		own := w.made(editor, "/flows", flowBody(t, "own", onlyPasskeys, ""))
		if rec := w.call("PUT", "/flows/"+own, editor, harvest); rec.Code != http.StatusForbidden && rec.Code != http.StatusConflict {
			t.Errorf("the handle of a built-in flow: %d %s", rec.Code, rec.Body)
		}
		w.put("/flows/"+own, flowBody(t, "own", onlyPasswords, ""), editor)
		w.put(builtIn, harvest, w.admin())
	})
}

// A folder whose flows call a service is analyzed with the targets of the configuration. Without them the error
// names the target and the flag.
func TestProveFolderWithTargets(t *testing.T) {
	sequential(t)
	target := `POSTERN_HTTP_TARGETS={"risk":{"url":"https://risk.example.com"}}`
	environ := testEnvironment(t.TempDir())
	w := newTestAppIn(t, append(environ, target))
	admin, dir := w.admin(), filepath.Join(t.TempDir(), "out")
	asks := "  - {id: ask, use: http-request, with: {target: risk, mode: query}, next: {success: key, failure: key}}\n" + onlyPasskeys
	if rec := w.call("POST", "/flows", admin, flowBody(t, "asks", asks, "")); rec.Code != http.StatusCreated {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	mustRun(t, append(environ, target), "export", dir)
	prove := func(environ []string) (code int, failures string) {
		var out, errors bytes.Buffer
		p := program{args: []string{"prove", dir}, environ: environ, stdout: &out, stderr: &errors}
		return p.run(t.Context()), errors.String()
	}
	if code, failures := prove(append(environ, target)); code != exitFine {
		t.Errorf("with the target: %d %s", code, failures)
	}
	if code, failures := prove(environ); code == exitFine || !strings.Contains(failures, `the target "risk", which is not configured; pass --config`) {
		t.Errorf("without the target: %d %s", code, failures)
	}
}
