package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// SignInStatements verifies that a step that signs a user in with any credential is one statement
// of PostgreSQL, and fails none; and that a use that must fail still fails.
func SignInStatements(t *testing.T) {
	dsn, log := LoggedPostgres(t)
	s := Open(t, store.Config{Driver: "postgres", DSN: dsn})
	h := newHolder(t, s)
	later := noon().Add(time.Minute)
	uses := map[schemas.ProofKind]schemas.Change{
		schemas.PasskeyProof:  schemas.UseCredential{ID: h.key.ID, SignCount: 1, At: later},
		schemas.TOTPProof:     schemas.UseTOTP{UserID: h.user.ID, Step: 101, At: later},
		schemas.RecoveryProof: schemas.UseRecoveryCode{UserID: h.user.ID, Hash: []byte("the hash of a code"), At: later},
		schemas.IdentityProof: schemas.UseIdentity{ID: h.identity.ID, At: later},
	}
	log.Next(t)
	for kind, use := range uses {
		session := newSignIn(h.user.ID, later)
		changes := append([]schemas.Change{use}, h.require(h.proofs[kind])...)
		must(t, s.Commit(t.Context(), newRun(), authorized(append(changes, start(session)...))))
		executed, failed := log.Next(t)
		if len(executed) != 1 || len(failed) > 0 {
			t.Errorf("%s: a sign-in takes %d statements, expected 1, and fails with %q:\n%s", kind, len(executed), failed, strings.Join(executed, "\n"))
		}
	}
	for _, kind := range []schemas.ProofKind{schemas.TOTPProof, schemas.RecoveryProof} {
		wantError(t, s.Apply(t.Context(), append([]schemas.Change{uses[kind]}, h.require(h.proofs[kind])...)), schemas.Conflict, schemas.CodeUsed)
	}
	superseded := h.proofs[schemas.TOTPProof]
	superseded.Of = "1"
	again := schemas.UseTOTP{UserID: h.user.ID, Step: 102, At: later}
	wantError(t, s.Apply(t.Context(), append([]schemas.Change{again}, h.require(superseded)...)), schemas.Conflict, schemas.CodeSuperseded)
}
