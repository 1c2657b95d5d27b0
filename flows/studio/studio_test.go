package studio

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// call calls a function and decodes its result, or returns the error in words.
func call[O any](t *testing.T, s *Studio, name string, input any) (result O, failed string) {
	t.Helper()
	text := datatest.Marshal(t, input)
	var r struct {
		Result O
		Error  string
	}
	datatest.Unmarshal(t, s.Call(name, text), &r)
	return r.Result, r.Error
}

func TestCallErrors(t *testing.T) {
	for name, tt := range map[string]struct{ function, input, want string }{
		"no such function":  {"guess", "{}", "the functions are check"},
		"an unknown member": {"check", `{"yaml": "x"}`, `unknown field "yaml"`},
		"no JSON":           {"check", "x", "the input does not fit"},
		"a part is missing": {"setSystem", `{"subflows": [{"handle": "a", "uses": [{"handle": "b", "id": "1", "version": 2}]}]}`, `"a" uses version 2 of "b"`},
	} {
		if r := string(New().Call(tt.function, []byte(tt.input))); !strings.Contains(r, `{"error":`) || !strings.Contains(strings.ReplaceAll(r, `\"`, `"`), tt.want) {
			t.Errorf("%s: %s", name, r)
		}
	}
}

const withSubflow = `handle: sign-in
name: Sign in
flowType: AUTHENTICATION
nodes:
  - {id: second, use: flow, with: {flow: key}, next: done}
  - {id: done, use: authorization-code}
`

func TestCheckUsesTheSystem(t *testing.T) {
	subflow := func(id string, version int, kind string) string {
		return strings.NewReplacer("ID", id, "VERSION", string(rune('0'+version)), "KIND", kind).Replace(
			`{"id": "ID", "handle": "key", "name": "Key", "flowType": "SUBFLOW", "activeVersion": VERSION, "nodes": [{"id": "ask", "use": "KIND", "with": {"mode": "usernameless"}, "next": "end"}]}`)
	}
	for name, tt := range map[string]struct {
		system, text, finding string
	}{
		"no sub-flow":           {`{}`, withSubflow, `there is no sub-flow "key"; there are none here`},
		"a sub-flow":            {`{"subflows": [` + subflow("1", 1, "passkey-authenticate") + `]}`, withSubflow, ""},
		"an older version":      {`{"parts": [` + subflow("1", 1, "passkey-authenticate") + `]}`, withSubflow, `there is no sub-flow "key"`},
		"a broken sub-flow":     {`{"subflows": [` + subflow("1", 1, "unknown") + `]}`, withSubflow, `the sub-flow "key" has an error of its own`},
		"no shape":              {`{}`, "nodes: [", "line"},
		"a target":              {`{"targets": ["crm"]}`, strings.ReplaceAll(withHTTP, "TARGET", "crm"), ""},
		"an unknown target":     {`{"targets": ["crm"]}`, strings.ReplaceAll(withHTTP, "TARGET", "erp"), `"erp"`},
		"a server that mails":   {`{"sendsMail": true}`, withMail, ""},
		"a server without":      {`{}`, withMail, "mail"},
		"members that are null": {`{"sendsMail": true}`, strings.Replace(withMail, "name: Sign in", "name: Sign in\nwaive: null", 1), ""},
	} {
		s := New()
		if _, failed := call[any](t, s, "setSystem", json.RawMessage(tt.system)); failed != "" {
			t.Errorf("%s: %s", name, failed)
		}
		got, failed := call[CheckResult](t, s, "check", Source{Text: tt.text})
		if failed != "" || got.Valid != (tt.finding == "") {
			t.Errorf("%s: %+v %s", name, got, failed)
		}
		if tt.finding != "" && tt.finding != "line" && !strings.Contains(got.Findings[0].Message, tt.finding) {
			t.Errorf("%s: %+v, want %q", name, got.Findings, tt.finding)
		}
	}
}

const withHTTP = `handle: sign-in
name: Sign in
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: notify}
  - {id: notify, use: http-request, with: {target: TARGET, mode: notify, body: {id: user.id}}, next: done}
  - {id: done, use: authorization-code}
`

const withMail = `handle: sign-in
name: Sign in
flowType: AUTHENTICATION
nodes:
  - {id: ask, use: prompt, with: {inputs: [{identifier: email, type: EMAIL_INPUT, required: true}], actions: [{ref: go, label: Go}]}, next: find}
  - {id: find, use: user-resolve, with: {from: email, by: [email], conceal: true}, next: {found: code, missing: code}}
  - {id: code, use: email-otp, next: {success: done, failure: ask}}
  - {id: done, use: authorization-code}
`
