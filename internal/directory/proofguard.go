package directory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// A stolen token of an administrator, or an unattended browser, must not suffice to gain lasting
// control of the service. So changes that grant or revoke administrative permissions, or that
// decide how administrators sign in, need a recent sign-in with a passkey if the administrator has
// one. They are the changes for which the caller needs an administrative permission of someone
// else: see requirePermissions, checkPermissions, requireOfUsers and mayManage.
//
// Not concerned are administrators without a passkey, clients that act on their own behalf, and
// tokens that the operator printed with `postern token`: access to the store would suffice for
// more.

// MaxAdministratorProofAge is the maximum age of the sign-in with which an administrator with a
// passkey makes a sensitive change.
const MaxAdministratorProofAge = 15 * time.Minute

// ProofRequired is the error of a change that needs a better or more recent sign-in: Class
// Unauthenticated, schemas.CodeStaleProof. Its members are for the challenge of RFC 9470 §3.
type ProofRequired struct {
	ACR    string // the class that the sign-in must satisfy; "" for any
	MaxAge time.Duration
	err    *schemas.Error
}

// Error returns the message for the client.
func (e *ProofRequired) Error() string { return e.err.Error() }

// Unwrap returns the error for the client.
func (e *ProofRequired) Unwrap() error { return e.err }

// requireProof refuses the write if it concerns administrative permissions and the caller lacks a
// proof for that.
func (w *writeContext) requireProof(path, what string, permissions []string) {
	if w.unproved == nil && slices.ContainsFunc(permissions, isAdministrative) && w.lacksProof() {
		w.unproved = errUnproved(path, what)
	}
}

func errUnproved(path, what string) *ProofRequired {
	return &ProofRequired{ACR: schemas.ACRPhishingResistant, MaxAge: MaxAdministratorProofAge, err: schemas.Errorf(
		schemas.Unauthenticated, schemas.CodeStaleProof,
		"%s has administrative permissions, so this change needs a sign-in with your passkey within the last %d minutes: sign in again "+
			"(an authorization request with acr_values=%s and max_age=%d), and repeat the request with the token from that sign-in",
		what, int(MaxAdministratorProofAge.Minutes()), schemas.ACRPhishingResistant, int(MaxAdministratorProofAge.Seconds())).
		WithProblems([]schemas.Problem{{Path: path, Message: "needs a recent sign-in with a passkey"}})}
}

// isAdministrative reports whether a permission is one of Postern's own API.
func isAdministrative(permission string) bool {
	return permission == systemPermission || strings.HasPrefix(permission, systemPermission+":")
}

// lacksProof is Call.lacksProof in a write.
func (w *writeContext) lacksProof() bool {
	lacks, err := w.call.lacksProof(w.ctx, w.tx, w.now)
	w.fail(err)
	return lacks
}

// lacksProof reports whether the caller is a user with a passkey who did not sign in with a
// phishing-resistant method recently.
func (c Call) lacksProof(ctx context.Context, r store.Reader, now time.Time) (bool, error) {
	byOperator := c.AuthTime.IsZero() && c.ACR == "" && len(c.Methods) == 0
	if c.Token == nil || c.userID() == "" || byOperator {
		return false, nil
	}
	if schemas.Satisfies(c.ACR, schemas.ACRPhishingResistant) && now.Sub(c.AuthTime) <= MaxAdministratorProofAge {
		return false, nil
	}
	keys, err := store.CredentialsOf(ctx, r, c.userID())
	return slices.ContainsFunc(keys, func(key schemas.Credential) bool {
		return key.AddedBy.IsZero() || schemas.Satisfies(key.AddedBy.ACR, schemas.ACRPhishingResistant)
	}), err
}

// requireProofFor returns an error if the caller, who acts for another user or with every
// permission, may not change how the user signs in without a better sign-in.
func (c Call) requireProofFor(ctx context.Context, r store.Reader, userID string, now time.Time) error {
	lacks, err := c.lacksProof(ctx, r, now)
	if err != nil || !lacks {
		return err
	}
	has, err := store.PermissionsOf(ctx, r, schemas.Principal{Type: schemas.UserPrincipal, ID: userID})
	if err == nil && slices.ContainsFunc(has, isAdministrative) {
		return errUnproved("", "this user")
	}
	return err
}
