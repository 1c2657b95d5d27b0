package main

import (
	"net/url"
	"slices"
	"testing"
)

// Config OP: OpenID Connect Discovery §3 and §4.
func TestConformanceConfig(t *testing.T) {
	conformance(t, "query", map[string]trial{"oidcc-discovery-endpoint-verification": discoveryVerification})
}

// discovery is the metadata.
func (p *party) discovery() map[string]any {
	p.t.Helper()
	reply, text := p.visit(p.at("/.well-known/openid-configuration"))
	if reply.Header.Get("Content-Type") != "application/json" {
		p.t.Errorf("the metadata is %s", reply.Header.Get("Content-Type"))
	}
	return p.object(reply, text)
}

func discoveryVerification(t *testing.T, newParty parties) {
	p := newParty(t)
	p.signInAndVerify() // creates the key of ID tokens
	reported := p.discovery()
	if reported["issuer"] != p.cfg.Server.PublicURL {
		t.Errorf("the issuer is %v", reported["issuer"])
	}
	for _, name := range []string{"authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "end_session_endpoint"} {
		text, _ := reported[name].(string)
		if u, err := url.Parse(text); err != nil || u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
			t.Errorf("%s is %v", name, reported[name])
		}
	}
	for name, wanted := range map[string][]string{
		"response_types_supported":              {"code"},
		"response_modes_supported":              {"query", "form_post"},
		"subject_types_supported":               {"public"},
		"id_token_signing_alg_values_supported": {"RS256"},
		"scopes_supported":                      {"openid", "profile", "email", "address", "phone"},
		"token_endpoint_auth_methods_supported": {"client_secret_basic", "client_secret_post", "private_key_jwt"},
		"claims_supported":                      {"sub", "iss", "auth_time", "name", "email"},
		"grant_types_supported":                 {"authorization_code", "refresh_token"},
		"code_challenge_methods_supported":      {"S256"},
	} {
		list, _ := reported[name].([]any)
		for _, want := range wanted {
			if !slices.Contains(list, any(want)) {
				t.Errorf("%s are %v, without %s", name, list, want)
			}
		}
	}
	// Relying parties rely on the default of each of these, which is true for some.
	for _, name := range []string{"request_parameter_supported", "request_uri_parameter_supported"} {
		if reported[name] != false {
			t.Errorf("%s is %v", name, reported[name])
		}
	}
	checkPublishedKeys(p, reported["jwks_uri"].(string))
}

// checkPublishedKeys: they have names, and no private half (RFC 7517 §4, §5).
func checkPublishedKeys(p *party, address string) {
	p.t.Helper()
	reply, text := p.visit(address)
	keys, _ := p.object(reply, text)["keys"].([]any)
	names := map[any]bool{}
	for _, raw := range keys {
		key, _ := raw.(map[string]any)
		names[key["kid"]] = true
		for _, private := range []string{"d", "p", "q", "k"} {
			if key[private] != nil {
				p.t.Errorf("the key %v has the member %s", key["kid"], private)
			}
		}
	}
	if len(keys) < 2 || len(names) != len(keys) || names[nil] {
		p.t.Errorf("the keys are named %v", names)
	}
}
