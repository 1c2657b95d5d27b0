package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Requests that are wrong, each in one way. None may be answered by a 5xx, and
// each reply says what was wrong in words the sender can act on.
func TestMalformedRequests(t *testing.T) {
	const (
		execute   = "POST /flow/execute"
		regStart  = "POST /register/passkey/start"
		regFinish = "POST /register/passkey/finish"
		authStart = "POST /auth/passkey/start"
		authEnd   = "POST /auth/passkey/finish"
		request   = schemas.CodeInvalidRequest
		config    = schemas.CodePasskeyConfig
	)
	long := strings.Repeat("x", 300<<10)
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	tests := []struct {
		to, body string
		headers  string
		status   int
		code     string
		says     string
	}{
		// /flow/execute
		{execute, ``, "Content-Type: application/json", 400, request, "end of the text"},
		{execute, begin, "Content-Type: ", 400, request, "application/json, got none"},
		{execute, begin, "Content-Type: text/plain", 400, request, `got "text/plain"`},
		{execute, begin, "Content-Type: application/x-www-form-urlencoded", 400, request, "application/x-www-form-urlencoded"},
		{execute, begin, "Content-Type: application/json; charset=latin1", 400, request, "UTF-8"},
		{execute, begin, "Content-Type: ;;;", 400, request, "application/json"},
		{execute, `{`, "", 400, request, "member's name"},
		{execute, `{"applicationId":"app",}`, "", 400, request, "1:24"},
		{execute, begin + begin, "", 400, request, "after the first value"},
		{execute, "\xff\xfe", "", 400, request, "UTF-8"},
		{execute, `[]`, "", 400, request, "expected an object, got a list"},
		{execute, `"x"`, "", 400, request, "expected an object, got a string"},
		{execute, `null`, "", 400, request, "expected a value, got null"},
		{execute, `{}`, "", 400, request, "applicationId and flowType"},
		{execute, `{"verbose":true}`, "", 400, request, "executionId to continue"},
		{execute, `{"action":"go"}`, "", 400, request, "executionId to continue"},
		{execute, `{"applicationId":"app"}`, "", 400, request, `"flowType" is missing`},
		{execute, `{"flowType":"AUTHENTICATION"}`, "", 400, request, `"applicationId" is missing`},
		{execute, `{"applicationId":"app","flowType":"authentication"}`, "", 400, request, "did you mean AUTHENTICATION?"},
		{execute, `{"applicationId":"app","flowType":"LOGIN"}`, "", 400, request, "AUTHENTICATION or REGISTRATION"},
		{execute, `{"applicationId":"app","flowType":""}`, "", 400, request, "AUTHENTICATION or REGISTRATION"},
		{execute, `{"applicationId":7,"flowType":"AUTHENTICATION"}`, "", 400, request, "applicationId: expected a string, got a number"},
		{execute, `{"applicationID":"app","flowType":"AUTHENTICATION"}`, "", 400, request, `did you mean "applicationId"?`},
		{execute, `{"applicationId":"app","flowType":"AUTHENTICATION","executionId":"x"}`, "", 400, request, "one or the other"},
		{execute, `{"applicationId":"app","executionId":"x"}`, "", 400, request, "applicationId does not belong here"},
		{execute, `{"flowType":"AUTHENTICATION","executionId":"x","action":"go"}`, "", 400, request, "flowType does not belong here"},
		{execute, `{"applicationId":"app","flowType":"AUTHENTICATION","action":"go"}`, "", 400, request, "action does not belong here"},
		{execute, `{"applicationId":"app","flowType":"AUTHENTICATION","challengeToken":"x"}`, "", 400, request, "challengeToken does not belong here"},
		{execute, `{"applicationId":"nope","flowType":"AUTHENTICATION"}`, "", 400, schemas.CodeAppNotFound, `"nope"`},
		{execute, `{"applicationId":"","flowType":"AUTHENTICATION"}`, "", 400, schemas.CodeAppNotFound, `""`},
		{execute, `{"applicationId":"closed","flowType":"REGISTRATION"}`, "", 400, "registration_disabled", "isRegistrationFlowEnabled"},
		{execute, `{"applicationId":"bare","flowType":"REGISTRATION"}`, "", 400, "flow_not_configured", "registrationFlowId"},
		{execute, `{"applicationId":"bare","flowType":"AUTHENTICATION"}`, "", 400, "flow_not_configured", "authFlowId"},
		{execute, `{"executionId":"x","inputs":[]}`, "", 400, request, "inputs: expected an object, got a list"},
		{execute, `{"executionId":"x","inputs":{"age":7}}`, "", 400, request, "inputs.age: expected a string, got a number"},
		{execute, `{"executionId":"x","inputs":{"agreed":true}}`, "", 400, request, "inputs.agreed: expected a string, got true or false"},
		{execute, `{"executionId":"x","inputs":{"a":{"b":"c"}}}`, "", 400, request, "inputs.a: expected a string, got an object"},
		{execute, `{"executionId":"x","inputs":{"a":"1","a":"2"}}`, "", 400, request, `"a" is given twice`},
		{execute, `{"executionId":"x","executionId":"y"}`, "", 400, request, "given twice"},
		{execute, `{"executionId":"x","verbose":"yes"}`, "", 400, request, "verbose: expected true or false, got a string"},
		{execute, `{"executionId":"x","acton":"go"}`, "", 400, request, `did you mean "action"?`},
		{execute, `{"executionId":"x","flow":"go"}`, "", 400, request, `unknown member "flow"`},
		{execute, `{"executionId":"x","inputs":` + deep + `}`, "", 400, request, "nested deeper"},
		{execute, `{"executionId":"` + long + `"}`, "", 413, "payload_too_large", "262144 bytes"},
		// /flow/meta
		{"GET /flow/meta", "", "", 400, request, `"id" is missing`},
		{"GET /flow/meta?id=nope", "", "", 400, schemas.CodeAppNotFound, `"nope"`},
		{"GET /flow/meta?id=app&type=USER", "", "", 400, request, `type: expected APP, got "USER"`},
		{"GET /flow/meta?id=app&language=not_a%20tag", "", "", 400, request, "language: expected a language tag"},
		{"GET /flow/meta?type=USER&language=@", "", "", 400, request, "id: required"},
		// /register/passkey/start
		{regStart, `{}`, "", 400, request, `"userId" is missing`},
		{regStart, `{"userId":null}`, "", 400, request, `"userId" is missing`},
		{regStart, `{"userId":""}`, "", 400, request, `"userId" is missing`},
		{regStart, `{"userId":"nobody"}`, "", 400, schemas.CodeUserNotFound, `"nobody"`},
		{regStart, `{"userId":"` + ada + `","userid":"x"}`, "", 400, request, `did you mean "userId"?`},
		{regStart, `{"userId":"` + ada + `","relyingPartyId":"example.org"}`, "", 400, config, `"example.org"`},
		{regStart, `{"userId":"` + ada + `","relyingPartyId":7}`, "", 400, request, "relyingPartyId: expected a string"},
		{regStart, `{"userId":"` + ada + `","attestation":"maybe"}`, "", 400, request, "maybe"},
		{regStart, `{"userId":"` + ada + `","authenticatorSelection":"none"}`, "", 400, request, "authenticatorSelection: expected an object"},
		{regStart, `{"userId":"` + ada + `","authenticatorSelection":{"userVerification":"always"}}`, "", 400, request, "always"},
		{regStart, `{"userId":"` + ada + `","authenticatorSelection":{"authenticatorAttachment":"usb"}}`, "", 400, request, "usb"},
		{regStart, `{"userId":"` + ada + `","authenticatorSelection":{"residentKey":"yes"}}`, "", 400, request, "yes"},
		{regStart, `{"userId":"` + ada + `","authenticatorSelection":{"requireResidentKey":"yes"}}`, "", 400, request, "requireResidentKey: expected true or false"},
		{regStart, `{"userId":"` + ada + `","authenticatorSelection":{"attachment":"platform"}}`, "", 400, request, `unknown member "attachment"`},
		{regStart, `{"userId":"` + strings.Repeat("x", 70<<10) + `"}`, "", 413, "payload_too_large", "65536 bytes"},
		// /register/passkey/finish
		{regFinish, `{}`, "", 400, request, `"sessionToken" is missing`},
		{regFinish, `{"sessionToken":null}`, "", 400, request, `"sessionToken" is missing`},
		{regFinish, `{"sessionToken":""}`, "", 400, schemas.CodeStaleSession, "start again"},
		{regFinish, `{"sessionToken":"x","credentialName":7}`, "", 400, request, "credentialName: expected a string"},
		{regFinish, `{"sessionToken":"x","sessiontoken":"y"}`, "", 400, request, `unknown member "sessiontoken"`},
		{regFinish, `{"sessionToken":"` + long + `"}`, "", 413, "payload_too_large", "262144 bytes"},
		// /auth/passkey/start
		{authStart, `{"userId":""}`, "", 400, request, "leave it out"},
		{authStart, `{"userId":"nobody"}`, "", 400, schemas.CodeUserNotFound, `"nobody"`},
		{authStart, `{"userId":["x"]}`, "", 400, request, "userId: expected a string, got a list"},
		{authStart, `{"userID":"x"}`, "", 400, request, `did you mean "userId"?`},
		{authStart, `{"relyingPartyId":"evil-example.com"}`, "", 400, config, `"evil-example.com"`},
		{authStart, `{"relyingPartyId":"."}`, "", 400, config, `"."`},
		{authStart, ``, "Content-Type: application/json", 400, request, "end of the text"},
		// /auth/passkey/finish
		{authEnd, `{}`, "", 400, request, `"sessionToken" is missing`},
		{authEnd, `{"sessionToken":"used"}`, "", 400, schemas.CodeStaleSession, "start again"},
		{authEnd, `{"sessionToken":"x","skipAssertion":"false"}`, "", 400, request, "skipAssertion: expected true or false"},
		{authEnd, `{"publicKeyCredential":{}}`, "", 400, request, `"sessionToken" is missing`},
		{authEnd, `{"publicKeyCredential":{"id":"a","id":"b"},"sessionToken":"x"}`, "", 400, request, "given twice"},
		// paths and methods
		{"GET /", "", "", 404, schemas.CodeNotFound, `"/"`},
		{"POST /flow/excute", begin, "", 404, schemas.CodeNotFound, "did you mean /flow/execute?"},
		{"POST //flow/execute", begin, "", 404, schemas.CodeNotFound, "did you mean /flow/execute?"},
		{"POST /flow/execute/", begin, "", 404, schemas.CodeNotFound, "/flow/execute/"},
		{"POST /flow/../flow/execute", begin, "", 404, schemas.CodeNotFound, "nothing at"},
		{"GET /%00%ff", "", "", 404, schemas.CodeNotFound, "nothing at"},
		{"GET /" + strings.Repeat("x", 5000), "", "", 404, schemas.CodeNotFound, "xxx"},
		{"GET /flow/execute", "", "", 405, "method_not_allowed", "does not take GET"},
		{"DELETE /flow/meta", "", "", 405, "method_not_allowed", "GET, HEAD, OPTIONS"},
		{"PUT /register/passkey/start", "{}", "", 405, "method_not_allowed", "OPTIONS, POST"},
		{"POST /health/liveness", "{}", "", 405, "method_not_allowed", "does not take POST"},
		{"TRACE /auth/passkey/start", "", "", 405, "method_not_allowed", "does not take TRACE"},
	}
	if len(tests) < 60 {
		t.Fatalf("only %d", len(tests))
	}
	w := newWorld(t)
	for _, tt := range tests {
		name := tt.to + " " + tt.body
		t.Run(name[:min(len(name), 100)], func(t *testing.T) {
			method, target, _ := strings.Cut(tt.to, " ")
			headers := []string{"Authorization: Bearer system"}
			if tt.headers != "" {
				headers = append(headers, tt.headers)
			}
			rec := w.do(method, target, tt.body, headers...)
			f := fails(t, rec, tt.status, tt.code)
			if !strings.Contains(f.Description.DefaultValue, tt.says) {
				t.Errorf("%q does not tell %q", f.Description.DefaultValue, tt.says)
			}
			if got := rec.Header().Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control %q", got)
			}
			if (tt.status == http.StatusMethodNotAllowed) != (rec.Header().Get("Allow") != "") {
				t.Errorf("Allow %q with %d", rec.Header().Get("Allow"), tt.status)
			}
		})
	}
}

// All that is wrong is told at once.
func TestSeveralFaultsAreToldTogether(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`{"applicationId":7,"flowTyp":"x","inputs":{"a":1,"b":2}}`: "applicationId flowTyp inputs.a inputs.b",
		`{"executionId":"x","applicationId":"a","flowType":"y"}`:   "applicationId flowType",
		`{"flowType":"LOGIN","action":"go","challengeToken":"x"}`:  "action challengeToken applicationId flowType",
	} {
		f := fails(t, w.do("POST", "/flow/execute", body), 400, schemas.CodeInvalidRequest)
		var paths []string
		for _, p := range f.Errors {
			paths = append(paths, p.Path)
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s: faults at %s, want %s", body, got, want)
		}
	}
}
