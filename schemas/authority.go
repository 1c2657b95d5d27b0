package schemas

import (
	"slices"
	"strings"
	"time"
)

// Changes of accounts
//
// What a user needs to change how the account is reached depends on the account and not on the
// token, the page or the flow with which the user asks. So a change of the password, the passkeys, the
// second factors, the identities or the addresses of a stored user takes effect only together with
// RequireAuthority, which the store checks in the same transaction: see ChangedAccount. The rules are in
// RequireAuthority.Check.

// MaxAdministratorProofAge is the maximum age of the sign-in with which an administrator with a
// passkey makes a sensitive change.
const MaxAdministratorProofAge = 15 * time.Minute

// Protection is what protects an account against changes.
type Protection struct {
	// Administrator states that the user has a permission of this server's own API, by a role of the
	// user or of a group, direct or nested.
	Administrator bool
	// HadPasskey states that the user has, or ever had, a passkey that counts in full.
	HadPasskey bool
	// SecondFactor states that the user has an authenticator app or an unused recovery code, and
	// UnusedApp that the app was never used to sign in.
	SecondFactor, UnusedApp bool
}

// Authority is what a change of an account rests on. The zero value is a run whose user has not
// authenticated.
type Authority struct {
	// Program states that no user asks, but the program, its operator, or a client on its own behalf.
	Program bool
	// UserID is the user who asks, and the others describe the sign-in of that user.
	UserID  string
	ACR     string
	Methods []string
	Time    time.Time
	// NewFactor states that the run of the sign-in has created the user or the user's second factor, so
	// the user cannot have used that before.
	NewFactor bool
	// Invited states that the run has accepted an InvitationLink, and Enrolment that it has accepted an
	// EnrolmentLink and adds a passkey, which can replace the others. The store accepts Enrolment only
	// together with UseEnrolment, so a link changes the account once.
	Invited, Enrolment bool
	// ReplacesUnused is that of SetTOTP.
	ReplacesUnused bool
}

// RequireAuthority is the precondition of a change of an account. The store checks it before the
// other changes of the commit. If it does not hold, the whole commit fails with the error of Check.
type RequireAuthority struct {
	UserID string // the account
	By     Authority
	At     time.Time
}

func (c RequireAuthority) change() lock { return reads(c.UserID) }

// IsAdministrative reports whether a permission is one of this server's own API.
func IsAdministrative(permission string) bool {
	return permission == SystemPermission || strings.HasPrefix(permission, SystemPermission+":")
}

// SystemPermission is above every permission of this server's own API.
const SystemPermission = "system"

// Check returns an error if the change is not permitted, given the protection of the account and that of
// the user who asks.
//
// Who asks for a change of the own account needs a second factor or a passkey if the account has a
// second factor. An administrator who has had a passkey needs a recent sign-in that resists phishing,
// also after losing the passkey: otherwise a stolen password would suffice to remove the passkey first.
// Any other administrator needs more than a code by mail, which every reader of the mailbox has, or an
// invitation, for which another administrator has answered. A change of another user's account, for which the caller has the permission, needs the former only if
// that user is an administrator.
//
// The errors are ProofRequired, or Class Forbidden, CodeFactorRequired.
func (c RequireAuthority) Check(account, caller Protection) error {
	own := c.By.UserID == c.UserID
	switch {
	case c.By.Program, own && c.By.Enrolment, c.By.ResistsPhishing(c.At):
		return nil
	case !own && (!account.Administrator || !caller.HadPasskey):
		return nil
	case !own:
		return ErrUnproved("", "this user")
	case account.Administrator && account.HadPasskey:
		return ErrUnproved("", "this account")
	case account.SecondFactor && !c.By.NewFactor && !c.By.IsHeld() && !(account.UnusedApp && c.By.MayReplaceUnused()):
		return ErrFactorRequired()
	case account.Administrator && c.By.isMailOnly() && !c.By.Invited:
		return &ProofRequired{ACR: ACRPassword, MaxAge: MaxAdministratorProofAge, Err: Errorf(Unauthenticated, CodeStaleProof,
			"this account has administrative permissions, so a code by mail is not enough to change how its user signs in: "+
				"sign in with a password or another method; if you have none, ask the operator for a link from `postern admin recover`")}
	}
	return nil
}

// ResistsPhishing reports whether an administrator with a passkey can make sensitive changes with the
// sign-in at the given time.
func (a Authority) ResistsPhishing(now time.Time) bool {
	return Satisfies(a.ACR, ACRPhishingResistant) && now.Sub(a.Time) <= MaxAdministratorProofAge
}

// IsHeld reports whether the user signed in with something they hold.
func (a Authority) IsHeld() bool { return containsAny(a.Methods, HeldMethods()) }

// MayReplaceUnused reports whether the sign-in can replace an authenticator app that was never used to sign in.
// It proved a password and that the user reads the mail of an address.
func (a Authority) MayReplaceUnused() bool {
	return a.ReplacesUnused && containsAny(a.Methods, KnownMethods()) && slices.Contains(a.Methods, AMREmail)
}

// isMailOnly reports whether the sign-in proved at most that the user reads the mail of an address.
func (a Authority) isMailOnly() bool {
	return !slices.ContainsFunc(a.Methods, func(m string) bool { return m != AMREmail && m != AMRLimited })
}

// ErrFactorRequired is the error of a user with a second factor who has not used it.
func ErrFactorRequired() *Error {
	return Errorf(Forbidden, CodeFactorRequired,
		"this account has a second factor: sign in with it, or with a passkey, and try again")
}

// ProofRequired is the error of a change that needs a better or more recent sign-in: Class
// Unauthenticated, CodeStaleProof. Its members are for the challenge of RFC 9470 §3.
type ProofRequired struct {
	ACR    string // the class that the sign-in must satisfy; "" for any
	MaxAge time.Duration
	Err    *Error
}

// Error returns the message for the client.
func (e *ProofRequired) Error() string { return e.Err.Error() }

// Unwrap returns the error for the client.
func (e *ProofRequired) Unwrap() error { return e.Err }

// ErrUnproved is the error of an administrator who must sign in with a passkey. The change at the path
// concerns what, which has administrative permissions.
func ErrUnproved(path, what string) *ProofRequired {
	return &ProofRequired{ACR: ACRPhishingResistant, MaxAge: MaxAdministratorProofAge, Err: Errorf(
		Unauthenticated, CodeStaleProof,
		"%s has administrative permissions, so this change needs a sign-in with your passkey within the last %d minutes: sign in again "+
			"(an authorization request with acr_values=%s and max_age=%d), and repeat the request with the token from that sign-in. "+
			"If you have lost your passkey, ask the operator for a link from `postern admin recover`",
		what, int(MaxAdministratorProofAge.Minutes()), ACRPhishingResistant, int(MaxAdministratorProofAge.Seconds())).
		WithProblems([]Problem{{Path: path, Message: "needs a recent sign-in with a passkey"}})}
}

// ChangedAccount returns the user whose password, passkeys, second factors, identities or addresses a
// change changes; "" for any other change. It takes effect only together with RequireAuthority for the
// user, unless the same transaction creates the user. VerifyEmail is part of a sign-in.
func ChangedAccount(change Change) (userID string) {
	switch c := change.(type) {
	case SetPassword:
		return c.UserID
	case RemovePassword:
		return c.UserID
	case CreateCredential:
		return c.Credential.UserID
	case RenameCredential:
		return c.UserID
	case DeleteCredential:
		return c.UserID
	case RemoveCredentials:
		return c.UserID
	case SetTOTP:
		return c.TOTP.UserID
	case DeleteTOTP:
		return c.UserID
	case SetRecoveryCodes:
		return c.UserID
	case DeleteRecoveryCodes:
		return c.UserID
	case LinkIdentity:
		return c.Identity.UserID
	case UnlinkIdentity:
		return c.UserID
	case KeepAddition:
		return c.UserID
	case UpdateUser:
		return c.changedAccount()
	}
	return ""
}

// changedAccount returns the user if the change concerns what identifies or reaches the account.
func (c UpdateUser) changedAccount() string {
	for name := range c.Attributes {
		if strings.HasSuffix(name, verifiedSuffix) || slices.Contains(ProfileAttributes(), name+verifiedSuffix) || slices.Contains(IdentifyingAttributes(), name) {
			return c.UserID
		}
	}
	return ""
}
