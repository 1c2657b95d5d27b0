package directory

import (
	"context"
	"maps"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Which applications admit the users of a type, and what these ask users for. The rule who may sign in is
// schemas.Application.Admits.

// AdmittingApplications returns the applications to which a user may sign in, ordered by id. For an unknown
// user the error is user_not_found, Class NotFound.
func (d *Directory) AdmittingApplications(ctx context.Context, c Call, userID string) ([]schemas.Application, error) {
	r := d.reader(c)
	u, err := store.UserOf(ctx, r, userID)
	if err != nil {
		return nil, err
	}
	all, err := store.SignIns(ctx, r)
	return slices.DeleteFunc(all, func(a schemas.Application) bool { return !signsIn(&a) || !a.Admits(u.Type, u.IdentifierScope) }), err
}

// Admissions is what is wrong with the applications that admit users.
type Admissions struct {
	// Types are the names of the user types that no application admits.
	Types []string
	// Applications are those that admit no user type, although users sign in there.
	Applications []schemas.Application
	// Unused lists by user type what its users can enroll on the account page, although no application that
	// admits them asks for it: see UnusedCredentials.
	Unused map[string][]string
}

// Admissions checks all user types and applications.
func (d *Directory) Admissions(ctx context.Context, c Call) (*Admissions, error) {
	state, err := readStarts(ctx, d.reader(c))
	if err != nil {
		return nil, err
	}
	found := &Admissions{Unused: map[string][]string{}}
	admitted := map[string]bool{} // types
	for _, id := range slices.Sorted(maps.Keys(state.applications)) {
		a := state.applications[id]
		if !signsIn(a) {
			continue
		}
		some := false
		for _, t := range state.types {
			if a.Admits(t.Name, t.IdentifierScope) {
				some, admitted[t.Name] = true, true
			}
		}
		if !some {
			found.Applications = append(found.Applications, *a)
		}
	}
	for _, t := range state.types {
		if !admitted[t.Name] {
			found.Types = append(found.Types, t.Name)
			continue
		}
		unused := d.unusedCredentials(ctx, slices.Collect(maps.Values(state.applications)), t.Name, t.IdentifierScope)
		if t.CredentialAttribute() == "" {
			unused = slices.DeleteFunc(unused, func(kind string) bool { return kind == passwordAttribute })
		}
		if len(unused) > 0 {
			found.Unused[t.Name] = unused
		}
	}
	slices.Sort(found.Types)
	return found, nil
}

// enrolled are the credentials that users enroll on the account page, with the method (amr) of their use.
func enrolled() map[string]string {
	return map[string]string{schemas.PasskeyAddition: "pop", passwordAttribute: "pwd", schemas.AppAddition: "otp", schemas.CodesAddition: schemas.AMRRecovery}
}

// unusedKey identifies a result of UnusedCredentials: the revision of the system, and the type of the users.
type unusedKey struct {
	revision int64
	userType string
}

// maxUnused limits the cached results of UnusedCredentials.
const maxUnused = 100

// UnusedCredentials returns which credentials, of those that users enroll on the account page, no flow of the
// applications asks for that admit users of the type: passkey, password, totp or recovery-codes.
func (d *Directory) UnusedCredentials(ctx context.Context, r store.Reader, userType, identifierScope string) ([]string, error) {
	revision, err := store.SystemRevision(ctx, r)
	if err != nil {
		return nil, err
	}
	key := unusedKey{revision, userType}
	if known := d.unused.get(key); known != nil {
		return *known, nil
	}
	all, err := store.SignIns(ctx, r)
	if err != nil {
		return nil, err
	}
	applications := make([]*schemas.Application, len(all))
	for i := range all {
		applications[i] = &all[i]
	}
	unused := d.unusedCredentials(ctx, applications, userType, identifierScope)
	d.unused.put(key, &unused, maxUnused)
	return unused, nil
}

func (d *Directory) unusedCredentials(ctx context.Context, applications []*schemas.Application, userType, identifierScope string) []string {
	if d.FlowMethods == nil {
		return nil
	}
	read, asked := map[string]bool{}, map[string]bool{} // flows, and methods
	for _, a := range applications {
		if !signsIn(a) || !a.Admits(userType, identifierScope) {
			continue
		}
		for _, f := range a.Flows() {
			if *f.ID == "" || read[*f.ID] {
				continue
			}
			read[*f.ID] = true
			for _, method := range d.FlowMethods(ctx, *f.ID) {
				asked[method] = true
			}
		}
	}
	unused := enrolled()
	maps.DeleteFunc(unused, func(_, method string) bool { return asked[method] })
	return slices.Sorted(maps.Keys(unused))
}
