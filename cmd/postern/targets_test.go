package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/datatest"
)

func TestTargetFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		datatest.WriteFile(t, path, text)
		return path
	}
	const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
	tests := []struct {
		target config.Target
		want   string // of the error, "" for none
	}{
		{config.Target{}, ""},
		{config.Target{Secret: secret}, ""},
		{config.Target{SecretFile: file("secret", secret+"\n"), AuthorizationFile: file("token", "Bearer hunter2\r\n")}, ""},
		{config.Target{SecretFile: filepath.Join(dir, "nowhere")}, "secret_file: stat " + filepath.Join(dir, "nowhere") + ": no such file"},
		{config.Target{SecretFile: file("other", "hunter2")}, "secret_file: " + filepath.Join(dir, "other") + ": expected whsec_"},
		{config.Target{SecretFile: file("empty", "\n")}, "expected whsec_"},
		{config.Target{AuthorizationFile: filepath.Join(dir, "nowhere")}, "authorization_file: stat " + filepath.Join(dir, "nowhere") + ": no such file"},
		{config.Target{AuthorizationFile: file("lines", "Bearer hunter2\nX-Admin: 1")}, "expected one line"},
		{config.Target{AuthorizationFile: filepath.Join(dir, "empty")}, "expected one line"},
	}
	for i, test := range tests {
		s, err := newService(test.target)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%d: got %v, want %q", i, err, test.want)
		}
		if test.want == "" && (len(s.Key) > 0) != (test.target.Secret+test.target.SecretFile != "") || err == nil && s.Authorization != "" && s.Authorization != "Bearer hunter2" {
			t.Errorf("%d: got %+v", i, s)
		}
	}
}

// A server without a mail server stores no flow whose email-otp would always fail, and keeps those
// that were stored when it had one.
func TestFlowsThatNeedMailAreRefusedWithoutAMailServer(t *testing.T) {
	const flow = `{"handle":"mailed","name":"Mailed","flowType":"AUTHENTICATION","nodes":[
		{"id":"who","use":"prompt","with":{"inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true}],"actions":[{"ref":"go"}]},"next":"find"},
		{"id":"find","use":"user-resolve","with":{"by":["username"],"from":"username"},"next":{"found":"code","missing":"who"}},
		{"id":"code","use":"email-otp","next":{"success":"done"%s}},{"id":"done","use":"authorization-code"}]}`
	bare, wired := fmt.Sprintf(flow, ""), fmt.Sprintf(flow, `,"unavailable":"who"`)
	for _, test := range []struct {
		host, flow string
		status     int
	}{
		{"", bare, http.StatusBadRequest},
		{"", wired, http.StatusCreated},
		{"localhost", bare, http.StatusCreated},
	} {
		w := newTestApp(t, "POSTERN_MAIL_TLS=none", "POSTERN_MAIL_HOST="+test.host, "POSTERN_MAIL_FROM="+map[bool]string{true: "a@example.com"}[test.host != ""])
		rec := w.call(http.MethodPost, "/flows", w.admin(), test.flow)
		if refused := strings.Contains(rec.Body.String(), "this server sends no mail"); rec.Code != test.status || refused != (test.status == http.StatusBadRequest) {
			t.Errorf("mail.host %q: %d %s", test.host, rec.Code, rec.Body)
		}
	}
}

func TestUnknownTargetIsRefusedWithASuggestion(t *testing.T) {
	w := newTestApp(t, `POSTERN_HTTP_TARGETS={"risk":{"url":"https://risk.example.com"}}`)
	rec := w.call(http.MethodPost, "/flows", w.admin(), `{"handle":"asking","name":"Asking","flowType":"AUTHENTICATION","nodes":[
		{"id":"ask","use":"http-request","with":{"target":"rsik","path":"/assess","mode":"query"},"next":{"success":"key","failure":"key"}},
		{"id":"key","use":"passkey-authenticate","next":{"success":"done"}},{"id":"done","use":"authorization-code"}]}`)
	if rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), `"invalid_flow"`) || !strings.Contains(rec.Body.String(), `did you mean \"risk\"?`) {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
}
