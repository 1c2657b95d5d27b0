package token

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// decode returns the header and the claims of a token.
func decode(t testing.TB, raw string) (head, claims map[string]any) {
	t.Helper()
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is not a JWT", raw)
	}
	for i, dest := range []*map[string]any{&head, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		datatest.Unmarshal(t, text, dest)
	}
	return head, claims
}

// issueAssertion issues an assertion.
func issueAssertion(t testing.TB, i *Issuer, a schemas.Assertion) string {
	t.Helper()
	raw, err := i.Assert(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAssert(t *testing.T) {
	keys := &ring{}
	i := newIssuer(t, keys)
	raw := issueAssertion(t, i, newAssertion())
	head, claims := decode(t, raw)
	if want := map[string]any{"alg": "ES256", "typ": "JWT", "kid": keys.keys[0].ID}; !reflect.DeepEqual(head, want) {
		t.Errorf("the header is %v, expected %v", head, want)
	}
	id, _ := claims["jti"].(string)
	delete(claims, "jti")
	want := map[string]any{
		"iss": base, "sub": newAssertion().Subject, "aud": []any{app, base}, "iat": float64(noon().Unix()),
		"exp": float64(noon().Add(10 * time.Minute).Unix()), "scope": "system audit:read",
		"auth_time": float64(noon().Add(-time.Minute).Unix()), "amr": []any{"swk", "user"}, "acr": "phr",
		"userType": "Person", "ouId": "default",
		"username": "ann", "email": "ann@example.com", "tags": []any{"a"},
	}
	if id == "" || !reflect.DeepEqual(claims, want) {
		t.Errorf("the claims are %v with jti %q, expected %v", claims, id, want)
	}

	got, err := i.Verify(t.Context(), raw, base)
	if err != nil {
		t.Fatal(err)
	}
	expected := &Claims{
		Type: AssertionType, Subject: newAssertion().Subject, ID: id, Application: app, Audience: []string{app, base}, Scope: []string{"system", "audit:read"},
		IssuedAt: noon().Truncate(time.Second), Expires: noon().Truncate(time.Second).Add(10 * time.Minute),
		AuthTime: noon().Truncate(time.Second).Add(-time.Minute), UserType: "Person", OUID: "default",
		AMR: []string{"swk", "user"}, ACR: "phr",
	}
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("verifying gives %+v, expected %+v", got, expected)
	}
}

func TestAssertLeavesOut(t *testing.T) {
	i := newIssuer(t, &ring{})
	raw := issueAssertion(t, i, schemas.Assertion{Subject: "u", Audience: []string{app}, Validity: time.Second})
	_, claims := decode(t, raw)
	delete(claims, "jti")
	want := map[string]any{"iss": base, "sub": "u", "aud": app, "iat": float64(noon().Unix()), "exp": float64(noon().Unix() + 1)}
	if !reflect.DeepEqual(claims, want) {
		t.Errorf("the claims are %v, expected %v", claims, want)
	}
	got, err := i.Verify(t.Context(), raw, app)
	if err != nil || !got.AuthTime.IsZero() || len(got.Scope) != 0 {
		t.Errorf("verifying gives %+v, %v", got, err)
	}
}

// TestProfileCannotOverride gives a user attributes named like claims, in an assertion that
// has those claims and in one that does not.
func TestProfileCannotOverride(t *testing.T) {
	i := newIssuer(t, &ring{})
	names := []string{"iss", "sub", "aud", "exp", "nbf", "iat", "jti", "scope", "Scope", "SCOPE", "\u017fcope", "scp", "auth_time",
		"amr", "acr", "azp", "userType", "usertype", "ouId", "client_id", "cnf", "act", "roles", "permissions"}
	full := newAssertion()
	bare := schemas.Assertion{Subject: "u", Audience: []string{app}}
	for _, a := range []schemas.Assertion{full, bare} {
		plain := issueAssertion(t, i, a)
		a.Profile = map[string]any{"given_name": "Ann"}
		for _, name := range names {
			a.Profile[name] = "system"
		}
		raw := issueAssertion(t, i, a)
		_, want := decode(t, plain)
		_, got := decode(t, raw)
		for _, name := range names {
			if name != "jti" && !reflect.DeepEqual(got[name], want[name]) {
				t.Errorf("the profile made %s %v, expected %v", name, got[name], want[name])
			}
		}
		if got["given_name"] != "Ann" {
			t.Error("the rest of the profile is missing")
		}
		if _, err := i.Verify(t.Context(), raw, app); err != nil {
			t.Error(err)
		}
	}
}

func TestAssertRefuses(t *testing.T) {
	i := newIssuer(t, &ring{})
	for name, spoil := range map[string]func(*schemas.Assertion){
		"no subject":               func(a *schemas.Assertion) { a.Subject = "" },
		"no audience":              func(a *schemas.Assertion) { a.Audience = nil },
		"a permission of two":      func(a *schemas.Assertion) { a.Permissions = []string{"audit system"} },
		"an empty permission":      func(a *schemas.Assertion) { a.Permissions = []string{""} },
		"a permission with quotes": func(a *schemas.Assertion) { a.Permissions = []string{`a"b`} },
		"a profile beyond JSON":    func(a *schemas.Assertion) { a.Profile = map[string]any{"f": func() {}} },
	} {
		a := newAssertion()
		spoil(&a)
		if raw, err := i.Assert(t.Context(), a); err == nil {
			t.Errorf("%s: asserted %s", name, raw)
		}
	}
}
