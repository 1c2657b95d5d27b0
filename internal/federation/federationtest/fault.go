package federationtest

import "github.com/postern-id/postern/internal/federation"

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
}

// Catalog lists the faults.
func Catalog() []Description {
	return []Description{
		{"denied", "says that the person declined (access_denied)", "denied"},
		{"error", "answers with another error (server_error)", "response"},
		{"no-code", "answers without a code", "response"},
		{"long-code", "answers with a code of 5000 bytes", "response"},
		{"wrong-state", "answers with another state", "state"},
		{"no-state", "answers without a state", "state"},
		{"denied-elsewhere", "answers with another state that the person declined", "state"},
		{"wrong-sender", "names another provider in its answer (RFC 9207)", "sender"},
		{"no-sender", "does not name itself in its answer, and says that it always does (RFC 9207)", "sender"},
		{"down", "does not answer when it is given the code", "reachable"},
		{"broken", "answers with the status 500 when it is given the code", "reachable"},
		{"refused-code", "does not take the code", "token"},
		{"moved", "redirects to another token endpoint", "token"},
		{"html", "answers with a page instead of tokens", "token"},
		{"list", "answers with a list instead of an object", "token"},
		{"twice", "gives two id_tokens in one answer", "token"},
		{"no-token", "gives no ID token", "token"},
		{"number-token", "gives a number for an ID token", "token"},
		{"none-alg", "does not sign the ID token (alg none)", "signature"},
		{"secret-alg", "signs with the client's secret (HS256)", "signature"},
		{"public-key-alg", "signs with its public key as a secret (HS256)", "signature"},
		{"wrong-key", "signs with a key that it does not publish", "signature"},
		{"own-key", "puts the key it signs with into the header (jwk)", "signature"},
		{"wrong-signature", "gives a signature that is not of this token", "signature"},
		{"critical", "requires an unknown extension (crit)", "signature"},
		{"other-type", "gives a token of another type (at+jwt)", "signature"},
		{"huge-token", "gives an ID token of 20,000 bytes", "signature"},
		{"encoded", "gives a token that is none", "signature"},
		{"claim-twice", "gives two sub claims in one token", "signature"},
		{"wrong-issuer", "names another issuer", "issuer"},
		{"longer-issuer", "names an issuer that begins as its own does", "issuer"},
		{"louder-issuer", "names its issuer in capitals", "issuer"},
		{"slash-issuer", "names its issuer with a slash at the end", "issuer"},
		{"no-issuer", "names no issuer", "issuer"},
		{"wrong-audience", "gives a token for another client", "audience"},
		{"no-audience", "issues a token without an audience", "audience"},
		{"several-audiences", "gives a token for several, and does not say who asked (azp)", "audience"},
		{"wrong-party", "gives a token that another client asked for (azp)", "audience"},
		{"expired", "gives a token that has expired", "time"},
		{"no-expiry", "gives a token that never expires", "time"},
		{"text-expiry", "gives a token that expires at a text", "time"},
		{"future", "gives a token that was made in an hour", "time"},
		{"not-yet", "gives a token that is good in an hour (nbf)", "time"},
		{"no-time", "does not say when the token was made (iat)", "time"},
		{"wrong-nonce", "gives a token for another sign-in", "nonce"},
		{"no-nonce", "gives a token for no sign-in in particular", "nonce"},
		{"number-nonce", "gives a nonce that is a number", "nonce"},
		{"wrong-hash", "gives an at_hash of another access token", "hash"},
		{"old-sign-in", "says that the person signed in a year ago, whatever max_age is", "age"},
		{"no-sign-in-time", "does not say when the person signed in, whatever max_age is", "age"},
		{"no-subject", "does not say who it is", "subject"},
		{"empty-subject", "issues an empty sub", "subject"},
		{"number-subject", "gives a sub that is a number", "subject"},
		{"long-subject", "gives a sub of 256 characters", "subject"},
		{"odd-subject", "gives a sub with a line end in it", "subject"},
	}
}
