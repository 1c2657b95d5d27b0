package token

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Assert returns the assertion as a signed JWT. Profile attributes named like reserved
// claims are left out.
func (i *Issuer) Assert(ctx context.Context, a schemas.Assertion) (string, error) {
	if a.Subject == "" || len(a.Audience) == 0 {
		return "", errors.New("token: an assertion needs a subject and an audience")
	}
	scope, err := joinScope(a.Permissions)
	if err != nil {
		return "", err
	}
	return i.issue(ctx, ES256, AssertionType, a.Validity, a.Profile, claims{
		Subject: a.Subject, Audience: a.Audience, ID: schemas.NewID(), Scope: scope,
		AuthTime: unixSeconds(a.AuthTime), AMR: a.AMR, ACR: a.ACR, UserType: a.UserType, OUID: a.OUID,
		Session: a.Session, Generation: a.Generation, AuthRequest: a.AuthRequest,
	})
}

// joinScope returns permissions as the value of a scope claim.
func joinScope(permissions []string) (string, error) {
	for _, permission := range permissions {
		if !IsScope(permission) {
			return "", fmt.Errorf("token: the permission %q cannot be a scope (RFC 6749 §3.3)", permission)
		}
	}
	return strings.Join(permissions, " "), nil
}

// IsScope reports whether a text is a scope-token of RFC 6749 §3.3. Scopes are separated by
// spaces, so a permission with a space would grant two.
func IsScope(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return s != ""
}
