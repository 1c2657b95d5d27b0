package config

import (
	"encoding/json"
	"strings"
	"testing"
)

// Every key has a setting with its source, and no secret is in them.
func TestSettings(t *testing.T) {
	const file = `
server: {port: 9000, trusted_proxies: [10.0.0.0/8]}
mail: {host: mail.example.com, from: a@example.com, username: mailer, password: file-secret}
http:
  targets:
    crm: {url: "https://crm.example.com", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, authorization: Bearer target-secret}
`
	cfg, problems := load([]byte(file), []string{"POSTERN_TOKEN_ACCESS_TTL=20m", "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN=postgres://ada:db-secret@localhost/id?sslmode=disable"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	settings := map[string]Setting{}
	for _, s := range cfg.Settings() {
		settings[s.Key] = s
	}
	if len(settings) != len(keys()) {
		t.Errorf("%d settings for %d keys", len(settings), len(keys()))
	}
	text, err := json.Marshal(cfg.Settings())
	if err != nil || strings.Contains(string(text), "-secret") || strings.Contains(string(text), "whsec_Mf") {
		t.Errorf("%v: %s", err, text)
	}
	for key, want := range map[string]string{
		"server.port":            `9000 file`,
		"server.trusted_proxies": `["10.0.0.0/8"] file`,
		"server.hostname":        `"localhost" default`,
		"token.access_ttl":       `"20m0s" environment`,
		"database.dsn":           `"set" environment`,
		"mail.password":          `"set" file`,
		"mail.username":          `"mailer" file`,
		"tls.cert_file":          `null default`,
		"http.targets":           `{"crm":{"authorization":"set","authorization_file":null,"secret":"set","secret_file":null,"timeout":"3s","url":"https://crm.example.com"}} file`,
	} {
		s, known := settings[key]
		value, _ := json.Marshal(s.Value)
		if got := string(value) + " " + string(s.Source); !known || got != want || s.Description == "" {
			t.Errorf("%s: %s, want %s (%q)", key, got, want, s.Description)
		}
	}
}
