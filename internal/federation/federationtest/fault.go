package federationtest

import (
	"strings"
	"time"

	"github.com/postern-id/postern/internal/federation"
)

// Fault is a misbehavior of a provider or of the browser that returns from it. Everything
// else stays correct, signatures included.
type Fault string

// Description describes a fault.
type Description struct {
	Fault Fault
	// Doc follows "The provider".
	Doc string
	// Check is the check that detects the fault.
	Check federation.Check

	claim claim // the claim that it spoils
}

// claim is a claim and its value: nil removes it, and a function of the provider returns it.
type claim struct {
	name  string
	value any
}

// after returns a time at a distance from now.
func after(d time.Duration) func(*Provider) any {
	return func(p *Provider) any { return p.Now().Add(d).Unix() }
}

// Catalog lists the faults.
func Catalog() []Description {
	return []Description{
		{"denied", "reports that the user declined (access_denied)", "denied", claim{}},
		{"error", "answers with another error (server_error)", "response", claim{}},
		{"no-code", "answers without a code", "response", claim{}},
		{"long-code", "answers with a code of 5000 bytes", "response", claim{}},
		{"wrong-state", "answers with another state", "state", claim{}},
		{"no-state", "answers without a state", "state", claim{}},
		{"denied-elsewhere", "reports with another state that the user declined", "state", claim{}},
		{"wrong-sender", "names another provider in its answer (RFC 9207)", "sender", claim{}},
		{"no-sender", "does not name itself in its answer, although its metadata promises it (RFC 9207)", "sender", claim{}},
		{"down", "does not answer the token request", "reachable", claim{}},
		{"broken", "answers the token request with the status 500", "reachable", claim{}},
		{"refused-code", "rejects the code", "token", claim{}},
		{"moved", "redirects to another token endpoint", "token", claim{}},
		{"html", "answers with a page instead of tokens", "token", claim{}},
		{"list", "answers with a list instead of an object", "token", claim{}},
		{"twice", "returns two id_token members in one response", "token", claim{}},
		{"no-token", "returns no ID token", "token", claim{}},
		{"number-token", "returns a number as the ID token", "token", claim{}},
		{"none-alg", "does not sign the ID token (alg none)", "signature", claim{}},
		{"secret-alg", "signs with the client's secret (HS256)", "signature", claim{}},
		{"public-key-alg", "signs with its public key as a secret (HS256)", "signature", claim{}},
		{"wrong-key", "signs with a key that it does not publish", "signature", claim{}},
		{"own-key", "puts its signing key into the header (jwk)", "signature", claim{}},
		{"wrong-signature", "returns the signature of another token", "signature", claim{}},
		{"critical", "requires an unknown extension (crit)", "signature", claim{}},
		{"other-type", "issues a token of another type (at+jwt)", "signature", claim{}},
		{"huge-token", "issues an ID token of 20,000 bytes", "signature", claim{}},
		{"encoded", "issues a token that is not a JWT", "signature", claim{}},
		{"claim-twice", "issues a token with two sub claims", "signature", claim{}},
		{"wrong-issuer", "names another issuer", "issuer", claim{"iss", "https://evil.example"}},
		{"longer-issuer", "names an issuer that starts with its own", "issuer", claim{"iss", func(p *Provider) any { return p.Issuer + ".evil.example" }}},
		{"louder-issuer", "names its issuer in uppercase", "issuer", claim{"iss", func(p *Provider) any { return strings.ToUpper(p.Issuer) }}},
		{"slash-issuer", "names its issuer with a trailing slash", "issuer", claim{"iss", func(p *Provider) any { return p.Issuer + "/" }}},
		{"no-issuer", "names no issuer", "issuer", claim{"iss", nil}},
		{"wrong-audience", "issues a token for another client", "audience", claim{"aud", "another client"}},
		{"no-audience", "issues a token without an audience", "audience", claim{"aud", []string{}}},
		{"several-audiences", "issues a token for several audiences without azp", "audience", claim{"aud", func(p *Provider) any { return []string{p.ClientID, "another client"} }}},
		{"wrong-party", "issues a token that another client requested (azp)", "audience", claim{"azp", "another client"}},
		{"expired", "issues an expired token", "time", claim{"exp", after(-2 * time.Minute)}},
		{"no-expiry", "issues a token that never expires", "time", claim{"exp", nil}},
		{"text-expiry", "issues a token whose expiry is a string", "time", claim{"exp", "tomorrow"}},
		{"future", "issues a token with an issue time one hour ahead", "time", claim{"iat", after(time.Hour)}},
		{"not-yet", "issues a token that is not valid for another hour (nbf)", "time", claim{"nbf", after(time.Hour)}},
		{"no-time", "omits the issue time of the token (iat)", "time", claim{"iat", nil}},
		{"wrong-nonce", "issues a token for another sign-in", "nonce", claim{"nonce", strings.Repeat("A", 43)}},
		{"no-nonce", "issues a token without a nonce", "nonce", claim{"nonce", nil}},
		{"number-nonce", "issues a token whose nonce is a number", "nonce", claim{"nonce", 7}},
		{"wrong-hash", "sends the at_hash of another access token", "hash", claim{"at_hash", strings.Repeat("A", 22)}},
		{"old-sign-in", "reports that the user signed in a year ago, whatever max_age is", "age", claim{"auth_time", after(-365 * 24 * time.Hour)}},
		{"no-sign-in-time", "omits the time of the sign-in, whatever max_age is", "age", claim{"auth_time", nil}},
		{"no-subject", "omits the subject", "subject", claim{"sub", nil}},
		{"empty-subject", "issues an empty sub", "subject", claim{"sub", ""}},
		{"number-subject", "issues a sub that is a number", "subject", claim{"sub", 7}},
		{"long-subject", "issues a sub of 256 characters", "subject", claim{"sub", strings.Repeat("s", 256)}},
		{"odd-subject", "issues a sub with a line break", "subject", claim{"sub", "some\nbody"}},
	}
}
