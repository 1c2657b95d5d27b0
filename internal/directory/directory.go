package directory

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

// DefaultUnit is the handle of the organization unit of resources that do not name one.
const DefaultUnit = "default"

// Mails prepares mail. Mail returns the sealed delivery of a mail about the account of that name. It
// fails with an error of class Throttled if there were too many, and of class Unavailable without a
// mail server.
type Mails interface {
	Mail(ctx context.Context, name string, m schemas.Mail, now time.Time) (schemas.Delivery, error)
}

// Options configure a Directory.
type Options struct {
	Store  *store.Store
	Hasher password.Hasher
	// Passwords is the password policy. The zero value is the default.
	Passwords password.Policy
	// CheckFlow compiles and proves a flow definition. The sub-flows that it uses become
	// its Parts. The flow is nil if it may not run; otherwise the problems are warnings.
	CheckFlow func(text []byte, yaml bool, subflows schemas.Subflows) (*schemas.Flow, []schemas.Problem)
	// Targets lists the services that flows can call, and SendsMail reports whether the server can
	// send mail. CheckFlow depends on both.
	Targets   []string
	SendsMail bool
	// CheckStored returns the findings about a stored flow with its Parts. Those of rules that are
	// newer than the flow are warnings. Nil means the findings of CheckFlow.
	CheckStored func(f *schemas.Flow) []schemas.Problem
	// CheckChains compares two states of the applications and flows and returns the ways to sign in
	// that exist only afterwards: see package chains. The error says why they are not known. Nil accepts
	// every change.
	CheckChains func(ctx context.Context, before, after *schemas.SignInSystem) ([]schemas.Problem, error)
	// AnalyzeChains returns the ways to sign in to the applications of a system: a chains.Report.
	AnalyzeChains func(context.Context, *schemas.SignInSystem) (any, error)
	// AttributeUses lists the nodes of a stored flow that set attributes of users. Nil checks no flow
	// against the user types.
	AttributeUses func(f *schemas.Flow) schemas.AttributeUses
	// AcceptsSettable accepts changes that let users set authoritative claims, for a report about them.
	AcceptsSettable bool
	// FlowMethods returns the authentication methods that the nodes of the active version of a flow prove,
	// none for a flow that cannot run. Nil reports no unused credentials.
	FlowMethods func(ctx context.Context, flowID string) []string
	// Mails prepares the mails of invitations; InvitationPage is the address of the page that they
	// lead to. Without Mails users cannot be invited.
	Mails          Mails
	InvitationPage string
	// DigestKey is the key of the audit log's digests: without it a digest does not allow a
	// search for the personal data that it covers.
	DigestKey []byte
	// IssuerFault reads the metadata of an identity provider, and returns what is wrong with its issuer;
	// "" if nothing is, or if the provider cannot be reached. Nil checks no issuer.
	IssuerFault func(ctx context.Context, issuer string) string
	// Box seals the client secrets of identity providers.
	Box store.Cipher
	// PrivateUseSchemes are the URI schemes without a dot that public clients on devices
	// may use, in addition to reversed domain names (RFC 8252 §7.1).
	// schemas.PrivateUseScheme must hold for each.
	PrivateUseSchemes []string
	// BuiltinFlows are the handles of the flows that the program has. An administrator may select them
	// for any application, and relies on what the program ships.
	BuiltinFlows []string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Directory gives access to all resources. It is safe for concurrent use.
type Directory struct {
	store *store.Store
	Options

	Units           Resource
	UserTypes       Resource
	Users           Resource
	ResourceServers Resource
	// IdentityProviders are the OpenID providers for sign-ins.
	IdentityProviders Resource
	Flows             Resource
	Applications      Resource
	Groups            Resource
	Roles             Resource
	list              []Resource
	checks            *throttle.Concurrency              // of flows
	systemTurn        chan struct{}                      // holds a value while a change of the whole system is checked
	naming            atomic.Pointer[flowNames]          // the flows by the providers that they name
	identityScopes    atomic.Pointer[[]string]           // the standard scopes that are no permissions
	clients           cache[string, schemas.Application] // by client id; callers must check that an entry is current
	types             cache[[sha256.Size]byte, schemas.CompiledUserType]
	unused            cache[unusedKey, []string]

	// The collections whose parts can be changed separately.
	applications *collection[schemas.Application]
	groups       *collection[schemas.Group]
	roles        *collection[schemas.Role]
}

// New returns the directory of a store.
func New(o Options) *Directory {
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Directory{store: o.Store, Options: o, checks: throttle.NewConcurrency(maxChecks, maxChecksPerCaller), systemTurn: make(chan struct{}, 1)}
	d.applications, d.groups, d.roles = d.applicationCollection(), d.groupCollection(), d.roleCollection()
	d.Units, d.ResourceServers, d.Flows = d.unitCollection(), d.serverCollection(), flowResource{d}
	d.Applications, d.Groups, d.Roles = d.applications, d.groups, d.roles
	d.UserTypes, d.Users, d.IdentityProviders = d.userTypeCollection(), d.userCollection(), d.providerCollection()
	d.list = []Resource{d.Units, d.UserTypes, d.Users, d.ResourceServers, d.IdentityProviders, d.Flows, d.Applications, d.Groups, d.Roles}
	return d
}

// Resources lists all kinds of resources, each after those it refers to.
func (d *Directory) Resources() []Resource { return d.list }

// now returns the time with the precision of the stores.
func (d *Directory) now() time.Time { return d.Options.Now().UTC().Truncate(time.Microsecond) }

// reader returns the reader for a call: its transaction, its snapshot or the store.
func (d *Directory) reader(c Call) store.Reader {
	switch {
	case c.tx != nil:
		return c.tx
	case c.snapshot != nil:
		return c.snapshot
	}
	return d.store
}

// digest is the HMAC-SHA-256 of a value's JSON.
func (d *Directory) digest(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("directory: %T has no JSON: %v", v, err)) // all resource types marshal
	}
	mac := hmac.New(sha256.New, d.DigestKey)
	mac.Write(text)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// checkFilter refuses a filter that the noun does not support.
func (n Noun) checkFilter(q Query) error {
	what, members := "", n.Filters
	if q.Prefix {
		what, members = "a prefix of ", n.Prefixes
	}
	if q.Filter == "" && !q.Prefix || slices.Contains(members, q.Filter) {
		return nil
	}
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
		"%s cannot be filtered by %s%.64q: expected %s%s", n.Plural, what, q.Filter, quoted(members), schemas.Hint(q.Filter, members))
}
