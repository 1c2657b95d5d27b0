package config

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

// mustLoad is Load of a configuration that is valid.
func mustLoad(t *testing.T, path string, environ []string) *Config {
	t.Helper()
	c, err := Load(path, environ)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// expectProblem loads a file with at most one problem, which must contain want; "" expects none. The
// problem must not show the secret hunter2.
func expectProblem(t *testing.T, file, want string) *Config {
	t.Helper()
	c, problems := load([]byte(file), nil)
	var said []string
	for _, p := range problems {
		said = append(said, p.String())
	}
	text := strings.Join(said, "\n")
	if strings.Contains(text, "hunter2") {
		t.Errorf("a secret is shown: %s", text)
	}
	if want == "" && text != "" || !strings.Contains(text, want) || len(problems) > 1 {
		t.Errorf("got %q, want %q", text, want)
	}
	return c
}

func TestDefaultsRunWithNothing(t *testing.T) {
	got := mustLoad(t, "", nil)
	want := &Config{
		Server:   Server{Hostname: "localhost", Port: 8090, Listen: "localhost:8090", PublicURL: "https://localhost:8090", ForwardedField: "X-Forwarded-For"},
		DataDir:  "./data",
		Database: Database{Driver: "sqlite", DSN: filepath.Join("data", "database", "postern.db"), ConnectionLifetime: 30 * time.Minute, StartupWait: time.Minute, PreparedStatements: "auto"},
		Keys:     Keys{File: filepath.Join("data", "keys", "key-encryption.key")},
		Passkey: Passkey{AllowedOrigins: []string{"https://localhost:8090"}, RelyingPartyID: "localhost", RelyingPartyName: "Postern",
			UserVerification: "preferred", SyncedPasskeys: "allow", CounterRegression: "refuse", EligibilityChange: "refuse", Timeout: 5 * time.Minute},
		GateClient: GateClient{DefaultLanguage: "en"},

		OAuth: OAuth{ClientMetadataDocuments: ClientMetadataDocuments{Enabled: true}, UnsupportedMetadata: "refuse"},
		Mail:  Mail{TLS: "starttls"},
		Flow:  Flow{AuthenticationTTL: 30 * time.Minute, RegistrationTTL: time.Hour, MaxFailures: 10},
		Token: Token{AssertionTTL: time.Hour, AccessTTL: time.Hour, IDTokenTTL: time.Hour, SessionTTL: 12 * time.Hour,
			KeyAge: 90 * 24 * time.Hour, KeyPublish: time.Hour},
		Password: Password{MinLength: 15, MemoryKiB: 19456, Iterations: 2, Workers: max(1, runtime.GOMAXPROCS(0)/2), Queue: 64},
		Throttle: defaultThrottle(),
		Audit:    Audit{SinkGrace: 7 * 24 * time.Hour},
		Log:      Log{Level: "info", Format: "text"},

		Telemetry: Telemetry{Traces: Traces{SamplingRatio: 1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// One syntax of durations holds for all keys and flags.
func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90d": 90 * day, "2160h": 90 * day, "1d12h": 36 * time.Hour, "0.5d": 12 * time.Hour, "30m": 30 * time.Minute, "1h30m": 90 * time.Minute, "366d": 366 * day,
		"": 0, "d": 0, "0d": 0, "-1d": 0, "367d": 0, "12h1d": 0, "1d1d": 0, "1e3d": 0, "NaNd": 0, "Infd": 0, "90": 0, "90D": 0, "99999999999999999999d": 0,
	} {
		d, err := ParseDuration(text)
		if d != want || (err == nil) != (want != 0) {
			t.Errorf("%q is read as %v, %v; want %v", text, d, err, want)
		}
		if again, err := ParseDuration(d.String()); want != 0 && (err != nil || again != d) {
			t.Errorf("%q is written as %s, which is read as %v, %v", text, d, again, err)
		}
	}
	for _, text := range []string{"token: {key_age: 90d}", "token: {key_age: 2160h}", "audit: {retention: 90d}", "audit: {retention: 2160h}"} {
		cfg, problems := load([]byte(text), nil)
		if len(problems) > 0 || cfg.Token.KeyAge != 90*day && cfg.Audit.Retention != 90*day {
			t.Errorf("%s: %v", text, problems)
		}
	}
}

// A section whose keys are all commented out is null: it counts as absent.
func TestNullIsAbsent(t *testing.T) {
	cfg, problems := load([]byte("server:\n  # listen: :9000\ndatabase: {dsn: null}\n"), nil)
	plain, _ := load(nil, nil)
	if len(problems) > 0 || !reflect.DeepEqual(cfg.Server, plain.Server) || cfg.Database != plain.Database {
		t.Errorf("got %+v and %v", cfg, problems)
	}
}

// The port that the server listens on is the one that it is reached at, unless another
// is configured.
func TestListenAlone(t *testing.T) {
	for text, want := range map[string]string{
		"server: {listen: '127.0.0.1:9000'}":                                          "https://localhost:9000",
		"server: {listen: ':443', hostname: login.example.org}":                       "https://login.example.org",
		"server: {listen: '127.0.0.1:9000', port: 8443}":                              "https://localhost:8443",
		"server: {listen: '127.0.0.1:9000', public_url: 'https://login.example.org'}": "https://login.example.org",
		"server: {listen: '127.0.0.1:0'}":                                             "https://localhost:8090",
	} {
		cfg, problems := load([]byte(text), nil)
		if len(problems) > 0 || cfg.Server.PublicURL != want {
			t.Errorf("%s: %s, %v; want %s", text, cfg.Server.PublicURL, problems, want)
		}
	}
	if cfg, _ := load([]byte("server: {listen: '127.0.0.1:9000'}"), []string{"POSTERN_SERVER_PORT=8443"}); cfg.Server.PublicURL != "https://localhost:8443" {
		t.Errorf("with the port in the environment: %s", cfg.Server.PublicURL)
	}
}

// A SQLite DSN with file: before it is the path that follows.
func TestSQLiteDSN(t *testing.T) {
	for dsn, want := range map[string]string{"file:a/b.db": "a/b.db", "a/b.db": "a/b.db", ":memory:": ":memory:", "file::memory:": ":memory:"} {
		if cfg, problems := load([]byte("database: {dsn: '"+dsn+"'}"), nil); len(problems) > 0 || cfg.Database.DSN != want {
			t.Errorf("%s: %v, %v", dsn, cfg, problems)
		}
	}
}

func TestRetention(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"retention: 0": 0, "retention: '0'": 0, "retention: 400d": 400 * 24 * time.Hour, "retention: 9600h": 400 * 24 * time.Hour, "retention: 36h": 36 * time.Hour,
	} {
		cfg, problems := load([]byte("audit: {"+text+"}"), nil)
		if len(problems) > 0 || cfg.Audit.Retention != want {
			t.Errorf("%s: %v and %v, expected %v", text, cfg, problems, want)
		}
	}
}

func defaultThrottle() Throttle {
	every := func(d time.Duration, burst int) throttle.Budget { return throttle.Budget{Burst: burst, Every: d} }
	return Throttle{
		Enabled: true, Instances: 1, FamiliarNetworks: 65536, UnfinishedRuns: 50000, UnfinishedRequests: 50000, UnfinishedPasskeys: 50000,
		Budgets: Budgets{
			SignIns: every(20*time.Millisecond, 500), RunStarts: every(50*time.Millisecond, 200), RunSteps: every(250*time.Millisecond, 30),
			Tokens: every(time.Millisecond, 5000), TokenFailures: every(200*time.Millisecond, 100), Registrations: every(10*time.Second, 20),
			PairMails: every(5*time.Minute, 5), AccountMails: every(2*time.Minute, 20), NetworkMails: every(10*time.Second, 100),
			PairGuesses: every(2*time.Minute, 8), FamiliarGuesses: every(5*time.Minute, 10),
			NetworkGuesses: every(5*time.Second, 100), AccountGuesses: every(6*time.Minute, 100),
		},
	}
}

func TestLoadReadsFileAndEnvironment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "postern.yaml")
	text := `# the public server
server:
  hostname: login.example.com
  port: 443
data_dir: /var/lib/postern
passkey:
  allowed_origins: [https://login.example.com, https://app.example.com]
  relying_party_id: example.com
  attestation_formats: [packed, none]
  timeout: 2m30s
oauth: {dcr: {insecure: true}}
log: {level: debug}
`
	datatest.WriteFile(t, path, text)
	environ := []string{
		"HOME=/root",
		"POSTERN_CORS_ALLOWED_ORIGINS= https://a.example , http://localhost:3000,",
		"POSTERN_PASSKEY_ATTESTATION_FORMATS=tpm",
		"POSTERN_OAUTH_DCR_INSECURE=false",
		"POSTERN_PASSWORD_WORKERS=3",
		"POSTERN_LOG_LEVEL=warn", "POSTERN_LOG_LEVEL=error",
		"POSTERN_DATABASE_DSN=", // as good as not there
		"POSTERN_TOKEN_ASSERTION_TTL=90s",
		"POSTERN_TOKEN_ACCESS_TTL=45s",
		"POSTERN_SERVER_TRUSTED_PROXIES=10.0.0.0/8, ::1",
		"POSTERN_OUTBOUND_ALLOW=idp.example.com, 10.0.0.0/8",
		"POSTERN_THROTTLE_ENABLED=false",
		"POSTERN_THROTTLE_SIGN_INS_BURST=0",
		"POSTERN_THROTTLE_SIGN_INS_EVERY=1s",
		"POSTERN_KEY_ENCRYPTION_KEY=of-no-concern",
		"POSTERN_SECRET_SHOP=of-no-concern",
	}
	c := mustLoad(t, path, environ)
	for _, check := range []struct{ got, want any }{
		{c.Server, Server{Hostname: "login.example.com", Port: 443, Listen: ":443", PublicURL: "https://login.example.com",
			TrustedProxies: networks(t, "10.0.0.0/8", "::1/128"), ForwardedField: "X-Forwarded-For"}},
		{c.Outbound.Allow, []string{"idp.example.com", "10.0.0.0/8"}},
		{c.Throttle.Enabled, false},
		{c.Throttle.SignIns, throttle.Budget{Every: time.Second}},
		{c.Database.DSN, "/var/lib/postern/database/postern.db"},
		{c.Passkey.RelyingPartyID, "example.com"},
		{c.Passkey.AttestationFormats, []string{"tpm"}},
		{c.Passkey.Timeout, 150 * time.Second},
		{c.CORS.AllowedOrigins, []string{"https://a.example", "http://localhost:3000"}},
		{c.OAuth.DCR.Insecure, false},
		{c.Password.Workers, 3},
		{c.Log.Level, "error"},
		{c.Token.AssertionTTL, 90 * time.Second},
		{c.Token.AccessTTL, 45 * time.Second},
		{c.Environ, environ},
	} {
		if !reflect.DeepEqual(check.got, check.want) {
			t.Errorf("got %v, expected %v", check.got, check.want)
		}
	}
}

func networks(t *testing.T, texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		n, err := ParseNetwork(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

func TestDerivedDefaults(t *testing.T) {
	tests := []struct {
		text                              string
		listen, url, origin, relyingParty string
	}{
		{"", "localhost:8090", "https://localhost:8090", "https://localhost:8090", "localhost"},
		{"server: {http_only: true}", "localhost:8090", "http://localhost:8090", "http://localhost:8090", "localhost"},
		{"server: {http_only: true, port: 80}", "localhost:80", "http://localhost", "http://localhost", "localhost"},
		{"server: {hostname: Login.Example.com}", ":8090", "https://login.example.com:8090", "https://login.example.com:8090", "login.example.com"},
		{"server: {listen: '127.0.0.1:0'}", "127.0.0.1:0", "https://localhost:8090", "https://localhost:8090", "localhost"},
		{"server: {public_url: https://id.example.com/auth}", "localhost:8090", "https://id.example.com/auth", "https://id.example.com", "id.example.com"},
		{"server: {http_only: true, public_url: https://id.example.com}", "localhost:8090", "https://id.example.com", "https://id.example.com", "id.example.com"},
		{"passkey: {allowed_origins: [https://a.example:8443, https://b.example]}", "localhost:8090", "https://localhost:8090", "https://a.example:8443", "a.example"},
		{"{server: {hostname: '::1'}, passkey: {allowed_origins: ['https://localhost:8090']}}", "[::1]:8090", "https://[::1]:8090", "https://localhost:8090", "localhost"},
	}
	for _, test := range tests {
		c, problems := load([]byte(test.text), nil)
		if len(problems) > 0 {
			t.Errorf("%s: %v", test.text, problems)
			continue
		}
		got := []string{c.Server.Listen, c.Server.PublicURL, c.Passkey.AllowedOrigins[0], c.Passkey.RelyingPartyID}
		if want := []string{test.listen, test.url, test.origin, test.relyingParty}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, expected %q", test.text, got, want)
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		text    string
		environ []string
		want    []string
	}{
		{text: "sever: {}", want: []string{`1:1: sever: unknown member "sever"; did you mean "server"?`}},
		{text: "passkey:\n  allowedOrigins: []", want: []string{`2:3: passkey.allowedOrigins: unknown member "allowedOrigins"; did you mean "allowed_origins"?`}},
		{text: "server:\n  port: '80'", want: []string{"2:9: server.port: expected a whole number, got a string"}},
		{text: "server:\n  port: 70000", want: []string{"2:9: server.port: expected at most 65535, got 70000"}},
		{text: "server:\n  hostname: https://a.example", want: []string{"2:13: server.hostname: expected a host name such as login.example.com, without scheme and port"}},
		{text: "server:\n  public_url: https://a.example/", want: []string{"2:15: server.public_url: expected no trailing slash: write https://a.example"}},
		{text: "server:\n  public_url: a.example", want: []string{`2:15: server.public_url: expected an absolute URL such as https://login.example.com, got "a.example"`}},
		{text: "server:\n  public_url: http://localhost:8090", want: []string{"2:15: server.public_url: it begins with http://, but the server serves https: write https://, or set server.http_only"}},
		{text: "server:\n  listen: '8090'", want: []string{`2:11: server.listen: expected host:port such as 127.0.0.1:8090, [::1]:8090 or :8090, got "8090"`}},
		{text: "server:\n  trusted_proxies: [10.0.0.0/8, proxy]", want: []string{`2:33: server.trusted_proxies[1]: expected an address or a network such as 10.0.0.0/8 or 2001:db8::/32, got "proxy"`}},
		{text: "outbound:\n  allow: [idp.example.com, 10.0.0.0/8, 'https://idp.example.com', '*']", want: []string{
			`2:40: outbound.allow[2]: expected a host name in lower case such as idp.example.com, or an address or network such as 10.0.0.0/8, got "https://idp.example.com"`,
			`2:67: outbound.allow[3]: expected a host name in lower case such as idp.example.com, or an address or network such as 10.0.0.0/8, got "*"`}},
		{text: "throttle:\n  tokens: {burst: -1}", want: []string{"2:19: throttle.tokens.burst: expected at least 0, got -1"}},
		{text: "throttle:\n  tokens: 5", want: []string{"2:11: throttle.tokens: expected an object, got a number"}},
		{text: "server:\n  - a", want: []string{"2:3: server: expected an object, got a list"}},
		{text: "tls:\n  cert_file: a.pem", want: []string{"2:3: tls.key_file: required with tls.cert_file: the path of the certificate's private key"}},
		{text: "tls:\n  key_file: a.pem", want: []string{"2:3: tls.cert_file: required with tls.key_file: the path of the certificate"}},
		{text: "tls: {key_file: a.pem, cert_file: b.pem}\nserver:\n  http_only: true", want: []string{"3:14: server.http_only: the server serves plain http, but has a certificate: remove tls.cert_file and tls.key_file, or server.http_only"}},
		{text: "database:\n  driver: postgres", want: []string{"2:3: database.dsn: required with driver postgres: a connection string such as postgres://postern@db.example.com/postern?sslmode=verify-full"}},
		{text: "database: {driver: postgres, dsn: 'host=db'}", want: []string{"1:35: database.dsn: it has no sslmode: add sslmode=verify-full (or require; or disable, for a server on this machine)"}},
		{text: "database:\n  driver: mysql", want: []string{`2:11: database.driver: expected "sqlite" or "postgres", got "mysql"`}},
		{text: "passkey:\n  allowed_origins:\n    - http://login.example.com", want: []string{"3:7: passkey.allowed_origins[0]: browsers offer passkeys only to pages in a secure context (Web Authentication Level 3 §5: [SecureContext]): use https://login.example.com, or http on localhost"}},
		{text: "passkey:\n  allowed_origins: [https://a.example/, 'https://*.example', 5]", want: []string{
			"2:21: passkey.allowed_origins[0]: an origin is scheme://host[:port] as browsers write it, without a path: write https://a.example",
			"2:41: passkey.allowed_origins[1]: origins are compared exactly, without wildcards: list every origin",
			"2:62: passkey.allowed_origins[2]: expected a string, got a number; put it in quotes"}},
		{text: "passkey:\n  relying_party_id: other.example", want: []string{`2:21: passkey.relying_party_id: expected the host of an allowed origin, or a parent domain of it (Web Authentication Level 3 §5.1.3), got "other.example", where passkey.allowed_origins has https://localhost:8090`}},
		{text: "passkey:\n  relying_party_id: com\n  allowed_origins: [https://login.example.com]", want: []string{`2:21: passkey.relying_party_id: expected the host of an allowed origin, or a parent domain of it (Web Authentication Level 3 §5.1.3), got "com", where passkey.allowed_origins has https://login.example.com`}},
		{text: "passkey:\n  relying_party_id: https://a.example", want: []string{`2:21: passkey.relying_party_id: expected a domain in lower case such as example.com, without scheme and port, got "https://a.example"`}},
		{text: "passkey:\n  relying_party_id: 127.0.0.1", want: []string{"2:21: passkey.relying_party_id: an IP address cannot be a relying party id (Web Authentication Level 3 §5.1.3): use a host name such as localhost"}},
		{text: "server:\n  hostname: 127.0.0.1", want: []string{"1:1: passkey.relying_party_id: an IP address cannot be a relying party id (Web Authentication Level 3 §5.1.3): use a host name such as localhost; it is the host of the first of passkey.allowed_origins"}},
		{text: "server:\n  hostname: idp.lan\n  http_only: true", want: []string{"1:1: passkey.allowed_origins: browsers offer passkeys only to pages in a secure context (Web Authentication Level 3 §5: [SecureContext]): use https://idp.lan:8090, or http on localhost; http://idp.lan:8090 is that of server.public_url"}},
		{text: "cors:\n  allowed_origins: ['*']", want: []string{"2:21: cors.allowed_origins[0]: origins are compared exactly, without wildcards: list every origin"}},
		{text: "flow:\n  authentication_ttl: 30", want: []string{"2:23: flow.authentication_ttl: expected a string, got a number; put it in quotes"}},
		{text: "flow:\n  authentication_ttl: 30 minutes", want: []string{"2:23: flow.authentication_ttl: expected a duration such as 30m, 1h30m or 90d"}},
		{text: "flow:\n  registration_ttl: 0s", want: []string{`2:21: flow.registration_ttl: expected a positive duration of at most 366d, such as 30m or 90d, got "0s"`}},
		{text: "server:\n  drain: soon", want: []string{"2:10: server.drain: expected a duration such as 10s, or 0 for none"}},
		{text: "server:\n  drain: 400d", want: []string{`2:10: server.drain: expected a positive duration of at most 366d, such as 30m or 90d, got "400d"`}},
		{text: "flow:\n  registration_ttl: 9999999h9999999h", want: []string{`2:21: flow.registration_ttl: expected a positive duration of at most 366d, such as 30m or 90d, got "9999999h9999999h"`}},
		{text: "token: {session_idle_timeout: 59s}", want: []string{"1:31: token.session_idle_timeout: expected at least 1m, or 0 for no timeout, got 59s"}},
		{text: "token: {key_publish: 9m59s}", want: []string{"1:22: token.key_publish: expected at least 10m0s, got 9m59s: clients that cache the published keys would reject tokens of a new one"}},
		{text: "token: {key_publish: 24h, key_age: 47h}", want: []string{"1:36: token.key_age: expected at least twice token.key_publish, which is 24h0m0s, got 47h0m0s: raise it, or lower token.key_publish"}},
		{text: "token: {key_publish: 24h, key_age: never}", want: []string{"1:36: token.key_age: expected a duration such as 30m, 1h30m or 90d"}},
		{text: "password: {min_length: 7}", want: []string{"1:24: password.min_length: expected at least 8, got 7"}},
		{text: "password: {memory_kib: 200000, iterations: 50}", want: []string{"1:24: password.memory_kib: memory_kib times iterations is 10000000, expected at most 1048576: lower one of them"}},
		{text: "oauth: {dcr: {private_use_schemes: [cursor, javascript, 'cursor://', com.example.app]}}", want: []string{
			`1:45: oauth.dcr.private_use_schemes[1]: expected the lower-case scheme of an app, such as cursor; schemes that browsers or systems handle are not allowed; got "javascript"`,
			`1:57: oauth.dcr.private_use_schemes[2]: expected the lower-case scheme of an app, such as cursor; schemes that browsers or systems handle are not allowed; got "cursor://"`,
			`1:70: oauth.dcr.private_use_schemes[3]: expected a scheme without a dot, got "com.example.app": reverse domain names need not be listed`}},
		{text: "oauth: {client_metadata_documents: {allowed_hosts: ['*.example.com', 'https://a.example.com', a.example.com]}}", want: []string{
			`1:53: oauth.client_metadata_documents.allowed_hosts[0]: expected a host in lower case such as editor.example.com, without scheme, port and wildcard, got "*.example.com"`,
			`1:70: oauth.client_metadata_documents.allowed_hosts[1]: expected a host in lower case such as editor.example.com, without scheme, port and wildcard, got "https://a.example.com"`}},
		{text: "database: {dsn: 'file:a.db?mode=ro'}", want: []string{"1:17: database.dsn: expected the path of a file without parameters: the server sets them; remove the question mark and what follows"}},
		{text: "audit: {retention: 1}", want: []string{`1:20: audit.retention: expected a duration of at least a day such as 400d, or 0 for no limit, got "1"`}},
		{text: "audit: {retention: -1d}", want: []string{"1:20: audit.retention: expected a duration of at least a day such as 400d, or 0 for no limit"}},
		{text: "audit: {retention: 23h59m}", want: []string{`1:20: audit.retention: expected a duration of at least a day such as 400d, or 0 for no limit, got "23h59m"`}},
		{text: "audit: {retention: 99999d}", want: []string{`1:20: audit.retention: expected a duration of at least a day such as 400d, or 0 for no limit, got "99999d"`}},
		{text: "audit: {retention: true}", want: []string{`1:20: audit.retention: expected a duration of at least a day such as 400d, or 0 for no limit, got "true"`}},
		{text: "mail: {username: a}", want: []string{"1:7: mail.host: required with the other keys of mail: the name of the mail server"}},
		{text: "mail: {host: localhost}", want: []string{"1:7: mail.from: required with mail.host: the sender, such as Example <no-reply@example.com>"}},
		{text: "mail: {host: localhost, from: somebody}", want: []string{"1:31: mail.from: expected an address, or a name with an address in angle brackets, such as Example <no-reply@example.com>"}},
		{text: "mail: {host: smtp.example.com, from: a@example.com, tls: none}", want: []string{"1:58: mail.tls: a mail server that is not on this machine must be reached over TLS: set starttls or implicit; for one in a private network that has no TLS, set mail.allow_plaintext"}},
		{text: "server: {public_url: https://example.com/console}", want: []string{"1:22: server.public_url: a server at /console would take its pages for parts of the API if a proxy removes the path: choose another one, such as /auth"}},
		{text: "mail: {host: 10.0.0.25, from: a@example.com, tls: none}", want: []string{"1:51: mail.tls: a mail server that is not on this machine must be reached over TLS: set starttls or implicit; for one in a private network that has no TLS, set mail.allow_plaintext"}},
		{text: "mail: {host: relay.internal, from: a@example.com, tls: none, allow_plaintext: true, username: u, password: x}", want: []string{"1:95: mail.username: the password would be readable in the network with tls none: remove mail.username and mail.password, and let the mail server accept this machine by its address; or set mail.tls to starttls or implicit"}},
		{text: "mail: {host: 192.0.2.25, from: a@example.com, tls: none, allow_plaintext: true}", want: []string{"1:14: mail.host: with tls none, the mail server must be in a private network, and this address is not: set mail.tls to starttls or implicit"}},
		{text: "mail: {host: '2001:db8::25', from: a@example.com, tls: none, allow_plaintext: true}", want: []string{"1:14: mail.host: with tls none, the mail server must be in a private network, and this address is not: set mail.tls to starttls or implicit"}},
		{text: "mail: {host: localhost, from: a@example.com, tls: none, password: x}", want: []string{"1:7: mail.username: required with mail.password: the username"}},
		{text: "mail: {host: localhost, from: a@example.com, username: x}", want: []string{"1:7: mail.password: required with mail.username; preferably set it as POSTERN_MAIL_PASSWORD"}},
		{text: "log: {level: loud}\nlgo: {}", want: []string{`1:14: log.level: expected "debug", "info", "warn" or "error", got "loud"`, `2:1: lgo: unknown member "lgo"; did you mean "log"?`}},
		{text: "server:\n\tport: 1", want: []string{"2:1: a tab indents this line; use spaces"}},
		{text: "a: 1\na: 2", want: []string{`2:1: a: "a" is given twice, first on line 1; remove one`}},

		{environ: []string{"POSTERN_SERVER_PROT=80"}, want: []string{"POSTERN_SERVER_PROT: there is no such variable; did you mean POSTERN_SERVER_PORT?"}},
		{environ: []string{"POSTERN_WHATEVER=80"}, want: []string{"POSTERN_WHATEVER: there is no such variable; unset it"}},
		{environ: []string{"POSTERN_SERVER_PORT=http"}, want: []string{`POSTERN_SERVER_PORT: expected a whole number, got "http"`}},
		{environ: []string{"POSTERN_SERVER_PORT=0"}, want: []string{"POSTERN_SERVER_PORT: expected at least 1, got 0"}},
		{environ: []string{"POSTERN_SERVER_HTTP_ONLY=yes"}, want: []string{`POSTERN_SERVER_HTTP_ONLY: expected true or false, got "yes"`}},
		{environ: []string{"POSTERN_PASSKEY_ALLOWED_ORIGINS=https://a.example,b.example"}, want: []string{`POSTERN_PASSKEY_ALLOWED_ORIGINS[1]: expected an origin such as https://login.example.com, got "b.example"`}},
		{environ: []string{"POSTERN_PASSKEY_ALLOWED_ORIGINS= , "}, want: []string{"POSTERN_PASSKEY_ALLOWED_ORIGINS: expected at least 1 item, got 0"}},
		{environ: []string{"POSTERN_PASSKEY_RELYING_PARTY_ID=b.example"}, want: []string{`POSTERN_PASSKEY_RELYING_PARTY_ID: expected the host of an allowed origin, or a parent domain of it (Web Authentication Level 3 §5.1.3), got "b.example", where passkey.allowed_origins has https://localhost:8090`}},
		// An unset variable that was misspelled, or one that is wrong, is one fault,
		// not also a relying party that fits no origin.
		{text: "passkey: {relying_party_id: a.example}", environ: []string{"POSTERN_PASSKEY_ALLOWED_ORIGIN=https://a.example"}, want: []string{"POSTERN_PASSKEY_ALLOWED_ORIGIN: there is no such variable; did you mean POSTERN_PASSKEY_ALLOWED_ORIGINS?"}},
		{text: "passkey: {relying_party_id: a.example, allowed_origins: [https://A.example]}", want: []string{"1:58: passkey.allowed_origins[0]: an origin is scheme://host[:port] as browsers write it, without a path: write https://a.example"}},
		// All at once, whatever the source.
		{text: "log: {format: xml}", environ: []string{"POSTERN_LOG_LEVEL=loud", "POSTERN_TLS_CERT_FILE=a.pem"}, want: []string{
			"1:1: tls.key_file: required with tls.cert_file: the path of the certificate's private key",
			`1:15: log.format: expected "text" or "json", got "xml"`,
			`POSTERN_LOG_LEVEL: expected "debug", "info", "warn" or "error", got "loud"`}},
	}
	for _, test := range tests {
		_, problems := load([]byte(test.text), test.environ)
		var got []string
		for _, p := range problems {
			got = append(got, p.String())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s %q\n got %s\nwant %s", test.text, test.environ, strings.Join(got, "\n     "), strings.Join(test.want, "\n     "))
		}
	}
}

func TestLoadReportsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "postern.yaml")
	datatest.WriteFile(t, path, "nonsense: 1")
	cfg, err := Load(path, nil)
	var e *schemas.Error
	if cfg != nil || !errors.As(err, &e) || e.Class != schemas.Invalid || e.Code != CodeInvalid || len(e.Errors) != 1 || !strings.Contains(e.Error(), path) {
		t.Errorf("got %v and %v", cfg, err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "nowhere.yaml"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: got %v", err)
	}
	datatest.WriteFile(t, path, strings.Repeat("#\n", maxSize))
	if _, err := Load(path, nil); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a huge file: got %v", err)
	}
}

// TestSecretsAreNotShown makes every mistake that can be made about a key
// whose value may hold a password.
func TestSecretsAreNotShown(t *testing.T) {
	for _, text := range []string{"database: {dsn: [hunter2]}", "database: {driver: postgres, dsn: {password: hunter2}}", "database: {dns: hunter2}"} {
		_, problems := load([]byte(text), []string{"POSTERN_DATABASE_DNS=hunter2", "POSTERN_KEY_ENCRYPTION_KEYS=hunter2"})
		for _, p := range problems {
			if strings.Contains(p.String(), "hunter2") {
				t.Errorf("%s: %s", text, p)
			}
		}
		if len(problems) != 3 {
			t.Errorf("%s: got %d problems: %v", text, len(problems), problems)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("server: {port: 80}\npasskey:\n  allowed_origins: [https://a.example]\n"), "https://b.example,http://localhost")
	f.Add([]byte("passkey: {relying_party_id: com}"), "https://[::1%25x]:0")
	f.Add([]byte("server: {public_url: 'http://a:80//b/../c?#'}"), "*")
	f.Fuzz(func(t *testing.T, text []byte, origins string) {
		c, problems := load(text, []string{"POSTERN_PASSKEY_ALLOWED_ORIGINS=" + origins, "POSTERN_CORS_ALLOWED_ORIGINS=" + origins})
		for _, p := range problems {
			if p.Message == "" || p.Line < 0 || p.Column < 0 {
				t.Errorf("%+v", p)
			}
		}
		if len(problems) > 0 {
			return
		}
		if len(c.Passkey.AllowedOrigins) == 0 || c.Passkey.RelyingPartyID == "" || c.Server.PublicURL == "" || c.Flow.MaxFailures == 0 {
			t.Errorf("incomplete: %+v", c)
		}
		for _, origin := range c.Passkey.AllowedOrigins {
			if originOf(origin) != origin || !strings.HasPrefix(origin, "https://") && !loopback(hostOf(origin)) {
				t.Errorf("accepted the origin %q", origin)
			}
		}
	})
}
