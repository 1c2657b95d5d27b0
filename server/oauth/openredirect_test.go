package oauth_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
)

// evil is the attacker's address.
const evil = "https://accounts.example.net/sign-in"

// mistakes are authorization requests that are answered without asking the user: material for an
// attacker's links.
func mistakes() map[string][]string {
	return map[string][]string{
		"silent":                   {"prompt", "none"},
		"an unknown response type": {"response_type", "token"},
		"no response type":         {"response_type", ""},
		"a scope that is none":     {"scope", `a"b`},
		"no challenge":             {"code_challenge", "", "code_challenge_method", ""},
		"a request object":         {"request", "x"},
		"a request by its address": {"request_uri", "https://accounts.example.net/request"},
		"an unknown resource":      {"resource", "https://api.example.net"},
		"an age that is none":      {"max_age", "x"},
		"a mistake, by form_post":  {"response_mode", "form_post", "scope", `a"b`},
	}
}

// Anyone can register a client. A link to this server must not lead to any address because of that
// (RFC 9700 §4.11.2).
func TestUntrustedClientsAreNoOpenRedirectors(t *testing.T) {
	s := newUntrustedClients(t)
	open := s.registered(evil, nil)
	published := "https://client.example.com/metadata"
	s.publish(published, `{"client_id":"`+published+`","redirect_uris":["`+evil+`"]}`)
	call := directory.SystemCall()
	known := s.registered(evil, &call)
	device := s.registered("http://127.0.0.1/cb", nil)
	app := s.registered("com.example.app:/cb", nil)
	for name, change := range mistakes() {
		for client, to := range map[string]string{open: gateURL, published: gateURL, known: evil, device: "http://127.0.0.1:4711/cb", app: "com.example.app:/cb"} {
			back := map[string]string{gateURL: evil}[to]
			if back == "" {
				back = to
			}
			rec, err := browser{}.do(t, s.provider.Authorize, authorization(ask(append([]string{"client_id", client, "redirect_uri", back}, change...)...)))
			s.must(err)
			if got := rec.Header().Get("Location") + rec.Body.String(); !strings.Contains(got, to) || to == gateURL && strings.Contains(got, "accounts.example.net/sign-in") {
				t.Errorf("%s, %s: led to %s", name, client, got)
			}
		}
	}
}

// Who has agreed to something of a client's is known to it, and it learns of its
// mistakes.
func TestUntrustedClientsSeeTheirUsersOnly(t *testing.T) {
	s := newUntrustedClients(t)
	id := s.registered(evil, nil)
	b := browser{}
	s.code(b, ask("client_id", id, "redirect_uri", evil))
	for name, change := range mistakes() {
		rec, err := b.do(t, s.provider.Authorize, authorization(ask(append([]string{"client_id", id, "redirect_uri", evil}, change...)...)))
		s.must(err)
		if got := rec.Header().Get("Location") + rec.Body.String(); !strings.Contains(got, evil) {
			t.Errorf("%s: led to %s", name, got)
		}
	}
}

// Sign-out does not lead to an attacker's address either.
func TestUntrustedClientsCannotKeepUsers(t *testing.T) {
	s := newUntrustedClients(t)
	call := directory.SystemCall()
	for name, test := range map[string]struct {
		by *directory.Call
		to string
	}{"an unregistered one": {nil, gateURL + "/signedout"}, "a registered one": {&call, evil}} {
		id := s.registered(evil, test.by)
		q := url.Values{"client_id": {id}, "post_logout_redirect_uri": {evil}}
		if got := s.logout(browser{}, q).Header().Get("Location"); !strings.HasPrefix(got, test.to) {
			t.Errorf("%s: led to %s", name, got)
		}
	}
	id := s.registered(evil, nil)
	b := browser{}
	code := s.code(b, ask("client_id", id, "redirect_uri", evil))
	tokens, err := s.redeem(code, "client_id", id, "redirect_uri", evil)
	s.must(err)
	q := url.Values{"id_token_hint": {tokens.IDToken}, "post_logout_redirect_uri": {evil}}
	if got := s.logout(b, q).Header().Get("Location"); !strings.HasPrefix(got, evil) {
		t.Errorf("who is signed in to it is led to %s", got)
	}
}

// registered is a client that sends people to an address.
func (s *untrustedClients) registered(to string, by *directory.Call) string {
	s.t.Helper()
	kind := ""
	if strings.HasPrefix(to, "com.") {
		kind = `,"application_type":"native"`
	}
	reported, err := s.register(`{"token_endpoint_auth_method":"none","redirect_uris":["`+to+`"],"post_logout_redirect_uris":["`+to+`"]`+kind+`}`, by)
	s.must(err)
	return reported["client_id"].(string)
}
