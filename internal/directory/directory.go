package directory

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// DefaultUnit is the handle of the organization unit to which belongs what does
// not say its own.
const DefaultUnit = "default"

// Hasher hashes passwords, and may refuse when it has too much to do.
type Hasher interface {
	Hash(ctx context.Context, password string) (phc string, err error)
}

// Options is what a Directory works with.
type Options struct {
	Store  *store.Store
	Hasher Hasher
	// Passwords decides which passwords users may have. The zero value is the default.
	Passwords password.Policy
	// CheckFlow compiles and proves a flow definition, which may use the sub-flows on
	// the shelf: they become its Parts. The flow is nil if it may not run; problems
	// may then be warnings all the same.
	CheckFlow func(text []byte, yaml bool, subflows schemas.Subflows) (*schemas.Flow, []schemas.Problem)
	// DigestKey keys the digests of the audit log: without it nobody can find out
	// by trying what personal data a digest stands for.
	DigestKey []byte
	// Cipher seals the client secrets of identity providers.
	Box Cipher
	// PrivateUseSchemes are schemes without a dot that public clients on devices may
	// have for their own, beside domain names backwards (RFC 8252 §7.1). Each is one of
	// those for which schemas.PrivateUseScheme holds.
	PrivateUseSchemes []string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Directory is all resources. It may be used by many goroutines at once.
type Directory struct {
	store *store.Store
	Options

	Units           Resource
	UserTypes       Resource
	Users           Resource
	ResourceServers Resource
	// IdentityProviders are the OpenID providers by which people may sign in here.
	IdentityProviders Resource
	Flows             Resource
	Applications      Resource
	Groups            Resource
	Roles             Resource
	list              []Resource
	clients           clientCache

	types typeCache

	// Those of which parts can be changed by themselves.
	applications *collection[schemas.Application]
	groups       *collection[schemas.Group]
	roles        *collection[schemas.Role]
}

// New returns the directory of a store.
func New(o Options) *Directory {
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Directory{store: o.Store, Options: o}
	d.applications, d.groups, d.roles = d.applicationCollection(), d.groupCollection(), d.roleCollection()
	d.Units, d.ResourceServers, d.Flows = d.unitCollection(), d.serverCollection(), flowResource{d}
	d.Applications, d.Groups, d.Roles = d.applications, d.groups, d.roles
	d.UserTypes, d.Users, d.IdentityProviders = d.userTypeCollection(), d.userCollection(), d.providerCollection()
	d.list = []Resource{d.Units, d.UserTypes, d.Users, d.ResourceServers, d.IdentityProviders, d.Flows, d.Applications, d.Groups, d.Roles}
	return d
}

// Resources lists all kinds of resources, each after those it refers to.
func (d *Directory) Resources() []Resource { return d.list }

// now is the current time, in the precision that every store keeps.
func (d *Directory) now() time.Time { return d.Options.Now().UTC().Truncate(time.Microsecond) }

// reader is what a call reads by.
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
		panic(fmt.Sprintf("directory: %T has no JSON: %v", v, err)) // all our types have
	}
	mac := hmac.New(sha256.New, d.DigestKey)
	mac.Write(text)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// checkFilter refuses a filter that the noun does not have.
func (n Noun) checkFilter(q Query) error {
	if q.Filter == "" {
		return nil
	}
	for _, known := range n.Filters {
		if q.Filter == known {
			return nil
		}
	}
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
		"%s cannot be filtered by %.64q: expected %s%s", n.Plural, q.Filter, quoted(n.Filters), schemas.Hint(q.Filter, n.Filters))
}
