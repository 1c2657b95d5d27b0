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

// Store reads users, what they have, and authorization requests. What it returns is nil, "" or empty
// if there is none, except where a method names an error code.
type Store interface {
	// User fails with the code user_not_found.
	User(ctx context.Context, id string) (*schemas.User, error)
	// UserByAttribute compares the normalized form of an identifying attribute, in the identifier
	// scope of the user type: schemas.UserType.IdentifierScope. "" is the global scope. It fails
	// with the code user_not_found.
	UserByAttribute(ctx context.Context, userType, attribute, value string) (*schemas.User, error)
	Password(ctx context.Context, userID string) (schemas.Password, error)
	// Credentials returns the passkeys of a user.
	Credentials(ctx context.Context, userID string) ([]schemas.Credential, error)
	// Credential fails with the code credential_not_found.
	Credential(ctx context.Context, id schemas.Bytes) (*schemas.Credential, error)
	TOTP(ctx context.Context, userID string) (*schemas.TOTP, error)
	RecoveryCodes(ctx context.Context, userID string) (*schemas.RecoveryCodes, error)
	// RecoveryCode returns the provenance of the user's unused recovery code with this SHA-256.
	RecoveryCode(ctx context.Context, userID string, hash []byte) (*schemas.RecoveryCode, error)
	// Invitation returns the invitation or the enrolment link with this SHA-256 of its token, nil if
	// there is none that can be accepted.
	Invitation(ctx context.Context, hash []byte, now time.Time) (*schemas.Link, error)
	// AttributeOwners returns the owners of a user's attributes.
	AttributeOwners(ctx context.Context, userID string) ([]schemas.AttributeOwner, error)
	// Protection returns what protects the account of a user against changes.
	Protection(ctx context.Context, userID string) (schemas.Protection, error)
	// Permissions returns the permissions of a user.
	Permissions(ctx context.Context, userID string) ([]string, error)
	// GroupNames and RoleNames return the names of a user's groups, direct or nested, and of the
	// roles of the user and of these groups.
	GroupNames(ctx context.Context, userID string) ([]string, error)
	RoleNames(ctx context.Context, userID string) ([]string, error)
	// Additions returns what was added to the account of a user.
	Additions(ctx context.Context, userID string) ([]schemas.Addition, error)
	// ClaimFacts returns what claims state about a user besides the attributes.
	ClaimFacts(ctx context.Context, userID string) (*schemas.ClaimFacts, error)
	// UserIdentities returns the identities of a user at identity providers.
	UserIdentities(ctx context.Context, userID string) ([]schemas.Identity, error)
	// RegisteredScopes returns the scopes for which an application is registered as a client.
	RegisteredScopes(ctx context.Context, applicationID string) ([]string, error)
	// Consent returns the consent of a user for an application.
	Consent(ctx context.Context, userID, applicationID string) (*schemas.Consent, error)
	// AuthRequest fails with the code auth_request_not_found.
	AuthRequest(ctx context.Context, id string) (*schemas.AuthRequest, error)
}

// Directory reads what administrators have configured.
type Directory interface {
	UserType(ctx context.Context, name string) (*schemas.UserType, error)
	// CheckUser fails with the code user_does_not_fit; the path of each problem is the name of an
	// attribute, or "" if it concerns nothing that the user entered. It can assign an organization
	// unit to a user without one.
	CheckUser(ctx context.Context, u *schemas.User) error
	// IdentityProvider finds a provider, with its client secret. It fails with the code
	// identity_provider_not_found.
	IdentityProvider(ctx context.Context, handle string) (*schemas.IdentityProvider, error)
	// Identity returns the identity of the subject at the provider, nil if it is not linked.
	Identity(ctx context.Context, providerID, subject string) (*schemas.Identity, error)
	// Client finds an application with its OAuth configuration. It fails with the code
	// application_not_found.
	Client(ctx context.Context, clientID string) (*schemas.Application, error)
	// IdentityScopes returns the scopes that need no permission for a client; nil is no particular one.
	IdentityScopes(ctx context.Context, o *schemas.OAuthProfile) ([]string, error)
	// ServerClaims returns the resource servers with the identifiers that have claims.
	ServerClaims(ctx context.Context, identifiers []string) ([]schemas.ResourceServer, error)
	// ScopeNames returns the display name of each scope.
	ScopeNames(ctx context.Context, scopes []string) (map[string]string, error)
}

// Cipher seals secrets. belongs is associated data: a text opens only with the same value.
type Cipher interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// Federation signs in with identity providers; federation.Client implements it.
type Federation interface {
	Begin(ctx context.Context, p *schemas.IdentityProvider, r federation.Request) (*federation.AuthorizationRequest, error)
	Finish(ctx context.Context, p *schemas.IdentityProvider, keep json.RawMessage, r federation.Response, now time.Time) (*federation.Identity, error)
}

// Hasher hashes and verifies passwords, and can fail under overload. rehash reports that the hash
// should be replaced.
type Hasher interface {
	Hash(ctx context.Context, password string) (phc string, err error)
	Verify(ctx context.Context, phc, password string) (ok, rehash bool, err error)
}

// Guesses limits guesses at passwords and codes. Guess calls check, which fails if nothing was
// checked, and returns its result; or it returns an error of class Throttled, regardless of whether
// an account of that name exists.
type Guesses interface {
	Guess(ctx context.Context, g schemas.Guess, check func() (right bool, err error)) (bool, error)
}

// Mails prepares mail. Mail returns the sealed delivery of a mail about the account of that name.
// It fails with an error of class Throttled if there were too many, and of class Unavailable
// without a mail server, regardless of whether the account exists.
type Mails interface {
	Mail(ctx context.Context, name string, m schemas.Mail, now time.Time) (schemas.Delivery, error)
}

// Targets calls the services that the operator has configured.
type Targets interface {
	// Names returns the names of the targets; nil means that any name is accepted.
	Names() []string
	// Call sends a call and waits for the reply. Without a reply the error is a *schemas.Error that
	// is not of class Internal.
	Call(ctx context.Context, c schemas.Call) (*schemas.CallReply, error)
	// NewDelivery returns the sealed delivery of a call.
	NewDelivery(c schemas.Call, now time.Time) (schemas.Delivery, error)
}

// Asserter signs the assertion of a completed run.
type Asserter interface {
	Assert(ctx context.Context, a schemas.Assertion) (string, error)
	// AssertionTTL is the lifetime of assertions of applications that set none.
	AssertionTTL() time.Duration
}

// Deps contains what the executors use. The zero value is sufficient for compiling and checking
// flows; running one needs all members except Guesses, without which guesses are unlimited.
type Deps struct {
	Store     Store
	Directory Directory
	Hasher    Hasher
	// Policy decides which passwords users can set. The zero value is the default.
	Policy  password.Policy
	Guesses Guesses
	// KnowsBrowser reports whether a user has signed in before with the browser of the request, and
	// proved as much as a strength: see schemas.ParseKnownFor. Nil: every browser counts as known,
	// and no sign-in causes a notice.
	KnowsBrowser func(ctx context.Context, userID, strength string, now time.Time) bool
	// RecognizesBrowser reports whether that is certain. Nil: it never is.
	RecognizesBrowser func(ctx context.Context, userID, strength string, now time.Time) bool
	Mails             Mails
	// NoMail refuses flows with an email-otp that would always fail, because the server that they
	// are checked for sends no mail.
	NoMail bool
	// ReleasesUnverified reports whether assertions contain mail addresses that are not verified: see
	// schemas.User.Profile. Nil: they do not.
	ReleasesUnverified func() bool
	// Targets are the services of http-request. Nil accepts any name, which is sufficient for
	// checking flows.
	Targets    Targets
	Asserter   Asserter
	Ceremonies *passkey.Ceremonies
	// Box seals the keys of authenticator apps.
	Box Cipher
	// Name is the server's name in authenticator apps; "" means Postern.
	Name string
	// Federation signs in with the identity providers of Directory.
	Federation Federation
	// BaseURL is the server's public URL, an audience of every assertion.
	BaseURL string
	// GateURL is the URL of the hosted pages; "" means /gate below BaseURL.
	GateURL string
	// SessionUsed returns when an application with an idle timeout last used a session; zero if it has not. Nil
	// means that no application has.
	SessionUsed func(ctx context.Context, sessionID, applicationID string) (time.Time, error)
	// SessionTTL is the lifetime of a browser session. Zero means sessionTTLWithoutServer.
	SessionTTL time.Duration
	// DecoySecret keys the passkey ids of decoys and the MACs of mailed codes. It must be the same
	// on every instance and stay secret: with it, decoys can be distinguished from passkeys.
	DecoySecret []byte

	expressions *environment
}

// Kinds returns all kinds of nodes.
func Kinds(d Deps) engine.Kinds {
	kinds := engine.Kinds{}
	for _, k := range declarations(d) {
		kinds[k.Name] = k.Kind
	}
	return kinds
}

// declarations lists all kinds, in the order of their documentation.
func declarations(d Deps) []declared {
	d.expressions = &environment{}
	return []declared{
		promptKind(d),
		userResolveKind(d),
		userCreateKind(d),
		passkeyRegisterKind(d),
		passkeyAuthenticateKind(d),
		passwordAuthenticateKind(d),
		passwordSetKind(d),
		totpKind(d),
		totpRegisterKind(d),
		recoveryCodesKind(d),
		recoveryCodeKind(d),
		emailOTPKind(d),
		emailChangeKind(d),
		invitationKind(d),
		federatedOIDCKind(d),
		federatedLinkKind(d),
		attributesKind(d),
		sessionCheckKind(d),
		consentKind(d),
		httpRequestKind(d),
		decisionKind(d),
		denyKind(d),
		flowKind(d),
		authorizationCodeKind(d),
	}
}
