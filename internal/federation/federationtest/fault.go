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
	// Check is the check that finds it.
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
		{"denied", "says that the person declined (access_denied)", "denied", claim{}},
		{"error", "answers with another error (server_error)", "response", claim{}},
		{"no-code", "answers without a code", "response", claim{}},
		{"long-code", "answers with a code of 5000 bytes", "response", claim{}},
		{"wrong-state", "answers with another state", "state", claim{}},
		{"no-state", "answers without a state", "state", claim{}},
		{"denied-elsewhere", "answers with another state that the person declined", "state", claim{}},
		{"wrong-sender", "names another provider in its answer (RFC 9207)", "sender", claim{}},
		{"no-sender", "does not name itself in its answer, and says that it always does (RFC 9207)", "sender", claim{}},
		{"down", "does not answer when it is given the code", "reachable", claim{}},
		{"broken", "answers with the status 500 when it is given the code", "reachable", claim{}},
		{"refused-code", "does not take the code", "token", claim{}},
		{"moved", "redirects to another token endpoint", "token", claim{}},
		{"html", "answers with a page instead of tokens", "token", claim{}},
		{"list", "answers with a list instead of an object", "token", claim{}},
		{"twice", "gives two id_tokens in one answer", "token", claim{}},
		{"no-token", "gives no ID token", "token", claim{}},
		{"number-token", "gives a number for an ID token", "token", claim{}},
		{"none-alg", "does not sign the ID token (alg none)", "signature", claim{}},
		{"secret-alg", "signs with the client's secret (HS256)", "signature", claim{}},
		{"public-key-alg", "signs with its public key as a secret (HS256)", "signature", claim{}},
		{"wrong-key", "signs with a key that it does not publish", "signature", claim{}},
		{"own-key", "puts the key it signs with into the header (jwk)", "signature", claim{}},
		{"wrong-signature", "gives a signature that is not of this token", "signature", claim{}},
		{"critical", "requires an unknown extension (crit)", "signature", claim{}},
		{"other-type", "gives a token of another type (at+jwt)", "signature", claim{}},
		{"huge-token", "gives an ID token of 20,000 bytes", "signature", claim{}},
		{"encoded", "gives a token that is none", "signature", claim{}},
		{"claim-twice", "gives two sub claims in one token", "signature", claim{}},
		{"wrong-issuer", "names another issuer", "issuer", claim{"iss", "https://evil.example"}},
		{"longer-issuer", "names an issuer that begins as its own does", "issuer", claim{"iss", func(p *Provider) any { return p.Issuer + ".evil.example" }}},
		{"louder-issuer", "names its issuer in capitals", "issuer", claim{"iss", func(p *Provider) any { return strings.ToUpper(p.Issuer) }}},
		{"slash-issuer", "names its issuer with a slash at the end", "issuer", claim{"iss", func(p *Provider) any { return p.Issuer + "/" }}},
		{"no-issuer", "names no issuer", "issuer", claim{"iss", nil}},
		{"wrong-audience", "gives a token for another client", "audience", claim{"aud", "another client"}},
		{"no-audience", "issues a token without an audience", "audience", claim{"aud", []string{}}},
		{"several-audiences", "gives a token for several, and does not say who asked (azp)", "audience", claim{"aud", func(p *Provider) any { return []string{p.ClientID, "another client"} }}},
		{"wrong-party", "gives a token that another client asked for (azp)", "audience", claim{"azp", "another client"}},
		{"expired", "gives a token that has expired", "time", claim{"exp", after(-2 * time.Minute)}},
		{"no-expiry", "gives a token that never expires", "time", claim{"exp", nil}},
		{"text-expiry", "gives a token that expires at a text", "time", claim{"exp", "tomorrow"}},
		{"future", "gives a token that was made in an hour", "time", claim{"iat", after(time.Hour)}},
		{"not-yet", "gives a token that is good in an hour (nbf)", "time", claim{"nbf", after(time.Hour)}},
		{"no-time", "does not say when the token was made (iat)", "time", claim{"iat", nil}},
		{"wrong-nonce", "gives a token for another sign-in", "nonce", claim{"nonce", strings.Repeat("A", 43)}},
		{"no-nonce", "gives a token for no sign-in in particular", "nonce", claim{"nonce", nil}},
		{"number-nonce", "gives a nonce that is a number", "nonce", claim{"nonce", 7}},
		{"wrong-hash", "gives an at_hash of another access token", "hash", claim{"at_hash", strings.Repeat("A", 22)}},
		{"old-sign-in", "says that the person signed in a year ago, whatever max_age is", "age", claim{"auth_time", after(-365 * 24 * time.Hour)}},
		{"no-sign-in-time", "does not say when the person signed in, whatever max_age is", "age", claim{"auth_time", nil}},
		{"no-subject", "does not say who it is", "subject", claim{"sub", nil}},
		{"empty-subject", "issues an empty sub", "subject", claim{"sub", ""}},
		{"number-subject", "gives a sub that is a number", "subject", claim{"sub", 7}},
		{"long-subject", "gives a sub of 256 characters", "subject", claim{"sub", strings.Repeat("s", 256)}},
		{"odd-subject", "gives a sub with a line end in it", "subject", claim{"sub", "some\nbody"}},
	}
}
