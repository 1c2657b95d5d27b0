package server

import (
	"net/http"
	"strings"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// authenticate returns who sent the request, by its bearer token (RFC 6750
// §2.1). A token is never taken from the query or the body: there it ends up in
// logs and histories.
func (s *server) authenticate(r *http.Request) (*token.Claims, error) {
	fields := r.Header.Values("Authorization")
	if len(fields) == 0 {
		return nil, schemas.Errorf(schemas.Unauthenticated, codeUnauthorized,
			"a token is required: send it as Authorization: Bearer <token>")
	}
	scheme, raw, _ := strings.Cut(fields[0], " ")
	if raw = strings.TrimSpace(raw); len(fields) > 1 || !strings.EqualFold(scheme, "Bearer") || raw == "" {
		return nil, schemas.Errorf(schemas.Unauthenticated, codeInvalidToken,
			"expected one header Authorization: Bearer <token>")
	}
	return s.Tokens.Verify(r.Context(), raw, s.PublicURL)
}

// mayActFor makes sure that the caller is the user, or may act for anybody.
// Without it whoever has an account could add a passkey of their own to
// everybody else's.
func mayActFor(caller *token.Claims, userID string) error {
	if caller.Subject == userID || caller.Permits("system") {
		return nil
	}
	return schemas.Errorf(schemas.Forbidden, codeForbidden,
		"this token speaks for another user: passkeys are registered with a token of the user they are for, or with one that carries the permission \"system\"")
}
