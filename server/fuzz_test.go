package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Whatever is posted, the reply is a step or an error of the one shape, and
// never a 5xx.
func FuzzFlowExecuteBody(f *testing.F) {
	for _, body := range []string{
		begin, `{"applicationId":"app","flowType":"REGISTRATION","verbose":true}`,
		`{"applicationId":"app","flowType":"AUTHENTICATION","inputs":{"name":"ada"}}`,
		`{"executionId":"RUN"}`, `{"executionId":"RUN","action":"go","inputs":{"name":"a"}}`,
		`{"executionId":"RUN","action":"go","challengeToken":"TOKEN","verbose":true}`,
		`{"executionId":null,"inputs":{"a":null}}`, `{"inputs":{"\u0000":"\ud800"}}`, `[]`, `{"a":1e999}`, ``, "\xff",
	} {
		f.Add(body)
	}
	handler := newPasskeyFixture(f).handler
	f.Fuzz(func(t *testing.T, body string) {
		w := &passkeyFixture{t: t, handler: handler}
		s := w.execute(begin)
		body = strings.NewReplacer("RUN", s.ExecutionID, "TOKEN", s.ChallengeToken).Replace(body)
		rec := w.do("POST", "/flow/execute", body, "Content-Type: application/json")
		if rec.Code == http.StatusOK {
			var step schemas.Step
			if err := json.Unmarshal(rec.Body.Bytes(), &step); err != nil || step.ExecutionID == "" || step.FlowStatus == "" {
				t.Fatalf("%q: %s", body, rec.Body)
			}
			return
		}
		if rec.Code >= 500 {
			t.Fatalf("%q: %d %s", body, rec.Code, rec.Body)
		}
		var e failure
		if err := json.Unmarshal(rec.Body.Bytes(), &e); err != nil {
			t.Fatalf("%q: %s", body, rec.Body)
		}
		fails(t, rec, rec.Code, e.Code)
	})
}

// The same for a finish, whose credential is read by hand.
func FuzzPasskeyFinishBody(f *testing.F) {
	for _, credential := range []string{
		`null`, `{}`, `7`, `"x"`, `[]`, `true`, `{"id":"eA","type":"public-key","response":{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA"}}`,
		`{"response":null}`, `{"response":{"transports":["usb"]}}`, `{"id":{},"type":[],"response":"x"}`, ` { "id" : null } `,
	} {
		f.Add(credential)
	}
	handler := newPasskeyFixture(f).handler
	f.Fuzz(func(t *testing.T, credential string) {
		w := &passkeyFixture{t: t, handler: handler}
		s := w.startAuthentication(`{}`)
		rec := w.do("POST", "/auth/passkey/finish", `{"sessionToken":"`+s.SessionToken+`","publicKeyCredential":`+credential+`}`)
		var e failure
		if err := json.Unmarshal(rec.Body.Bytes(), &e); err != nil || rec.Code != http.StatusBadRequest {
			t.Fatalf("%q: %d %s", credential, rec.Code, rec.Body)
		}
		fails(t, rec, http.StatusBadRequest, e.Code)
	})
}
