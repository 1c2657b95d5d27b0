package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

const (
	applicationColumns = `id, name, description, ou_id, url, logo_url, tos_uri, policy_uri, auth_flow_id,
		registration_flow_id, registration_enabled, allowed_user_types, passkey_allowed_origins, assertion_validity,
		assertion_attributes, customizations, client_id, created_at, updated_at`

	selectApplication  query = `SELECT ` + applicationColumns + ` FROM applications WHERE id = ?`
	selectApplications query = `SELECT ` + applicationColumns + ` FROM applications ORDER BY name`

	insertApplication query = `INSERT INTO applications (` + applicationColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`

	selectApplicationClash query = `SELECT
		EXISTS (SELECT 1 FROM applications WHERE name = ?), EXISTS (SELECT 1 FROM applications WHERE client_id = ?)`
)

// Application returns the application; an unknown one is
// application_not_found, Class NotFound.
func (s *Store) Application(ctx context.Context, id string) (*schemas.Application, error) {
	if !storable(id) {
		return nil, errNoApplication(id)
	}
	a, err := scanApplication(s.row(ctx, selectApplication, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoApplication(id)
	}
	if err != nil {
		return nil, fmt.Errorf("store: reading an application: %w", err)
	}
	return a, nil
}

func errNoApplication(id string) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "There is no application with the id %.64q.", id)
}

// Applications returns all applications by name.
func (s *Store) Applications(ctx context.Context) (all []schemas.Application, err error) {
	err = s.each(ctx, selectApplications, func(row scanner) error {
		a, err := scanApplication(row)
		if err == nil {
			all = append(all, *a)
		}
		return err
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
	customizations, err := optionalDocument(a.Customizations)
	if err != nil {
		return err
	}
	var lists [3]sql.NullString
	for i, list := range [][]string{a.AllowedUserTypes, a.PasskeyAllowedOrigins, a.Assertion.UserAttributes} {
		if lists[i], err = lines(list); err != nil {
			return err
		}
	}
	n, err := t.exec(insertApplication, a.ID, a.Name, a.Description, a.OUID, a.URL, a.LogoURL, a.TosURI, a.PolicyURI,
		a.AuthFlowID, a.RegistrationFlowID, a.IsRegistrationFlowEnabled, lists[0], lists[1],
		int64(a.Assertion.ValidityPeriod), lists[2], customizations, nullable(a.ClientID),
		micros(a.CreatedAt), micros(a.UpdatedAt))
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

func scanApplication(row scanner) (*schemas.Application, error) {
	var a schemas.Application
	var types, origins, attributes, client sql.NullString
	var customizations []byte
	var created, updated int64
	err := row.Scan(&a.ID, &a.Name, &a.Description, &a.OUID, &a.URL, &a.LogoURL, &a.TosURI, &a.PolicyURI,
		&a.AuthFlowID, &a.RegistrationFlowID, &a.IsRegistrationFlowEnabled, &types, &origins,
		&a.Assertion.ValidityPeriod, &attributes, &customizations, &client, &created, &updated)
	if err != nil {
		return nil, err
	}
	if err := parse(customizations, &a.Customizations); err != nil {
		return nil, err
	}
	a.AllowedUserTypes, a.PasskeyAllowedOrigins = list(types), list(origins)
	a.Assertion.UserAttributes, a.ClientID = list(attributes), client.String
	a.CreatedAt, a.UpdatedAt = moment(created), moment(updated)
	return &a, nil
}
