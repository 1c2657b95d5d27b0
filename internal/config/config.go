package config

import (
	_ "embed"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

// CodeInvalid is the code of the error that lists the faults of a configuration.
const CodeInvalid = "invalid_configuration"

// Config is a configuration with all defaults and valid values. The schema describes its members,
// under the names of their json tags.
type Config struct {
	Server     Server     `json:"server"`
	TLS        TLS        `json:"tls"`
	DataDir    string     `json:"data_dir"`
	Database   Database   `json:"database"`
	Keys       Keys       `json:"keys"`
	Passkey    Passkey    `json:"passkey"`
	CORS       CORS       `json:"cors"`
	GateClient GateClient `json:"gate_client"`
	OAuth      OAuth      `json:"oauth"`
	Outbound   Outbound   `json:"outbound"`
	HTTP       HTTP       `json:"http"`
	Mail       Mail       `json:"mail"`
	Flow       Flow       `json:"flow"`
	Token      Token      `json:"token"`
	Password   Password   `json:"password"`
	Throttle   Throttle   `json:"throttle"`
	Audit      Audit      `json:"audit"`
	Log        Log        `json:"log"`
	Telemetry  Telemetry  `json:"telemetry"`

	// Environ is the environment of the process. It contains secrets that are not part of the
	// configuration, such as the key-encryption key.
	Environ []string `json:"-"`

	// Warnings describe settings that are permitted but should be changed.
	Warnings []string `json:"-"`

	// Sources maps each configured key to its source.
	Sources map[string]Source `json:"-"`

	// SecretsFrom is the path of the configuration file, if it contains secrets.
	SecretsFrom string `json:"-"`
}

// Server contains the addresses at which the server listens and is reached.
type Server struct {
	Hostname  string `json:"hostname"`
	Port      int    `json:"port"`
	Listen    string `json:"listen"`     // host:port, for net.Listen
	PublicURL string `json:"public_url"` // without a slash at the end
	HTTPOnly  bool   `json:"http_only"`

	Drain time.Duration `json:"drain"` // 0: none

	TrustedProxies []netip.Prefix `json:"trusted_proxies"`
	ForwardedField string         `json:"forwarded_field"` // X-Forwarded-For or Forwarded

	LogoURL string `json:"logo_url"` // https or data; "" for none
}

// TLS is the certificate of the server: both files or neither.
type TLS struct {
	CertFile string `json:"cert_file"`
	KeyFile  string `json:"key_file"`
}

// Database is the location of the store. DSN may contain a password.
type Database struct {
	Driver string `json:"driver"` // sqlite or postgres
	DSN    string `json:"dsn"`

	Pool               int           `json:"pool"` // 0: depends on the machine and on PostgreSQL
	ConnectionLifetime time.Duration `json:"connection_lifetime"`
	StartupWait        time.Duration `json:"startup_wait"`
	PreparedStatements string        `json:"prepared_statements"` // auto, on or off
}

// Keys is the location of the key-encryption keys.
type Keys struct {
	File string `json:"file"` // "" if the environment holds them
}

// Passkey is the WebAuthn relying party and its policy.
type Passkey struct {
	AllowedOrigins     []string      `json:"allowed_origins"` // as browsers write them
	RelatedOrigins     []string      `json:"related_origins"` // as browsers write them
	RelyingPartyID     string        `json:"relying_party_id"`
	RelyingPartyName   string        `json:"relying_party_name"`
	UserVerification   string        `json:"user_verification"`   // required, preferred or discouraged
	Attachment         string        `json:"attachment"`          // platform, cross-platform, or "" for both
	AttestationFormats []string      `json:"attestation_formats"` // nil for all
	TrustAnchors       []string      `json:"trust_anchors"`       // files of root certificates in PEM
	SyncedPasskeys     string        `json:"synced_passkeys"`     // allow or refuse
	CounterRegression  string        `json:"counter_regression"`  // refuse or allow
	EligibilityChange  string        `json:"eligibility_change"`  // refuse or allow
	Timeout            time.Duration `json:"timeout"`
}

// CORS lists the origins whose pages may call the API.
type CORS struct {
	AllowedOrigins []string `json:"allowed_origins"` // as browsers write them
}

// GateClient is the location of the sign-in pages: the hosted pages under /gate and, if Port is
// set, on their own port; or the operator's own pages.
type GateClient struct {
	Port     int  `json:"port"`     // 0 for /gate alone
	External bool `json:"external"` // the operator serves other pages on Port
	// LanguagesDir is a folder with files such as it.json, "" for none: see package translations.
	LanguagesDir string `json:"languages_dir"`
	// DefaultLanguage is the tag of the language where no other is known or available.
	DefaultLanguage string `json:"default_language"`
}

// OAuth is the authorization server.
type OAuth struct {
	DCR                     DCR                     `json:"dcr"`
	ClientMetadataDocuments ClientMetadataDocuments `json:"client_metadata_documents"`
	UnsupportedMetadata     string                  `json:"unsupported_metadata"` // refuse or ignore
}

// ClientMetadataDocuments restricts the clients that may publish a metadata document instead of
// being registered.
type ClientMetadataDocuments struct {
	Enabled      bool     `json:"enabled"`
	AllowedHosts []string `json:"allowed_hosts"` // in lower case; empty for all
}

// DCR is dynamic client registration (RFC 7591).
type DCR struct {
	Insecure          bool     `json:"insecure"`            // open to anonymous callers
	PrivateUseSchemes []string `json:"private_use_schemes"` // in lower case, without a dot
}

// Outbound restricts requests to addresses that others provide.
type Outbound struct {
	Allow []string `json:"allow"` // host names in lower case, addresses and networks
}

// HTTP contains the services that flows can call.
type HTTP struct {
	Targets map[string]Target `json:"targets"` // by the name in flows
}

// Target is a service that flows call. At most one of a value and its file is set.
type Target struct {
	URL               string        `json:"url"`    // without a slash at the end
	Secret            string        `json:"secret"` // whsec_ and base64
	SecretFile        string        `json:"secret_file"`
	Authorization     string        `json:"authorization"` // the value of the header field
	AuthorizationFile string        `json:"authorization_file"`
	Timeout           time.Duration `json:"timeout"`
}

// Mail is the mail server. Without a host, no mail is sent.
type Mail struct {
	Host string `json:"host"`
	Port int    `json:"port"`
	TLS  string `json:"tls"` // starttls, implicit or none

	AllowPlaintext bool `json:"allow_plaintext"` // with tls none, a mail server on another machine

	Username string `json:"username"`
	Password string `json:"password"`
	From     string `json:"from"` // an address, or a name with one in angle brackets

	// KeepInMemory keeps mails in memory instead of sending them: serve --try without a mail server.
	KeepInMemory bool `json:"-"`
}

// Enabled reports whether mails can be sent, or kept in memory.
func (m Mail) Enabled() bool { return m.Host != "" || m.KeepInMemory }

// Flow contains the settings of the runs of all flows.
type Flow struct {
	Dir                   string        `json:"dir"` // of flow files; "" for none
	RequireChallengeToken bool          `json:"require_challenge_token"`
	AuthenticationTTL     time.Duration `json:"authentication_ttl"`
	RegistrationTTL       time.Duration `json:"registration_ttl"`
	MaxFailures           int           `json:"max_failures"`
}

// Token contains the settings of the tokens that the server signs.
type Token struct {
	AssertionTTL time.Duration `json:"assertion_ttl"`
	AccessTTL    time.Duration `json:"access_ttl"`
	IDTokenTTL   time.Duration `json:"id_token_ttl"`
	SessionTTL   time.Duration `json:"session_ttl"` // of a session in a browser, on the hosted pages
	// SessionIdleTimeout ends a session that its browser does not use; 0 for none.
	SessionIdleTimeout time.Duration `json:"session_idle_timeout"`

	KeyAge     time.Duration `json:"key_age"`
	KeyPublish time.Duration `json:"key_publish"` // shorter than KeyAge
}

// Password is the policy for new passwords, the cost of argon2id (RFC 9106), and the limit of
// concurrent hashing.
type Password struct {
	MinLength  int    `json:"min_length"` // of a password that is sufficient for a sign-in
	MemoryKiB  uint32 `json:"memory_kib"`
	Iterations uint32 `json:"iterations"`
	Workers    int    `json:"workers"`
	Queue      int    `json:"queue"`
}

// Throttle contains the limits of requests and guesses.
type Throttle struct {
	Enabled          bool `json:"enabled"`
	Instances        int  `json:"instances"` // of the service, which share the budgets for guesses
	FamiliarNetworks int  `json:"familiar_networks"`
	// The limits of unfinished runs, authorization requests and passkey ceremonies in the whole
	// service; 0 sets no limit.
	UnfinishedRuns     int `json:"unfinished_runs"`
	UnfinishedRequests int `json:"unfinished_requests"`
	UnfinishedPasskeys int `json:"unfinished_passkeys"`

	Budgets
}

// Budgets are the limits, as package throttle describes them.
type Budgets struct {
	SignIns         throttle.Budget `json:"sign_ins"`
	RunStarts       throttle.Budget `json:"run_starts"`
	RunSteps        throttle.Budget `json:"run_steps"`
	Tokens          throttle.Budget `json:"tokens"`
	TokenFailures   throttle.Budget `json:"token_failures"`
	Registrations   throttle.Budget `json:"registrations"`
	PairMails       throttle.Budget `json:"pair_mails"`
	AccountMails    throttle.Budget `json:"account_mails"`
	NetworkMails    throttle.Budget `json:"network_mails"`
	PairGuesses     throttle.Budget `json:"pair_guesses"`
	FamiliarGuesses throttle.Budget `json:"familiar_guesses"`
	NetworkGuesses  throttle.Budget `json:"network_guesses"`
	AccountGuesses  throttle.Budget `json:"account_guesses"`
}

// Audit is the audit log.
type Audit struct {
	Retention time.Duration `json:"retention"`  // of its events; 0: without limit
	SinkGrace time.Duration `json:"sink_grace"` // additional retention of events that File or Target has not received
	// The receivers of copies of the events; "" for none.
	File   string `json:"file"`   // JSON lines
	Target string `json:"target"` // the name of one of HTTP.Targets
}

// Telemetry contains the settings of metrics, traces and profiles.
type Telemetry struct {
	Metrics Metrics `json:"metrics"`
	Traces  Traces  `json:"traces"`
	Pprof   Pprof   `json:"pprof"`
}

// Metrics are those for Prometheus.
type Metrics struct {
	Listen string `json:"listen"` // host:port; "" for no metrics
}

// Traces are the spans for an OpenTelemetry collector.
type Traces struct {
	Endpoint      string  `json:"endpoint"`       // with a path; "" for no traces
	Authorization string  `json:"authorization"`  // the value of the header field, "" for none
	SamplingRatio float64 `json:"sampling_ratio"` // from 0 to 1
}

// Pprof are the profiles of the program.
type Pprof struct {
	Listen      string `json:"listen"` // host:port; "" for no profiles
	AllowRemote bool   `json:"allow_remote"`
}

// Log contains the settings of the log.
type Log struct {
	Level  string `json:"level"`  // debug, info, warn or error
	Format string `json:"format"` // text or json
}

//go:embed config.schema.json
var schemaText string

var schema = sync.OnceValue(func() *schemas.Schema { return schemas.MustSchema("config", schemaText) })

// Schema is the JSON Schema of the configuration file. The descriptions in it
// are the documentation of the keys.
func Schema() *schemas.Schema { return schema() }

// Load reads the file at path, unless path is "", and the environment (a list of NAME=value, as
// os.Environ returns it). The environment overrides the file, and both override the defaults. All
// faults are in one *schemas.Error.
func Load(path string, environ []string) (*Config, error) {
	text, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	cfg, problems := load(text, environ)
	if len(problems) > 0 {
		where := "the environment"
		if path != "" {
			where = path + " and " + where
		}
		return nil, schemas.Errorf(schemas.Invalid, CodeInvalid, "the configuration given by %s is invalid", where).WithProblems(problems)
	}
	if file, _ := readFile(text); holdsSecrets(file.values) {
		cfg.SecretsFrom = path
	}
	return cfg, nil
}

// maxSize is the maximum size of a configuration file in bytes.
const maxSize = 1 << 20

// read returns the text of the file, nil if there is none.
func read(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	return folder.Read(path, maxSize)
}

// load is Load on the text of a file; nil means that there is no file.
func load(text []byte, environ []string) (*Config, []schemas.Problem) {
	file, document := readFile(text)
	env := readEnvironment(environ)
	cfg := &Config{Environ: environ}
	cfg.addSources(FromFile, file.values)
	cfg.addSources(FromEnvironment, env.values)
	if err := overlay(defaults(), file.values, env.values).decode(cfg); err != nil {
		return nil, []schemas.Problem{{Message: err.Error()}}
	}
	if file.values["server.port"] == nil && env.values["server.port"] == nil {
		cfg.Server.takeListenPort()
	}
	cfg.complete()
	for _, p := range cfg.check(func(keys ...string) bool { return file.isUncertain(keys...) || env.isUncertain(keys...) }) {
		layer := file
		if _, ok := env.values[p.Path]; ok {
			layer = env
		}
		layer.problems = append(layer.problems, p)
	}
	if document != nil {
		file.problems = document.Locate(file.problems)
	}
	return cfg, append(file.problems, env.withVariableNames()...)
}
