package directory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// maxUnusedClients is how many clients there may be that anybody could register and that
// nobody has used: those whose leases end within unusedClientTTL. When there are more the
// oldest go.
const (
	maxUnusedClients = 2000
	unusedClientTTL  = 7 * 24 * time.Hour
)

// Registration is a client that registers itself.
type Registration struct {
	// Application is what it is to be. Its name is changed if another has it.
	Application schemas.Application
	// By is schemas.RegisteredDynamically or schemas.RegisteredByDocument.
	By string
	// Lease is for how long it is kept if nobody uses it; nil if it stays. The
	// application's id is filled in.
	Lease *schemas.ClientExpiry
}

// Register makes an application of a client that registers itself, by the rules
// for every application. One that has an id is there already, and replaced: its
// metadata document says something new.
func (d *Directory) Register(ctx context.Context, c Call, r Registration) (*schemas.Application, error) {
	text, err := json.Marshal(r.Application)
	if err != nil {
		return nil, fmt.Errorf("writing a registration as JSON: %w", err)
	}
	document, problems := schemas.ParseJSON(text)
	if len(problems) > 0 {
		return nil, fmt.Errorf("reading a registration again: %s", problems[0])
	}
	if err := d.checkUntrustedName(ctx, r); err != nil {
		return nil, err
	}
	var made *schemas.Application
	err = d.Transact(ctx, c, func(inner Call) error {
		if made, err = d.register(ctx, inner, r, document); err != nil || r.Lease == nil {
			return err
		}
		expiry := *r.Lease
		expiry.ApplicationID = made.ID
		return store.PutClientExpiry(inner.tx, expiry)
	})
	return made, err
}

func (d *Directory) register(ctx context.Context, c Call, r Registration, document *schemas.Document) (*schemas.Application, error) {
	var at *target
	if r.Application.ID != "" {
		at = &target{id: r.Application.ID}
	}
	item, err := d.applications.write(ctx, c, document, at, func(w *writeContext, a *schemas.Application) error {
		w.registration = r.By
		if at == nil && r.Lease != nil {
			if err := store.RemoveUnusedClients(w.tx, maxUnusedClients, w.now.Add(unusedClientTTL), w.now); err != nil {
				return err
			}
		}
		w.detail = map[string]string{"registration": r.By}
		if at == nil {
			w.action = "registered"
		}
		return freeName(w, a)
	})
	if err != nil {
		return nil, err
	}
	made, ok := item.Value.(*schemas.Application)
	if !ok {
		return nil, fmt.Errorf("an application is a %T", item.Value)
	}
	return made, nil
}

// checkUntrustedName refuses a client that anybody could register if people could take
// its name for that of an application which an administrator made: the page on which
// they agree to what it asks for has little else to tell the two apart.
func (d *Directory) checkUntrustedName(ctx context.Context, r Registration) error {
	skeleton := schemas.NameSkeleton(r.Application.Name)
	if r.Lease == nil || skeleton == "" {
		return nil
	}
	names, err := d.store.OwnApplicationNames(ctx)
	if err != nil || !slices.ContainsFunc(names, func(name string) bool { return schemas.NameSkeleton(name) == skeleton }) {
		return err
	}
	problem := schemas.Problem{Path: "name", Message: "an application of this server has a name that people could take for this one; choose another"}
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the client cannot have this name: %s", problem).WithProblems([]schemas.Problem{problem})
}

// freeName puts a number behind a name that another application has. After a few
// it takes one that nobody can have taken on purpose.
func freeName(w *writeContext, a *schemas.Application) error {
	const tries, longest = 10, 180 // of 200 characters that a name may have
	letters := []rune(strings.TrimSpace(a.Name))
	wanted := strings.TrimSpace(string(letters[:min(len(letters), longest)]))
	a.Name = wanted
	for i := 2; ; i++ {
		other, err := store.Applications().Find(w.ctx, w.tx, "name", a.Name)
		if err != nil || other == nil || other.ID == a.ID {
			return err
		}
		number := fmt.Sprint(i)
		if i > tries {
			id := schemas.NewID()
			number = id[len(id)-12:]
		}
		a.Name = fmt.Sprintf("%s (%s)", wanted, number)
	}
}

// KnownScopes returns which of the scopes there are: those about a user, and
// permissions.
func (d *Directory) KnownScopes(ctx context.Context, scopes []string) ([]string, error) {
	permissions, err := store.ExistingKeys(ctx, d.store, "permission", permissionScopes(scopes))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool {
		return !permissions[s] && !slices.Contains(schemas.IdentityScopes(), s)
	}), nil
}

// ClientExpiry returns the lease of the client; nil if it has none.
func (d *Directory) ClientExpiry(ctx context.Context, clientID string) (*schemas.ClientExpiry, error) {
	return d.store.ClientExpiry(ctx, clientID)
}

// ExtendClientExpiry has a client be kept until then at least.
func (d *Directory) ExtendClientExpiry(ctx context.Context, applicationID string, until time.Time) error {
	return d.store.ExtendClientExpiry(ctx, applicationID, until)
}
