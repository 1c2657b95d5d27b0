package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

const (
	selectApplication         query = `SELECT ` + applicationColumns + ` FROM applications WHERE id = ?`
	selectApplicationByClient query = `SELECT ` + clientColumns + clients + ` WHERE client_id = ?`
	selectApplications        query = `SELECT ` + clientColumns + clients + ` ORDER BY name`

	insertApplication query = `INSERT INTO applications (` + applicationColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

	selectApplicationClash query = `SELECT
		EXISTS (SELECT 1 FROM applications WHERE name = ?), EXISTS (SELECT 1 FROM applications WHERE client_id = ?)`
)

// Application returns the application as a sign-in needs it: without its OAuth
// configuration, but with the client id. An unknown one is
// application_not_found, Class NotFound.
func (s *Store) Application(ctx context.Context, id string) (*schemas.Application, error) {
	if !storable(id) {
		return nil, errNoApplication(id)
	}
	return readApplication(s.row(ctx, selectApplication, id), scanPlain, errNoApplication(id))
}

// ApplicationByClientID returns the application that is the OAuth client, with its
// OAuth configuration. An unknown one is application_not_found, Class NotFound.
func (s *Store) ApplicationByClientID(ctx context.Context, clientID string) (*schemas.Application, error) {
	if !storable(clientID) {
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

// Applications returns all applications by name.
func (s *Store) Applications(ctx context.Context) (all []schemas.Application, err error) {
	err = s.each(ctx, selectApplications, func(row scanner) error {
		all = append(all, schemas.Application{})
		return scanApplication(row, &all[len(all)-1])
	})
	if err != nil {
		return nil, fmt.Errorf("store: listing applications: %w", err)
	}
	return all, nil
}

// CreateApplication adds an application. A name or client id that another one
// has is application_exists, Class Conflict.
func (s *Store) CreateApplication(ctx context.Context, a schemas.Application) error {
	return s.writer.write(ctx, func(t *tx) error { return t.createApplication(&a) })
}

func (t *tx) createApplication(a *schemas.Application) error {
	values, err := applicationValues(a)
	if err != nil {
		return err
	}
	n, err := t.exec(insertApplication, values...)
	if err != nil {
		return fmt.Errorf("store: creating an application: %w", err)
	}
	if n == 0 {
		return t.applicationClash(a)
	}
	return nil
}

// applicationClash tells what of an application another one has already.
func (t *tx) applicationClash(a *schemas.Application) error {
	var name, client bool
	if err := t.row(selectApplicationClash, a.Name, nullable(a.ClientID)).Scan(&name, &client); err != nil {
		return fmt.Errorf("store: looking for the application in the way: %w", err)
	}
	var problems []schemas.Problem
	if name {
		problems = append(problems, schemas.Problem{Path: "name", Message: fmt.Sprintf("%q is the name of another application", a.Name)})
	}
	if client {
		problems = append(problems, schemas.Problem{Path: "clientId", Message: fmt.Sprintf("%q belongs to another application", a.ClientID)})
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeAppExists,
		"The application %q is in the way of another: its id, name and clientId must be its own.", a.Name).WithProblems(problems)
}
