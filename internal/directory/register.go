package directory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Registration is a client that registers itself.
type Registration struct {
	// Application is the application to register. It is renamed if its name is taken.
	Application schemas.Application
	// By is schemas.RegisteredDynamically or schemas.RegisteredByDocument.
	By string
	// Lease is how long an unused client is stored; nil for no limit. Register sets the
	// application's id.
	Lease *schemas.ClientExpiry
	// Detail describes the registration in the audit log.
	Detail map[string]string
}

// Register creates or replaces the application of a client that registers itself, with the
// rules for every application. An application with an id exists already and is replaced:
// its metadata document changed.
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
			if err := store.RemoveUnusedClients(w.tx, maxUnusedClients, w.now.Add(unusedClientLease), w.now); err != nil {
				return err
			}
		}
		w.detail = map[string]string{"registration": r.By}
		maps.Copy(w.detail, r.Detail)
		if at == nil {
			w.action = "registered"
		}
		freeName(w, a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return item.Value.(*schemas.Application), nil
}

// RedirectFault returns why a client that registers itself cannot have a redirect URI; "" if it can. A public
// client has no secret.
func (d *Directory) RedirectFault(public bool, uri string) string {
	return redirectRules{private: public, schemes: d.PrivateUseSchemes}.fault(uri)
}

// checkUntrustedName refuses an untrusted client whose name users could confuse with that
// of an administrator's application: the consent page shows little else to tell them apart.
func (d *Directory) checkUntrustedName(ctx context.Context, r Registration) error {
	skeleton := schemas.NameSkeleton(r.Application.Name)
	if r.Lease == nil || skeleton == "" {
		return nil
	}
	if taken, err := d.store.ResemblesOwnName(ctx, skeleton); err != nil || !taken {
		return err
	}
	problem := schemas.Problem{Path: "name", Message: "users could confuse it with the name of an application of this server; choose another"}
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the client cannot have this name: %s", problem).WithProblems([]schemas.Problem{problem})
}

// freeName appends a number to a name that another application has. After a few attempts it
// appends random characters, which cannot be taken on purpose.
func freeName(w *writeContext, a *schemas.Application) {
	const tries, longest = 10, 180 // a name has up to 200 characters
	letters := []rune(strings.TrimSpace(a.Name))
	wanted := strings.TrimSpace(string(letters[:min(len(letters), longest)]))
	a.Name = wanted
	for i := 2; ; i++ {
		other, err := store.Applications().Find(w.ctx, w.tx, "name", a.Name)
		if w.fail(err) || other == nil || other.ID == a.ID {
			return
		}
		number := fmt.Sprint(i)
		if i > tries {
			id := schemas.NewID()
			number = id[len(id)-12:]
		}
		a.Name = fmt.Sprintf("%s (%s)", wanted, number)
	}
}

// KnownScopes returns the scopes that exist: identity scopes and permissions.
func (d *Directory) KnownScopes(ctx context.Context, scopes []string) ([]string, error) {
	permissions, err := store.ExistingKeys(ctx, d.store, "permission", scopes)
	if err != nil {
		return nil, err
	}
	identity, err := d.IdentityScopes(ctx, nil)
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool {
		return !permissions[s] && !slices.Contains(identity, s)
	}), err
}
