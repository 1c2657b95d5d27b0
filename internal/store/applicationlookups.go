package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// The statements of the hot reads follow from the fields.
var (
	selectApplication = selectFields(append(applicationFields().columns(), activeVersionOf("auth_flow_id"), activeVersionOf("registration_flow_id"),
		"(SELECT claims FROM oauth_profiles WHERE application_id = applications.id)"),
		"applications WHERE id = ?")
	selectApplicationByClient = selectFields(append(applicationFields().columns(), profileColumns()...),
		"applications"+joinProfiles+" WHERE client_id = ?")
	selectRevision = "SELECT updated_at, " + activeVersionOf("auth_flow_id") + ", " + activeVersionOf("registration_flow_id") +
		" FROM applications WHERE id = ?"
	selectIdentityProvider = selectFields(identityProviderFields().columns(), "identity_providers WHERE handle = ?")
)

func selectFields(columns []string, from string) string {
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + from
}

func activeVersionOf(flow string) string {
	return "(SELECT active_version FROM flows WHERE flows.id = applications." + flow + ")"
}

// scanWithVersions scans a row of selectApplication.
func scanWithVersions(row scanner, a *schemas.Application) error {
	var signIn, registration sql.NullInt64
	err := row.Scan(append(applicationFields().destinations(a), &signIn, &registration, asJSON(&a.Claims))...)
	a.AuthFlowVersion, a.RegistrationFlowVersion = int(signIn.Int64), int(registration.Int64)
	return err
}

// Application returns the data of an application that a sign-in needs: of its OAuth configuration only
// the client id and the claims, and the active versions of its flows. An unknown one is application_not_found,
// Class NotFound.
func (s *Store) Application(ctx context.Context, id string) (*schemas.Application, error) {
	return readOne(s.row(ctx, selectApplication, id), scanWithVersions, func() error { return errNoApplication(id) })
}

// ApplicationByClientID returns the application that is the OAuth client, with its
// OAuth configuration. An unknown one is application_not_found, Class NotFound.
func (s *Store) ApplicationByClientID(ctx context.Context, clientID string) (*schemas.Application, error) {
	return readOne(s.row(ctx, selectApplicationByClient, clientID), scanApplication, func() error { return errNoClient(clientID) })
}

func errNoClient(clientID string) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "there is no application with the client id %.64q", clientID)
}

func errNoApplication(id string) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "there is no application with the id %.64q", id)
}

const (
	selectClientRevision      = `SELECT id, updated_at FROM applications WHERE client_id = ?`
	selectClientRevisionAhead = `SELECT ` + revisionAhead + ` FROM applications a WHERE client_id = ?`
)

// ClientRevision identifies the state of the application that is the OAuth client: its ID and
// the time of its last change. If both are unchanged, so is the result of
// ApplicationByClientID. Errors are the same as of that method.
func (s *Store) ClientRevision(ctx context.Context, clientID string) (id string, updated time.Time, err error) {
	kept := aheadOf(ctx)
	ofClient := func(r revision) bool { return r.clientID == clientID }
	r, known := kept.takeApplication(ofClient)
	if !known && kept != nil && kept.onlyGrants {
		if err := s.readGrant(ctx, kept, schemas.NamedBy(ctx)); err != nil {
			return "", time.Time{}, err
		}
		r, known = kept.takeApplication(ofClient)
	}
	if !known && kept != nil {
		r, known = s.assume(kept, clientID)
	}
	if known {
		return r.id, r.updated, nil
	}
	if kept == nil || kept.onlyGrants || s.local {
		r, err = remember(s, "client "+clientID, func() (r revision, err error) {
			err = s.row(ctx, selectClientRevision, clientID).Scan(&r.id, (*microTime)(&r.updated))
			return r, err
		})
	} else {
		err = s.row(ctx, selectClientRevisionAhead, clientID).Scan(r.destinations()...)
		kept.putApplication(r)
		if err == nil {
			s.revisions.Put(clientID, r)
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", time.Time{}, errNoClient(clientID)
	}
	return r.id, r.updated, err
}

// ApplicationRevision identifies the state of an application: the time of its last change, and the
// active versions of its flows, which are 0 in a request that has read the application together with a
// run or an authorization request. If the time is unchanged, so is the result of Application apart from
// these versions. Errors are the same as of that method.
func (s *Store) ApplicationRevision(ctx context.Context, id string) (updated time.Time, auth, registration int, err error) {
	if r, known := aheadOf(ctx).takeApplication(func(r revision) bool { return r.id == id }); known {
		return r.updated, int(r.signIn.Int64), int(r.registration.Int64), nil
	}
	r, err := remember(s, "application "+id, func() (r revision, err error) {
		err = s.row(ctx, selectRevision, id).Scan((*microTime)(&r.updated), &r.signIn, &r.registration)
		return r, err
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoApplication(id)
	}
	return r.updated, int(r.signIn.Int64), int(r.registration.Int64), err
}

const (
	selectOwnName = `SELECT 1 FROM applications WHERE name_skeleton = ?`

	selectNamesWithoutSkeleton = `SELECT id, name, registration FROM applications WHERE name_skeleton IS NULL ORDER BY id LIMIT ?`
	updateNameSkeleton         = `UPDATE applications SET name_skeleton = ? WHERE id = ? AND name = ?`
)

// ResemblesOwnName reports whether an application that an administrator created has a name with the
// skeleton: see schemas.NameSkeleton.
func (s *Store) ResemblesOwnName(ctx context.Context, skeleton string) (bool, error) {
	if err := s.addNameSkeletons(ctx); err != nil {
		return false, err
	}
	return exists(ctx, s, selectOwnName, skeleton)
}

// addNameSkeletons computes the skeletons of the names in rows of earlier programs.
func (s *Store) addNameSkeletons(ctx context.Context) error {
	const each = 500
	for {
		missing, err := readAll(ctx, s, func(row scanner, a *schemas.Application) error {
			return row.Scan(&a.ID, &a.Name, &a.Registration)
		}, selectNamesWithoutSkeleton, each)
		if err != nil || len(missing) == 0 {
			return err
		}
		err = s.writer.write(ctx, func(t *Tx) error {
			for i := range missing {
				a := &missing[i]
				if _, err := t.exec(updateNameSkeleton, nameSkeleton{a}, a.ID, a.Name); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(missing) < each {
			return err
		}
	}
}

const selectRedirects = `SELECT redirect_uris, registration = '' OR verified FROM oauth_profiles
	JOIN applications ON id = application_id WHERE redirect_uris IS NOT NULL`

// RedirectURIs returns the registered redirect URIs of all clients: those of trusted clients
// and those of all others.
func (s *Store) RedirectURIs(ctx context.Context) (vouched, others []string, err error) {
	err = rows(ctx, s, func(row scanner) error {
		var registered lines
		var isVouched bool
		err := row.Scan(&registered, &isVouched)
		if isVouched {
			vouched = append(vouched, registered...)
		} else {
			others = append(others, registered...)
		}
		return err
	}, selectRedirects)
	return vouched, others, err
}

// ScopeOwner returns the name of an application that declares a scope with the handle as its first part, "" if none
// does.
func ScopeOwner(ctx context.Context, r Reader, handle string) (application string, err error) {
	return readValue[string](ctx, r, "SELECT a.name FROM own_scopes s JOIN applications a ON a.id = s.application_id WHERE s.handle = ? LIMIT 1", handle)
}
