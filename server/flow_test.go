package server_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

const begin = `{"applicationId":"app","flowType":"AUTHENTICATION"}`

// execute sends a body that must be answered by a step.
func (w *passkeyFixture) execute(body any, headers ...string) *schemas.Step {
	w.t.Helper()
	var step schemas.Step
	w.post("/flow/execute", body, &step, headers...)
	return &step
}

func answer(s *schemas.Step, action string, inputs map[string]string) map[string]any {
	return map[string]any{"executionId": s.ExecutionID, "action": action, "inputs": inputs, "challengeToken": s.ChallengeToken}
}

// Each golden file is the reply to the last body; %s is the run's id.
func TestFlowGoldens(t *testing.T) {
	const (
		name  = `{"executionId":"%s","action":"go","inputs":{"name":"ada"}}`
		wrong = `{"executionId":"%s","action":"go","inputs":{"secret":"wrong"}}`
		right = `{"executionId":"%s","action":"go","inputs":{"secret":"right"}}`
	)
	verbose := func(body string) string { return strings.TrimSuffix(body, "}") + `,"verbose":true}` }
	terse := func(body string) string { return strings.TrimSuffix(body, "}") + `,"verbose":false}` }
	tests := []struct {
		file   string
		bodies []string
	}{
		{"view", []string{begin}},
		{"view_verbose", []string{verbose(begin)}},
		{"resumed", []string{begin, `{"executionId":"%s"}`}},
		{"resumed_verbose", []string{begin, `{"executionId":"%s","verbose":true,"action":null,"inputs":null,"challengeToken":null}`}},
		{"mistake", []string{begin, name, wrong}},
		{"mistake_verbose", []string{begin, name, verbose(wrong)}},
		{"complete", []string{begin, name, right}},
		{"complete_verbose", []string{begin, name, verbose(right)}},
		{"resumed", []string{begin, `{"executionId":"%s","challengeToken":""}`}},
		{"resumed", []string{begin, `{"executionId":"%s","challengeToken":"` + strings.Repeat("0", 64) + `"}`}}, // of an older step
		{"view", []string{`{"applicationId":"app","flowType":"AUTHENTICATION","challengeToken":"of an earlier run"}`}},
		{"resumed_verbose", []string{verbose(begin), `{"executionId":"%s"}`}},
		{"mistake_verbose", []string{verbose(begin), name, wrong}},
		{"mistake", []string{verbose(begin), name, terse(wrong)}},
		{"mistake_verbose", []string{verbose(begin), terse(name), wrong}}, // terse this once
		{"mistake", []string{begin, verbose(name), wrong}},
		{"error", []string{begin, name, wrong, wrong}},
		{"error_verbose", []string{begin, name, wrong, verbose(wrong)}},
		{"started_with_inputs", []string{`{"applicationId":"app","flowType":"AUTHENTICATION","inputs":{"name":"ada","unasked":"x","nothing":null}}`}},
		{"registered", []string{`{"applicationId":"app","flowType":"REGISTRATION"}`, name}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			w := newPasskeyFixture(t)
			step, reply := &schemas.Step{}, []byte(nil)
			for _, body := range tt.bodies {
				body = strings.ReplaceAll(body, "%s", step.ExecutionID)
				rec := w.do("POST", "/flow/execute", body)
				if rec.Code != http.StatusOK {
					t.Fatalf("%s: %d %s", body, rec.Code, rec.Body)
				}
				reply, step = rec.Body.Bytes(), &schemas.Step{}
				datatest.Unmarshal(t, reply, step)
			}
			golden(t, tt.file, normalize(reply, step))
		})
	}
}

// normalize replaces what differs from run to run, and the words that package
// schemas has for a code.
func normalize(reply []byte, s *schemas.Step) []byte {
	for value, word := range map[string]string{s.ExecutionID: "RUN", s.ChallengeToken: "TOKEN", s.Data.AdditionalData["traceId"]: "TRACE"} {
		if value != "" {
			reply = bytes.ReplaceAll(reply, []byte(value), []byte(word))
		}
	}
	if s.Error != nil {
		reply = bytes.Replace(reply, []byte(`"`+s.Error.Message.DefaultValue+`"`), []byte(`"MESSAGE"`), 1)
	}
	var indented bytes.Buffer
	_ = json.Indent(&indented, reply, "", "  ")
	return indented.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := datatest.ReadFile(t, path)
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", path, got)
	}
}

func TestFlowRequestReachesTheEngine(t *testing.T) {
	const trace = "0af7651916cd43dd8448eb211c80319c"
	w := newPasskeyFixture(t, trustPeer)
	s := w.execute(begin, "Origin: "+spaOrigin, "Accept-Language: en;q=0.2, de-AT, fr;q=0.5", "Traceparent: 00-"+trace+"-b7ad6b7169203331-01")
	want := map[string]string{"origin": spaOrigin, "language": "de-AT", "traceId": trace}
	if got := fmt.Sprint(s.Data.AdditionalData); got != fmt.Sprint(want) {
		t.Errorf("the engine received %s, want %s", got, want)
	}
	for _, field := range []string{"", "*", "*;q=0.1", "%%%", "x", strings.Repeat("-", 2000)} {
		if s := w.execute(begin, "Accept-Language: "+field); s.Data.AdditionalData["language"] != "" {
			t.Errorf("Accept-Language %q: language %q", field, s.Data.AdditionalData["language"])
		}
	}
}

// A mistake about the run is an error reply, and leaves the run where it was.
func TestFlowErrorsOfTheEngine(t *testing.T) {
	w := newPasskeyFixture(t)
	s := w.execute(begin)
	stale := answer(s, "go", map[string]string{"name": "x"})
	stale["challengeToken"] = strings.Repeat("0", 64)
	tests := []struct {
		name   string
		body   any
		status int
		code   string
		says   string
	}{
		{"old token", stale, 409, schemas.CodeStaleStep, s.ExecutionID},
		{"wrong action", answer(s, "og", nil), 400, schemas.CodeInvalidAction, `"og"`},
		{"no action", answer(s, "", nil), 400, schemas.CodeInvalidAction, "none was sent"},
		{"empty inputs are an answer", `{"executionId":"` + s.ExecutionID + `","inputs":{}}`, 400, schemas.CodeInvalidAction, "none was sent"},
		{"unknown run", `{"executionId":"none","action":"go"}`, 400, schemas.CodeExecutionNotFound, `"none"`},
		{"unknown run resumed", `{"executionId":"none"}`, 400, schemas.CodeExecutionNotFound, `"none"`},
		{"empty id", `{"executionId":""}`, 400, schemas.CodeExecutionNotFound, `""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := fails(t, w.do("POST", "/flow/execute", asJSON(t, tt.body)), tt.status, tt.code)
			if !strings.Contains(f.Description.DefaultValue, tt.says) {
				t.Errorf("%q does not tell %s", f.Description.DefaultValue, tt.says)
			}
		})
	}
	if next := w.execute(answer(s, "go", map[string]string{"name": "ada"})); next.StepID != "key" {
		t.Errorf("the run was harmed: it stands at %q", next.StepID)
	}
}

func TestFlowErrors(t *testing.T) {
	tests := []struct {
		failingStore, retryAfter string
		status                   int
		code                     string
	}{
		{"panic", "", 500, schemas.CodeInternal},
		{"break", "", 500, schemas.CodeInternal},
		{"internal", "", 500, schemas.CodeInternal},
		{"busy", "2", 503, schemas.CodeOverloaded},
		{"often", "", 429, "too_many_requests"},
		{"missing", "", 400, schemas.CodeUserNotFound}, // 404 is for paths
		{"taken", "", 409, schemas.CodeAttributeTaken},
	}
	for _, tt := range tests {
		t.Run(tt.failingStore, func(t *testing.T) {
			w := newPasskeyFixture(t)
			s := w.execute(`{"applicationId":"trying","flowType":"AUTHENTICATION"}`)
			rec := w.do("POST", "/flow/execute", asJSON(t, answer(s, "go", map[string]string{"trouble": tt.failingStore})))
			f := fails(t, rec, tt.status, tt.code)
			if got := rec.Header().Get("Retry-After"); got != tt.retryAfter {
				t.Errorf("Retry-After %q, want %q", got, tt.retryAfter)
			}
			if tt.status != 500 {
				return
			}
			for _, leak := range []string{"hunter2", "10.0.0.7", "goroutine", ".go:"} {
				if strings.Contains(rec.Body.String(), leak) {
					t.Errorf("the reply leaks %q: %s", leak, rec.Body)
				}
			}
			if log := w.log.String(); !strings.Contains(log, f.TraceID) || !strings.Contains(log, "request failed") {
				t.Errorf("the log does not know trace %s: %s", f.TraceID, log)
			}
		})
	}
}

// What pages ask for each time is packed, and not sent to who has it.
func TestFlowMetaIsSentOnce(t *testing.T) {
	w := newPasskeyFixture(t)
	ask := func(header ...string) *httptest.ResponseRecorder {
		return w.do("GET", "/flow/meta?id=app&language=de", "", header...)
	}
	plain, packed := ask(), ask("Accept-Encoding: br, gzip")
	if packed.Header().Get("Content-Encoding") != "gzip" || 2*packed.Body.Len() > plain.Body.Len() || plain.Header().Get("Content-Encoding") != "" {
		t.Errorf("%d bytes are packed to %d: %v", plain.Body.Len(), packed.Body.Len(), packed.Header())
	}
	again := ask("Accept-Encoding: br, gzip", "If-None-Match: "+packed.Header().Get("ETag"))
	if again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("asked again: %d %v", again.Code, again.Header())
	}
	if rec := w.do("GET", "/flow/meta?id=closed&language=de", "", "If-None-Match: "+plain.Header().Get("ETag")); rec.Code != http.StatusOK {
		t.Errorf("of another application: %d", rec.Code)
	}
	if vary := strings.Join(plain.Header().Values("Vary"), ", "); !strings.Contains(vary, "Accept-Encoding") || !strings.Contains(vary, "Origin") {
		t.Errorf("it varies by %q", vary)
	}
}

// That an application refers to a flow which is gone is not the client's fault.
func TestBrokenReferenceIsAServerError(t *testing.T) {
	w := newPasskeyFixture(t)
	fails(t, w.do("POST", "/flow/execute", `{"applicationId":"broken","flowType":"AUTHENTICATION"}`), 500, schemas.CodeInternal)
	if log := w.log.String(); !strings.Contains(log, "the flow of application broken") {
		t.Error("log:", log)
	}
}

func TestFlowMeta(t *testing.T) {
	w := newPasskeyFixture(t)
	rec := w.do("GET", "/flow/meta?id=app&type=APP&language=en-US&more=x", "")
	if rec.Code != http.StatusOK {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	var indented bytes.Buffer
	_ = json.Indent(&indented, rec.Body.Bytes(), "", "  ")
	golden(t, "meta", indented.Bytes())
	const nobodys = `{"isRegistrationFlowEnabled":false,"brand":{"name":""},"design":{"theme":{},"layout":{}},"i18n":{"language":"en-US","languages":["en-US"],"translations":{}}}`
	for _, query := range []string{"", "?language=en-US", "?id=&type=APP"} {
		if rec := w.do("GET", "/flow/meta"+query, ""); rec.Code != http.StatusOK || strings.TrimSpace(rec.Body.String()) != nobodys {
			t.Errorf("%q: %d %s", query, rec.Code, rec.Body)
		}
	}
	for id, enabled := range map[string]bool{"app": true, "closed": false, "bare": false} {
		rec := w.do("GET", "/flow/meta?id="+id, "")
		if got := strings.Contains(rec.Body.String(), `"isRegistrationFlowEnabled":true`); got != enabled {
			t.Errorf("%s: registration enabled %v, want %v", id, got, enabled)
		}
	}
	if rec := w.do("HEAD", "/flow/meta?id=app", ""); rec.Code != http.StatusOK {
		t.Errorf("HEAD: %d", rec.Code)
	}
}
