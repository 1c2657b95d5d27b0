package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// TestEveryKeyHasItsVariable holds the names to the rule, and the rule to
// giving each key a name of its own: a.b_c and a_b.c would share one.
func TestEveryKeyHasItsVariable(t *testing.T) {
	byVariable := make(map[string]string)
	for _, k := range keys() {
		if other, taken := byVariable[k.variable]; taken {
			t.Errorf("%s and %s have one variable: %s", k.path, other, k.variable)
		}
		byVariable[k.variable] = k.path
		if !regexp.MustCompile(`^POSTERN_[A-Z]+(_[A-Z]+)*$`).MatchString(k.variable) {
			t.Errorf("%s: %s is no name for a variable", k.path, k.variable)
		}
		if slices.Contains(otherVariables(), k.variable) {
			t.Errorf("%s: %s means something else already", k.path, k.variable)
		}
	}
	for variable, path := range map[string]string{
		"POSTERN_PASSKEY_ALLOWED_ORIGINS": "passkey.allowed_origins",
		"POSTERN_CORS_ALLOWED_ORIGINS":    "cors.allowed_origins",
		"POSTERN_GATE_CLIENT_PORT":        "gate_client.port",
		"POSTERN_OAUTH_DCR_INSECURE":      "oauth.dcr.insecure",
		"POSTERN_DATA_DIR":                "data_dir",
	} {
		if byVariable[variable] != path {
			t.Errorf("%s is the variable of %q, expected %s", variable, byVariable[variable], path)
		}
	}
}

// TestEveryVariableIsRead sets each key by its variable to another value than
// its default and looks whether that changes the configuration.
func TestEveryVariableIsRead(t *testing.T) {
	values := map[string]string{
		"server.hostname": "localhost.localhost", "server.listen": ":1", "server.public_url": "https://localhost", "tls.cert_file": "", "tls.key_file": "",
		"data_dir": "/x", "database.driver": "postgres", "database.dsn": "x.db", "database.prepared_statements": "off", "passkey.allowed_origins": "https://localhost", "passkey.related_origins": "https://a.example", "passkey.relying_party_id": "localhost",
		"passkey.relying_party_name": "X", "passkey.user_verification": "required", "passkey.attachment": "platform", "passkey.attestation_formats": "packed",
		"passkey.trust_anchors": "makers.pem", "passkey.synced_passkeys": "refuse", "passkey.counter_regression": "allow", "passkey.eligibility_change": "allow", "cors.allowed_origins": "https://a.example", "log.level": "warn", "log.format": "json",
		"server.trusted_proxies": "::1", "server.logo_url": "https://a.example/logo.png", "server.forwarded_field": "Forwarded", "throttle.enabled": "false", "throttle.familiar_networks": "2048",
		"http.targets": `{"crm":{"url":"https://crm.example.com"}}`,
		"flow.dir":     "flows", "keys.file": "/x/keys", "token.key_age": "48h", "token.key_publish": "30m", "token.session_idle_timeout": "7m", "outbound.allow": "10.0.0.0/8", "audit.retention": "400d", "audit.file": "/x/events", "audit.target": "crm", "oauth.dcr.private_use_schemes": "cursor",
		"oauth.client_metadata_documents.enabled": "false", "oauth.unsupported_metadata": "ignore", "oauth.client_metadata_documents.allowed_hosts": "editor.example.com",
		"telemetry.metrics.listen": "127.0.0.1:9464", "telemetry.traces.endpoint": "http://127.0.0.1:4318", "telemetry.traces.authorization": "Bearer x", "telemetry.traces.sampling_ratio": "0.25", "telemetry.pprof.listen": "127.0.0.1:6060",
		"gate_client.languages_dir": "/x/languages", "gate_client.default_language": "it", "mail.host": "smtp.example.com", "mail.tls": "implicit", "mail.username": "", "mail.password": "", "mail.from": "",
	}
	for _, k := range keys() {
		value, listed := values[k.path]
		switch {
		case listed:
		case k.typ == "boolean":
			value = "true"
		case k.typ == "integer":
			value = "7"
			switch k.path {
			case "password.memory_kib":
				value = "2048"
			case "password.min_length":
				value = "16"
			}
		case k.typ == "duration", k.typ == "period":
			value = "7s"
		default:
			t.Errorf("%s: the test has no value for it", k.path)
		}
		environ := []string{k.variable + "=" + value}
		switch k.path {
		case "tls.cert_file", "tls.key_file":
			environ = []string{"POSTERN_TLS_CERT_FILE=a", "POSTERN_TLS_KEY_FILE=b"}
		case "database.driver":
			environ = append(environ, "POSTERN_DATABASE_DSN=sslmode=disable")
		case "mail.host", "mail.port", "mail.username", "mail.password", "mail.from":
			environ = []string{"POSTERN_MAIL_HOST=smtp.example.com", "POSTERN_MAIL_PORT=2525", "POSTERN_MAIL_USERNAME=a", "POSTERN_MAIL_PASSWORD=b", "POSTERN_MAIL_FROM=a@example.com"}
		}
		before, _ := load(nil, nil)
		after, problems := load(nil, environ)
		if len(problems) > 0 {
			t.Errorf("%s: %v", k.path, problems)
			continue
		}
		after.Environ = nil
		if k.path != "passkey.relying_party_id" && reflect.DeepEqual(before, after) {
			t.Errorf("%s: %s=%s changes nothing", k.path, k.variable, value)
		}
	}
}

// TestSchemaMatchesConfig keeps the schema and the Go type in step.
func TestSchemaMatchesConfig(t *testing.T) {
	var inSchema, inType []string
	for _, k := range keys() {
		inSchema = append(inSchema, k.path)
	}
	leaves("", reflect.TypeFor[Config](), &inType)
	slices.Sort(inType)
	if !slices.Equal(inSchema, inType) {
		t.Errorf("the schema has\n%v\nthe type has\n%v", inSchema, inType)
	}
	var root map[string]any
	datatest.Unmarshal(t, Schema().Raw(), &root)
	documented(t, "", root)
}

func leaves(path string, typ reflect.Type, found *[]string) {
	if typ.Kind() != reflect.Struct {
		*found = append(*found, path)
		return
	}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, tagged := field.Tag.Lookup("json")
		switch {
		case field.Anonymous:
			leaves(path, field.Type, found)
		case !tagged:
			leaves(path+"."+strings.ToLower(field.Name), field.Type, found)
		case name != "-":
			leaves(strings.TrimPrefix(path+"."+name, "."), field.Type, found)
		}
	}
}

// documented checks that every key is described, and that nothing unknown gets
// through anywhere.
func documented(t *testing.T, path string, m map[string]any) {
	t.Helper()
	for _, word := range []string{"title", "description"} {
		if text, _ := m[word].(string); text == "" {
			t.Errorf("%q has no %s", path, word)
		}
	}
	properties, ok := m["properties"].(map[string]any)
	if !ok {
		return
	}
	if m["additionalProperties"] != false {
		t.Errorf("%q lets unknown keys through", path)
	}
	for name, below := range properties {
		documented(t, schemas.JoinPath(path, name), below.(map[string]any))
	}
}

func TestDefaultsFitTheSchema(t *testing.T) {
	given := make(map[string]any)
	for _, k := range keys() {
		if k.standard != nil {
			given[k.path] = k.standard
		}
	}
	text := datatest.Marshal(t, overlay(given))
	if problems := Schema().Check(text); len(problems) > 0 {
		t.Error(problems)
	}
}
