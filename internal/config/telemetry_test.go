package config

import (
	"testing"
)

func TestTelemetry(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // a problem, "" for none
	}{
		{"all of it", "telemetry: {metrics: {listen: ':9464'}, traces: {endpoint: 'https://otel.example.com/v1/traces', authorization: Bearer hunter2, sampling_ratio: 0.1}, pprof: {listen: 'localhost:6060'}}", ""},
		{"free ports", "server: {listen: 'localhost:0'}\ntelemetry: {metrics: {listen: 'localhost:0'}, pprof: {listen: 'localhost:0'}}", ""},
		{"the main port", "telemetry: {metrics: {listen: '127.0.0.1:8090'}}", "1:31: telemetry.metrics.listen: its port is that of server.listen (localhost:8090): it needs a port of its own"},
		{"the port of the pages", "gate_client: {port: 9464}\ntelemetry: {metrics: {listen: ':9464'}}", "its port is that of gate_client.port"},
		{"one port", "telemetry: {metrics: {listen: ':9464'}, pprof: {listen: '127.0.0.1:9464'}}", "telemetry.pprof.listen: its port is that of telemetry.metrics.listen"},
		{"no port", "telemetry: {metrics: {listen: localhost}}", "telemetry.metrics.listen: expected host:port such as"},
		{"remote profiles", "telemetry: {pprof: {listen: ':6060'}}", "telemetry.pprof.listen: profiles contain secrets"},
		{"remote profiles on purpose", "telemetry: {pprof: {listen: ':6060', allow_remote: true}}", ""},
		{"no URL", "telemetry: {traces: {endpoint: 'localhost:4318'}}", "telemetry.traces.endpoint: expected the URL of a collector"},
		{"a password", "telemetry: {traces: {endpoint: 'http://me:hunter2@localhost:4318'}}", "without a user name"},
		{"another scheme", "telemetry: {traces: {endpoint: 'grpc://localhost:4317'}}", "expected the URL of a collector"},
		{"two fields", `telemetry: {traces: {authorization: "hunter2\r\nX: 1"}}`, "telemetry.traces.authorization: expected one line"},
		{"a ratio above 1", "telemetry: {traces: {sampling_ratio: 10}}", "telemetry.traces.sampling_ratio: expected"},
		{"a misspelt key", "telemetry: {metrics: {lisen: ':9464'}}", `did you mean "listen"?`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expectProblem(t, test.text, test.want)
		})
	}
}

// A collector without a path is asked at that of OTLP over HTTP. Its key is a secret.
func TestCollector(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:4318": "http://127.0.0.1:4318/v1/traces", "http://127.0.0.1:4318/": "http://127.0.0.1:4318/v1/traces", "https://otel.example.com/in": "https://otel.example.com/in",
	} {
		cfg, problems := load(nil, []string{"POSTERN_TELEMETRY_TRACES_ENDPOINT=" + text, "POSTERN_TELEMETRY_TRACES_AUTHORIZATION=Bearer hunter2"})
		if len(problems) > 0 || cfg.Telemetry.Traces.Endpoint != want {
			t.Errorf("%s: %s, %v", text, cfg.Telemetry.Traces.Endpoint, problems)
		}
		for _, s := range cfg.Settings() {
			if s.Key == "telemetry.traces.authorization" && s.Value != "set" {
				t.Errorf("the settings show %v", s.Value)
			}
		}
	}
}
