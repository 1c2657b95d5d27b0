package main

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Dynamic OP: clients that register themselves (OpenID Connect Dynamic Client
// Registration), each module with a client of its own.
func TestConformanceDynamic(t *testing.T) {
	sequential(t)
	const prefix = "oidcc-"
	r := newRegistrars(t)
	for name, run := range dynamicModules() {
		t.Run(prefix+name, func(t *testing.T) { run(t, r) })
	}
}

// dynamicTrial is a module of a profile whose clients register themselves.
type dynamicTrial func(t *testing.T, r *registrars)

func dynamicModules() map[string]dynamicTrial {
	return map[string]dynamicTrial{
		"idtoken-rs256":    expectSuccessAs("id_token_signed_response_alg", "RS256"),
		"idtoken-unsigned": expectErrorAs("invalid_client_metadata", "id_token_signed_response_alg", "none"),
		"userinfo-rs256":   unsignedUserinfo,
		"ensure-redirect-uri-in-authorization-request":  mismatchedRedirect(rpRedirect, ""),
		"redirect-uri-query-OK":                         expectSuccessAs("redirect_uris", []string{rpQuery}),
		"redirect-uri-query-mismatch":                   mismatchedRedirect(rpQuery, "https://rp.example.com/callback?dummy1=lorem&dummy2=other"),
		"redirect-uri-query-added":                      mismatchedRedirect(rpRedirect, rpQuery),
		"redirect-uri-regfrag":                          expectErrorAs("invalid_redirect_uri", "redirect_uris", []string{rpRedirect + "#fragment"}),
		"discovery-endpoint-verification":               registrationIsReported,
		"server":                                        expectSuccessAs(),
		"registration-logo-uri":                         displayedClient("logo_uri", "logoUrl"),
		"registration-policy-uri":                       displayedClient("policy_uri", "policyUri"),
		"registration-tos-uri":                          displayedClient("tos_uri", "tosUri"),
		"registration-jwks-uri":                         publishedKeys,
		"registration-sector-uri":                       sector(true),
		"registration-sector-bad":                       sector(false),
		"server-rotate-keys":                            serverRotates,
		"refresh-token-rp-key-rotation":                 clientRotates,
		"request-uri-unsigned":                          expectAs(expectError("request_uri_not_supported", "request_uri", "https://rp.example.com/request.jwt")),
		"request-uri-signed-rs256":                      expectAs(expectError("request_uri_not_supported", "request_uri", "https://rp.example.com/signed.jwt")),
		"ensure-request-object-with-redirect-uri":       expectAs(requestObjectRedirect),
		"refresh-token":                                 expectAs(refreshToken),
		"ensure-client-assertion-with-iss-aud-succeeds": publishedKeys,
	}
}

// expectAs runs a module of another profile with clients that register themselves.
func expectAs(run trial) dynamicTrial {
	return func(t *testing.T, r *registrars) {
		run(t, func(t testing.TB, method ...string) *party {
			members := []any{}
			for _, m := range method {
				members = append(members, "token_endpoint_auth_method", m)
			}
			return r.party(t.(*testing.T), members...)
		})
	}
}

// expectSuccessAs signs a user in to a client with this registration.
func expectSuccessAs(members ...any) dynamicTrial {
	return func(t *testing.T, r *registrars) { r.party(t, members...).signInAndVerify() }
}

// expectErrorAs expects an error for a registration: RFC 7591 §3.2.2.
func expectErrorAs(code string, members ...any) dynamicTrial {
	return func(t *testing.T, r *registrars) {
		if said, status := r.register(t, members...); status != http.StatusBadRequest || said["error"] != code {
			t.Errorf("%d %v, want %s", status, said, code)
		}
	}
}

// unsignedUserinfo: userinfo is JSON, which the metadata implies by listing no algorithms,
// and a client that requires it signed cannot register.
func unsignedUserinfo(t *testing.T, r *registrars) {
	if reported := r.party(t).discovery(); reported["userinfo_signing_alg_values_supported"] != nil {
		t.Errorf("the metadata is %v", reported)
	}
	expectErrorAs("invalid_client_metadata", "userinfo_signed_response_alg", "RS256")(t, r)
}

// mismatchedRedirect requests a response at another redirect URI than the registered one, or at none:
// an error page and no redirect.
func mismatchedRedirect(registered, asked string) dynamicTrial {
	return func(t *testing.T, r *registrars) {
		p := r.party(t, "redirect_uris", []string{registered})
		if a := p.ask("redirect_uri", asked); !strings.HasPrefix(a.to, p.at("/gate/error?")) || p.answers > 0 {
			t.Errorf("led to %s", a.to)
		}
	}
}

func registrationIsReported(t *testing.T, r *registrars) {
	p := r.party(t)
	if reported := p.discovery(); reported["registration_endpoint"] != p.at("/oauth2/dcr/register") {
		t.Errorf("the metadata is %v", reported)
	}
	discoveryVerification(t, func(testing.TB, ...string) *party { return p })
}

// displayedClient has the sign-in page show an address of the client, once an administrator vouches
// for the client: an unvouched client's logo may be stolen.
func displayedClient(member, as string) dynamicTrial {
	return func(t *testing.T, r *registrars) {
		p := r.party(t, member, "https://rp.example.com/about")
		gate := p.location(first(p.visit(p.at("/oauth2/authorize?" + p.request().Encode())))).Query()
		r.makeTrusted(t, gate.Get("applicationId"))
		reported := p.object(p.visit(p.at("/flow/meta?" + url.Values{"id": gate["applicationId"], "type": {"APP"}}.Encode())))
		if app, _ := reported["application"].(map[string]any); app[as] != "https://rp.example.com/about" {
			t.Errorf("people are shown %v", reported["application"])
		}
	}
}

func first(reply *http.Response, _ string) *http.Response { return reply }

// sector has a valid list at the sector_identifier_uri, or one without a redirect URI.
func sector(good bool) dynamicTrial {
	return func(t *testing.T, r *registrars) {
		list := []string{"https://rp.example.com/other"}
		if !good {
			uri := r.publish("/sector-bad", list)
			expectErrorAs("invalid_client_metadata", "sector_identifier_uri", uri)(t, r)
			return
		}
		r.party(t, "sector_identifier_uri", r.publish("/sector", append(list, rpRedirect))).signInAndVerify()
	}
}

func publishedKeys(t *testing.T, r *registrars) { r.withKey(t, "/"+t.Name()).signInAndVerify() }

// serverRotates verifies tokens of a new key with the keys that are published then, and
// tokens of the old key as well.
func serverRotates(t *testing.T, r *registrars) {
	p := r.party(t)
	before, _, _ := p.signInAndVerify()
	if err := r.tokens.Rotate(t.Context(), true, schemas.Event{}); err != nil {
		t.Fatal(err)
	}
	after, _, _ := p.signInAndVerify()
	p.verify(before)
	if kid(t, before.ID) == kid(t, after.ID) {
		t.Error("the key is the same")
	}
}

// kid returns the key id of a token.
func kid(t *testing.T, raw string) string {
	t.Helper()
	head, err := base64.RawURLEncoding.DecodeString(strings.Split(raw, ".")[0])
	var named struct{ Kid string }
	if err != nil || json.Unmarshal(head, &named) != nil || named.Kid == "" {
		t.Fatalf("the header is %s, %v", head, err)
	}
	return named.Kid
}

// clientRotates has a client publish another key right after using the first.
func clientRotates(t *testing.T, r *registrars) {
	p := r.withKey(t, "/rotating")
	got, _, _ := p.signInAndVerify("scope", "openid offline_access", "prompt", "consent")
	old := p.key
	p.key = r.publishKey(t, "/rotating", "second")
	again, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
	if status != http.StatusOK {
		t.Fatalf("by the new key: %d %+v", status, again)
	}
	p.verify(again)
	p.key = old
	if reported, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {again.Refresh}}); status != http.StatusUnauthorized || reported.Error != "invalid_client" {
		t.Errorf("by the old key: %d %+v", status, reported)
	}
}
