package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// The statements of the hot reads, which are prepared. They follow from the fields.
var (
	selectApplication         = selectFields(applicationFields().columns(), "applications WHERE id = ?")
	selectApplicationByClient = selectFields(append(applicationFields().columns(), profileColumns()...),
		"applications"+joinProfiles+" WHERE client_id = ?")
	selectIdentityProvider = selectFields(identityProviderFields().columns(), "identity_providers WHERE handle = ?")
)

func selectFields(columns []string, from string) query {
	return query("SELECT " + strings.Join(columns, ", ") + " FROM " + from)
}

// Application returns the application as a sign-in needs it: without its OAuth
// configuration, but with the client id. An unknown one is
// application_not_found, Class NotFound.
func (s *Store) Application(ctx context.Context, id string) (*schemas.Application, error) {
	if !isStorable(id) {
		return nil, errNoApplication(id)
	}
	return readApplication(s.row(ctx, selectApplication, id), applicationFields().scan, errNoApplication(id))
}

// ApplicationByClientID returns the application that is the OAuth client, with its
// OAuth configuration. An unknown one is application_not_found, Class NotFound.
func (s *Store) ApplicationByClientID(ctx context.Context, clientID string) (*schemas.Application, error) {
	if !isStorable(clientID) {
		return nil, errNoClient(clientID)
	}
	return readApplication(s.row(ctx, selectApplicationByClient, clientID), scanApplication, errNoClient(clientID))
}

func errNoClient(clientID string) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "There is no application with the client id %.64q.", clientID)
}

// readApplication reads the one application of a row, or returns unknown.
func readApplication(row scanner, scan func(scanner, *schemas.Application) error, unknown error) (*schemas.Application, error) {
	var a schemas.Application
	err := scan(row, &a)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, unknown
	}
	if err != nil {
		return nil, fmt.Errorf("store: reading an application: %w", err)
	}
	return &a, nil
}

func errNoApplication(id string) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "There is no application with the id %.64q.", id)
}
