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

		attestedJSON = `{"id":"eA","response":{"clientDataJSON":"e30","attestationObject":"oA"}}`
		answered     = `{"id":"eA","response":{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA"}}`
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
		{execute, `{"applicationId":"app","flowType":"authentication"}`, "", 400, request, "did you mean \"AUTHENTICATION\"?"},
		{execute, `{"applicationId":"app","flowType":"LOGIN"}`, "", 400, request, "AUTHENTICATION, REGISTRATION, RECOVERY, INVITATION or ADDRESS_CHANGE"},
		{execute, `{"applicationId":"app","flowType":""}`, "", 400, request, "AUTHENTICATION, REGISTRATION, RECOVERY, INVITATION or ADDRESS_CHANGE"},
		{execute, `{"applicationId":7,"flowType":"AUTHENTICATION"}`, "", 400, request, "applicationId: expected a string, got a number"},
		{execute, `{"applicationID":"app","flowType":"AUTHENTICATION"}`, "", 400, request, `did you mean "applicationId"?`},
		{execute, `{"applicationId":"app","flowType":"AUTHENTICATION","executionId":"x"}`, "", 400, request, "one or the other"},
		{execute, `{"applicationId":"app","executionId":"x"}`, "", 400, request, "applicationId does not belong here"},
		{execute, `{"flowType":"AUTHENTICATION","executionId":"x","action":"go"}`, "", 400, request, "flowType does not belong here"},
		{execute, `{"applicationId":"app","flowType":"AUTHENTICATION","action":"go"}`, "", 400, request, "action does not belong here"},
		{execute, `{"applicationId":"nope","flowType":"AUTHENTICATION"}`, "", 400, schemas.CodeAppNotFound, `"nope"`},
		{execute, `{"applicationId":"","flowType":"AUTHENTICATION"}`, "", 400, schemas.CodeAppNotFound, `""`},
		{execute, `{"applicationId":"closed","flowType":"REGISTRATION"}`, "", 400, "registration_disabled", "isRegistrationFlowEnabled"},
		{execute, `{"applicationId":"bare","flowType":"RECOVERY"}`, "", 400, "flow_not_configured", "recoveryFlowId"},
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
		{"GET /flow/meta?id=nope", "", "", 400, schemas.CodeAppNotFound, `"nope"`},
		{"GET /flow/meta?id=app&type=USER", "", "", 400, request, `type: expected APP, got "USER"`},
		{"GET /flow/meta?id=app&language=not_a%20tag", "", "", 400, request, "language: expected a language tag"},
		{"GET /flow/meta?type=USER&language=@", "", "", 400, request, "type: expected APP"},
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
		{regFinish, `{}`, "", 400, request, `"publicKeyCredential" is missing`},
		{regFinish, `{"sessionToken":null,"publicKeyCredential":` + attestedJSON + `}`, "", 400, request, `"sessionToken" is missing`},
		{regFinish, `{"sessionToken":"","publicKeyCredential":` + attestedJSON + `}`, "", 400, schemas.CodeStaleSession, "start again"},
		{regFinish, `{"sessionToken":"x","publicKeyCredential":` + attestedJSON + `,"credentialName":7}`, "", 400, request, "credentialName: expected a string"},
		{regFinish, `{"sessionToken":"x","publicKeyCredential":` + attestedJSON + `,"sessiontoken":"y"}`, "", 400, request, `unknown member "sessiontoken"`},
		{regFinish, `{"sessionToken":"` + long + `"}`, "", 413, "payload_too_large", "262144 bytes"},
		// /auth/passkey/start
		{authStart, `{"userId":"` + strings.Repeat("x", 65) + `"}`, "", 400, request, "which has 36 characters, got 65"},
		{authStart, `{"userId":["x"]}`, "", 400, request, "userId: expected a string, got a list"},
		{authStart, `{"userID":"x"}`, "", 400, request, `did you mean "userId"?`},
		{authStart, `{"relyingPartyId":"evil-example.com"}`, "", 400, config, `"evil-example.com"`},
		{authStart, `{"relyingPartyId":"."}`, "", 400, config, `"."`},
		{authStart, ``, "Content-Type: application/json", 400, request, "end of the text"},
		// /auth/passkey/finish
		{authEnd, `{}`, "", 400, request, `"publicKeyCredential" is missing`},
		{authEnd, `{"sessionToken":"used","publicKeyCredential":` + answered + `}`, "", 400, schemas.CodeStaleSession, "start again"},
		{authEnd, `{"sessionToken":"used"}`, "", 400, request, `"publicKeyCredential" is missing`},
		{authEnd, `{"sessionToken":"x","publicKeyCredential":` + answered + `,"skipAssertion":"false"}`, "", 400, request, "skipAssertion: expected true or false"},
		{authEnd, `{"publicKeyCredential":{}}`, "", 400, request, `"sessionToken" is missing`},
		{authEnd, `{"publicKeyCredential":{"id":"a","id":"b"},"sessionToken":"x"}`, "", 400, request, "given twice"},
		// paths and methods
		{"GET /", "", "Accept: application/json", 404, schemas.CodeNotFound, `"/"`},
		{"POST /flow/excute", begin, "", 404, schemas.CodeNotFound, "did you mean \"/flow/execute\"?"},
		{"POST //flow/execute", begin, "", 404, schemas.CodeNotFound, "did you mean \"/flow/execute\"?"},
		{"POST /flow/execute/", begin, "", 404, schemas.CodeNotFound, "/flow/execute/"},
		{"POST /flow/../flow/execute", begin, "", 404, schemas.CodeNotFound, "no endpoint"},
		{"GET /%00%ff", "", "", 404, schemas.CodeNotFound, "no endpoint"},
		{"GET /" + strings.Repeat("x", 5000), "", "", 404, schemas.CodeNotFound, "xxx"},
		{"GET /flow/execute", "", "", 405, "method_not_allowed", "does not support the method GET"},
		{"DELETE /flow/meta", "", "", 405, "method_not_allowed", "GET, HEAD, OPTIONS"},
		{"PUT /register/passkey/start", "{}", "", 405, "method_not_allowed", "OPTIONS, POST"},
		{"POST /health/liveness", "{}", "", 405, "method_not_allowed", "does not support the method POST"},
		{"TRACE /auth/passkey/start", "", "", 405, "method_not_allowed", "does not support the method TRACE"},
	}
	if len(tests) < 60 {
		t.Fatalf("only %d", len(tests))
	}
	w := newPasskeyFixture(t)
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

// All faults are reported at once, each once.
func TestSeveralFaultsAreReportedTogether(t *testing.T) {
	const (
		execute   = "/flow/execute"
		regStart  = "/register/passkey/start"
		regFinish = "/register/passkey/finish"
		authStart = "/auth/passkey/start"
		authEnd   = "/auth/passkey/finish"
	)
	tests := []struct{ path, body, want string }{
		{execute, `{"applicationId":7,"flowTyp":"x","inputs":{"a":1,"b":2}}`, "flowType applicationId flowTyp inputs.a inputs.b"},
		{execute, `{"executionId":"x","applicationId":"a","flowType":"y"}`, "applicationId flowType"},
		{execute, `{"flowType":"LOGIN","action":"go","challengeToken":"x"}`, "applicationId flowType action"},
		{execute, `{"applicationId":"app","flowType":"AUTH","foo":1}`, "flowType foo"},
		{execute, `{"applicationId":"app","foo":1}`, "flowType foo"},
		{execute, `{"foo":1}`, " foo"},
		{execute, `{"foo":1,"bar":2,"executionId":"x","flowType":"y"}`, "foo bar flowType"},
		// A misspelled member is not also missing, nor is one of the wrong type.
		{execute, `{"aplicationId":"app","flowType":"AUTHENTICATION"}`, "aplicationId"},
		{execute, `{"aplicationId":"app","flowTyp":"AUTHENTICATION"}`, "aplicationId flowTyp"},
		{execute, `{"executionid":"x","acton":"go"}`, "executionid acton"},
		{execute, `{"executionIdd":7,"verbos":true}`, "executionIdd verbos"},
		{execute, `{"executionId":7,"action":"go"}`, "executionId"},
		{execute, `{"executionId":"x","executionid":null,"Inputs":[]}`, "executionid Inputs"},
		{execute, `{"flowType":"LOGIN","flowtype":"AUTHENTICATION","applicationId":"app"}`, "flowType flowtype"},
		{execute, `{"flowType":{"a":1},"applicationId":[]}`, "flowType applicationId"},
		{execute, `[{"foo":1}]`, ""},
		{execute, `{"foo":1,"foo":2}`, "foo"},
		{execute, `{"foo":1,`, ""},
		{regStart, `{}`, "userId"},
		{regStart, `{"userid":"` + ada + `","relyingPartyId":7}`, "userid relyingPartyId"},
		{regStart, `{"authenticatorSelection":{"userVerification":"a","authenticatorAttachment":"b","residentKey":"c","requireResidentKey":"d","e":1},"attestation":"f"}`,
			"userId authenticatorSelection.userVerification authenticatorSelection.authenticatorAttachment authenticatorSelection.residentKey authenticatorSelection.requireResidentKey authenticatorSelection.e attestation"},
		{regStart, `{"authenticatorSelection":[],"attestation":7}`, "userId authenticatorSelection attestation"},
		{authStart, `{"userId":"` + strings.Repeat("x", 65) + `","relyingPartyId":7,"sessiontoken":"x"}`, "userId relyingPartyId sessiontoken"},
		{authStart, `{"sessionToken":7,"foo":1}`, "sessionToken foo"},
		{regFinish, `{}`, "publicKeyCredential sessionToken"},
		{regFinish, `{"publicKeyCredential":{},"foo":1}`, "sessionToken publicKeyCredential.id publicKeyCredential.response.attestationObject publicKeyCredential.response.clientDataJSON foo"},
		{regFinish, `{"publicKeyCredential":{"id":"eA","response":{"clientDataJSON":7,"transports":"usb"}}}`,
			"sessionToken publicKeyCredential.response.attestationObject publicKeyCredential.response.clientDataJSON publicKeyCredential.response.transports"},
		{regFinish, `{"publickeyCredential":{"id":"eA"},"credentialNam":"x"}`,
			"publicKeyCredential.response.attestationObject publicKeyCredential.response.clientDataJSON sessionToken publickeyCredential credentialNam"},
		{authEnd, `{}`, "publicKeyCredential sessionToken"},
		{authEnd, `{"publicKeyCredential":{"id":"","type":"x"},"skipAssertion":1}`,
			"sessionToken publicKeyCredential.response.authenticatorData publicKeyCredential.response.clientDataJSON publicKeyCredential.response.signature publicKeyCredential.id publicKeyCredential.type skipAssertion"},
		{authEnd, `{"publicKeyCredential":{"id":null,"response":"x"}}`, "sessionToken publicKeyCredential.id publicKeyCredential.response"},
		{authEnd, `{"publicKeyCredential":"x","sessionToken":7}`, "publicKeyCredential sessionToken"},
	}
	w := newPasskeyFixture(t)
	for _, tt := range tests {
		t.Run(tt.path+" "+tt.body, func(t *testing.T) {
			f := fails(t, w.do("POST", tt.path, tt.body, system), 400, schemas.CodeInvalidRequest)
			var paths []string
			for _, p := range f.Errors {
				paths = append(paths, p.Path)
				if p.Line == 0 || p.Message == "" {
					t.Errorf("%s: no place or no words: %+v", p.Path, p)
				}
			}
			if got := strings.Join(paths, " "); got != tt.want {
				t.Errorf("faults at %q, want %q", got, tt.want)
			}
		})
	}
}
