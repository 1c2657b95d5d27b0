package federation

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Whatever the metadata contains, browsers are sent to https or loopback addresses only,
// and the issuer is the requested one.
func FuzzMetadata(f *testing.F) {
	const issuer = "https://other.example.org"
	for _, text := range []string{
		`{"issuer":"https://other.example.org","authorization_endpoint":"https://other.example.org/a","token_endpoint":"https://other.example.org/t","jwks_uri":"http://127.0.0.1/k"}`,
		`{"issuer":"https://other.example.org","authorization_endpoint":"javascript:alert(1)","token_endpoint":"https:x","jwks_uri":"//x"}`,
		`{"issuer":"https://evil.example"}`, `[]`, `null`, `{"issuer":1,"issuer":2}`, "\xff",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := readMetadata(issuer, text)
		if err != nil {
			return
		}
		u := m.authorization
		if u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) || u.User != nil || u.Fragment != "" {
			t.Errorf("people are sent to %s", u)
		}
		to := authorizationURL(m, &schemas.IdentityProvider{ClientID: "postern"}, Request{RedirectURI: "https://id.example.com/gate/callback"}, signInState{State: "state", Nonce: "nonce"})
		if !strings.HasPrefix(to, u.Scheme+"://") || strings.Count(to, "state=state") != 1 {
			t.Errorf("people are sent to %s", to)
		}
	})
}

// Whatever claims a token contains, an identity has a valid subject and no text exceeds its
// limit.
func FuzzClaims(f *testing.F) {
	for _, text := range []string{
		`{"sub":"1815","aud":["postern"],"exp":1893553445,"iat":1893553445,"email":"ada@example.org"}`,
		`{"sub":"","exp":1e400}`, `{"exp":-1,"iat":"now","auth_time":0.5}`, `{"name":"\u202eada","sub":"a\u0000"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		claims, err := readObject(text)
		if err != nil {
			return
		}
		_ = checkTimes(claims, time.Unix(1893553445, 0))
		_, _ = checkAge(claims, signInState{}, time.Unix(1893553445, 0))
		subject := claims.text("sub")
		if checkSubject(subject) == nil && (subject == "" || len(subject) > maxSubjectLength || strings.ContainsAny(subject, "\x00\n\r")) {
			t.Errorf("the subject is %q", subject)
		}
		list := claims.list()
		for name, value := range list {
			if len(value) > maxClaimLength {
				t.Errorf("%s has %d bytes", name, len(value))
			}
		}
		if name := nameOf(list); len(name) > maxNameLength || strings.ContainsRune(name, '\u202e') {
			t.Errorf("the name is %q", name)
		}
	})
}
