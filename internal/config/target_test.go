package config

import (
	"strings"
	"testing"
	"time"
)

// signing is a secret of 24 bytes.
const signing = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"

func TestTargets(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // a problem, "" for none
	}{
		{"a URL", "{url: https://crm.example.com}", ""},
		{"all of it", "{url: 'https://crm.example.com:8443/api/hooks', secret: " + signing + ", authorization: Bearer of tidings, timeout: 10s}", ""},
		{"files", "{url: https://crm.example.com, secret_file: a, authorization_file: b}", ""},
		{"this machine", "{url: 'http://127.0.0.1:8080'}", ""},
		{"no URL", "{secret: " + signing + "}", `2:18: http.targets.crm.url: required member "url" is missing`},
		{"http", "{url: http://crm.example.com}", "2:24: http.targets.crm.url: expected https"},
		{"another scheme", "{url: ftp://crm.example.com}", "expected a URL such as"},
		{"a password", "{url: 'https://me:hunter2@crm.example.com'}", "use authorization_file"},
		{"a query", "{url: 'https://crm.example.com?key=hunter2'}", "without query and fragment"},
		{"a fragment", "{url: 'https://crm.example.com#hunter2'}", "without query and fragment"},
		{"a slash at the end", "{url: https://crm.example.com/}", "without a trailing slash"},
		{"dots", "{url: https://crm.example.com/a/../b}", "without a trailing slash"},
		{"encoded slashes", "{url: https://crm.example.com/a%2fb}", "without a trailing slash"},
		{"a misspelt member", "{url: https://crm.example.com, secrt: hunter2}", `2:49: http.targets.crm.secrt: unknown member "secrt"; did you mean "secret"?`},
		{"a secret of another form", "{url: https://crm.example.com, secret: hunter2}", "2:57: http.targets.crm.secret: expected whsec_"},
		{"a short secret", "{url: https://crm.example.com, secret: whsec_aHVudGVyMg==}", "24 to 64 random bytes"},
		{"two secrets", "{url: https://crm.example.com, secret: " + signing + ", secret_file: a}", "http.targets.crm.secret_file: secret is already set"},
		{"two authorizations", "{url: https://crm.example.com, authorization: hunter2, authorization_file: a}", "http.targets.crm.authorization_file: authorization is already set"},
		{"a field of one's own", `{url: https://crm.example.com, authorization: "hunter2\r\nX-Admin: 1"}`, "http.targets.crm.authorization: expected the value"},
		{"for ever", "{url: https://crm.example.com, timeout: 11s}", "http.targets.crm.timeout: expected at most 10s, got 11s"},
		{"no duration", "{url: https://crm.example.com, timeout: soon}", "http.targets.crm.timeout: expected a duration such as"},
		{"a duration of nothing", "{url: https://crm.example.com, timeout: 0s}", "timeouts are durations such as 3s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := expectProblem(t, "http:\n  targets: {crm: "+test.text+"}\n", test.want)
			if got := c.HTTP.Targets["crm"]; test.want == "" && (got.URL == "" || got.Timeout == 0) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestTargetsFromTheEnvironment(t *testing.T) {
	file := []byte("http: {targets: {crm: {url: https://crm.example.com}}}")
	c, problems := load(file, []string{`POSTERN_HTTP_TARGETS={"risk":{"url":"https://risk.example.com"}}`})
	if len(problems) > 0 || len(c.HTTP.Targets) != 1 || c.HTTP.Targets["risk"].Timeout != 3*time.Second {
		t.Errorf("got %+v and %v", c.HTTP, problems)
	}
	for variable, want := range map[string]string{
		"risk=hunter2": "POSTERN_HTTP_TARGETS: expected an object, got a string",
		`{"my-risk":{"url":"https://risk.example.com","secret":"hunter2"}}`: `POSTERN_HTTP_TARGETS.my-risk.secret: expected whsec_`,
		`{"Risk":{"url":"https://risk.example.com"}}`:                       "the name \"Risk\" is not allowed here: expected a name of lower-case letters",
	} {
		_, problems := load(file, []string{"POSTERN_HTTP_TARGETS=" + variable})
		if len(problems) != 1 || !strings.Contains(problems[0].String(), want) || strings.Contains(problems[0].String(), "hunter2") {
			t.Errorf("%s: got %v, want %s", variable, problems, want)
		}
	}
}
