package nodes

import (
	"context"
	"encoding/json"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/schemas"
)

// Users finds users. Both methods fail with code user_not_found.
type Users interface {
	User(ctx context.Context, id string) (*schemas.User, error)
	// UserByAttribute compares by the normalised form of an identifying
	// attribute.
	UserByAttribute(ctx context.Context, attribute, value string) (*schemas.User, error)
}

// Types knows what users of each type are like. CheckUser fails with code
// user_does_not_fit; the path of each problem is the name of an attribute, or ""
// if it is not about what somebody has entered. It may put a user who is in no
// organization unit into one.
type Types interface {
	UserType(ctx context.Context, name string) (*schemas.UserType, error)
	CheckUser(ctx context.Context, u *schemas.User) error
}

// Passwords gives the PHC string of a user's password, "" when there is none, and
// the id of the password: see schemas.SetPassword.
type Passwords interface {
	PasswordHash(ctx context.Context, userID string) (hash, id string, err error)
}

// Credentials finds passkeys. Credential fails with code credential_not_found.
type Credentials interface {
	Credentials(ctx context.Context, userID string) ([]schemas.Credential, error)
	Credential(ctx context.Context, id schemas.Bytes) (*schemas.Credential, error)
}

// Factors finds what users have beside passwords and passkeys to prove who they
// are by: nil, or false, for what they do not have.
type Factors interface {
	TOTP(ctx context.Context, userID string) (*schemas.TOTP, error)
	RecoveryCodes(ctx context.Context, userID string) (*schemas.RecoveryCodes, error)
	// HasRecoveryCode reports whether a recovery code of the SHA-256 is the user's
	// and has not been used.
	HasRecoveryCode(ctx context.Context, userID string, hash []byte) (bool, error)
}

// Identities finds what identity providers call users.
type Identities interface {
	// IdentityProvider finds a provider, with the secret that it knows this server
	// by. It fails with code identity_provider_not_found.
	IdentityProvider(ctx context.Context, handle string) (*schemas.IdentityProvider, error)
	// Identity is that of the subject at the provider, nil if nobody has it.
	Identity(ctx context.Context, providerID, subject string) (*schemas.Identity, error)
	// UserIdentities are those of a user, the first linked first.
	UserIdentities(ctx context.Context, userID string) ([]schemas.Identity, error)
}

// Cipher seals what is kept and secret. What a text belongs to is sealed in.
type Cipher interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// Federation signs in with identity providers: federation.Client does.
type Federation interface {
	Begin(ctx context.Context, p *schemas.IdentityProvider, r federation.Request) (*federation.AuthorizationRequest, error)
	Finish(ctx context.Context, p *schemas.IdentityProvider, keep json.RawMessage, r federation.Response, now time.Time) (*federation.Identity, error)
}

// Clients finds applications by their client ids, with their OAuth configurations.
// Client fails with code application_not_found.
type Clients interface {
	Client(ctx context.Context, clientID string) (*schemas.Application, error)
}

// Permissions gives what a user may do, by their roles, and what an application is
// registered for as a client; nothing if it is none.
type Permissions interface {
	Permissions(ctx context.Context, userID string) ([]string, error)
	RegisteredScopes(ctx context.Context, applicationID string) ([]string, error)
}

// Consents gives what a user lets the client of an application have, nil if they
// have agreed to nothing.
type Consents interface {
	Consent(ctx context.Context, userID, applicationID string) (*schemas.Consent, error)
}

// Requests finds authorization requests. AuthRequest fails with code
// auth_request_not_found.
type Requests interface {
	AuthRequest(ctx context.Context, id string) (*schemas.AuthRequest, error)
}

// ScopeNames says what scopes mean, for people; each of them has words.
type ScopeNames interface {
	ScopeNames(ctx context.Context, scopes []string) (map[string]string, error)
}

// Hasher hashes and verifies passwords, and may refuse when it has too much to
// do. Verify also tells whether the hash should be made anew.
type Hasher interface {
	Hash(ctx context.Context, password string) (phc string, err error)
	Verify(ctx context.Context, phc, password string) (ok, rehash bool, err error)
}

// Guesses limits how often anybody tries a password or a code. Guess calls check, which
// fails when nothing was checked, and returns what it does; or it refuses with an
// error of class Throttled, whether there is an account of that name or not.
type Guesses interface {
	Guess(ctx context.Context, g schemas.Guess, check func() (right bool, err error)) (bool, error)
}

// Mails makes mails to be sent. Mail returns the delivery of one that is about the
// account of that name, sealed. It fails with an error of class Throttled where there
// were too many, and of class Unavailable where there is no mail server, whether
// there is such an account or not.
type Mails interface {
	Mail(ctx context.Context, name string, m schemas.Mail, now time.Time) (schemas.Delivery, error)
}

// Targets asks and tells the services that the operator has configured.
type Targets interface {
	// Names are those of the targets there are; nil means that any name will do.
	Names() []string
	// Call makes a call and waits for the reply, whatever that is. If there is none the
	// error is a *schemas.Error that is not of class Internal.
	Call(ctx context.Context, c schemas.Call) (*schemas.CallReply, error)
	// NewDelivery returns the delivery of a call, sealed.
	NewDelivery(c schemas.Call, now time.Time) (schemas.Delivery, error)
}

// Asserter signs what a completed run says about a user.
type Asserter interface {
	Assert(ctx context.Context, a schemas.Assertion) (string, error)
	// AssertionTTL is how long an assertion is good for where the application does
	// not say.
	AssertionTTL() time.Duration
}

// Deps is what the executors work with. The zero value is good enough to
// compile and check flows; to run one, all of it must be set but Guesses, without
// which passwords and codes may be tried for ever.
type Deps struct {
	Users       Users
	Types       Types
	Passwords   Passwords
	Credentials Credentials
	Factors     Factors
	Identities  Identities
	Permissions Permissions
	Consents    Consents
	Requests    Requests
	ScopeNames  ScopeNames
	Hasher      Hasher
	// Policy decides which passwords users may set. The zero value is the default.
	Policy  password.Policy
	Guesses Guesses
	Mails   Mails
	// Targets are the services of http-request. Nil is good enough to check flows, and
	// takes any name for that of a target.
	Targets    Targets
	Asserter   Asserter
	Ceremonies *passkey.Ceremonies
	// Cipher seals the keys of authenticator apps.
	Box Cipher
	// Name is what authenticator apps call the server; "" means Postern.
	Name string
	// Federation signs in with the providers of Identities.
	Federation Federation
	Clients    Clients
	// BaseURL is the server's public URL, an audience of every assertion.
	BaseURL string
	// GateURL is that of the hosted pages; "" means /gate below BaseURL.
	GateURL string
	// SessionTTL is how long a session lasts that began in a browser, with an
	// authorization request. Zero means 12 hours.
	SessionTTL time.Duration
	// DecoySecret keys the passkey ids that are shown for users that do not
	// exist, and what is kept of codes. It must be the same on every instance and stay secret: whoever has
	// it can tell decoys from passkeys.
	DecoySecret []byte
}

// Kinds returns every kind of node there is.
func Kinds(d Deps) engine.Kinds {
	env := newEnvironment()
	return engine.Kinds{
		"prompt":                promptKind(),
		"user-resolve":          userResolveKind(d),
		"user-create":           userCreateKind(d),
		"passkey-register":      passkeyRegisterKind(d),
		"passkey-authenticate":  passkeyAuthenticateKind(d),
		"password-authenticate": passwordAuthenticateKind(d),
		"password-set":          passwordSetKind(d),
		"totp-register":         totpRegisterKind(d),
		"totp":                  totpKind(d),
		"recovery-codes":        recoveryCodesKind(d),
		"recovery-code":         recoveryCodeKind(d),
		"email-otp":             emailOTPKind(d),
		"attributes":            attributesKind(d),
		"http-request":          httpRequestKind(d, env),
		"decision":              decisionKind(d, env),
		"flow":                  flowKind(),
		"federated-oidc":        federatedOIDCKind(d),
		"federated-link":        federatedLinkKind(d),
		"session-check":         sessionCheckKind(d),
		"consent":               consentKind(d),
		"authorization-code":    authorizationCodeKind(d),
	}
}
