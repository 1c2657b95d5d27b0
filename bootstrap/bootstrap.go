// Package bootstrap makes an empty store good enough to sign in to: the
// built-in flows, the console application and an administrator. What is seeded
// is data, in YAML beside this file.
package bootstrap

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// The ids of what is seeded. They are the same everywhere, so that a client can
// name an application before it has talked to the server.
const (
	ConsoleID     = "01900000-0000-7000-8000-000000000001"
	TryID         = "01900000-0000-7000-8000-000000000002"
	DefaultUnitID = "01900000-0000-7000-8000-000000000010" // of the organization unit "default"
)

// Store is what is seeded.
type Store interface {
	Seed(ctx context.Context, seed store.Seed) (seeded bool, err error)
	Application(ctx context.Context, id string) (*schemas.Application, error)
	CreateApplication(ctx context.Context, a schemas.Application) error
	FlowByHandle(ctx context.Context, t schemas.FlowType, handle string) (*schemas.Flow, error)
}

// Hasher hashes the administrator's password.
type Hasher interface {
	Hash(ctx context.Context, password string) (string, error)
}

// Admin is the first administrator. Without a password one is made up; without
// a name it is "admin".
type Admin struct {
	Username, Password string
}

// minPassword is the least length of a chosen administrator's password, in
// characters (NIST SP 800-63B §3.1.1.2).
const minPassword = 8

//go:embed seed.yaml
var seedText []byte

//go:embed try.yaml
var tryText []byte

// seedFile is the form of the YAML files: applications name their flows by
// handle, because ids are given when the flows are stored.
type seedFile struct {
	Applications []seedApplication `json:"applications"`
	Permissions  []string          `json:"permissions,omitempty"` // of the administrator
}

type seedApplication struct {
	ID               string `json:"id"`
	ClientID         string `json:"clientId"`
	Name             string `json:"name"`
	OUID             string `json:"ouId"`
	Description      string `json:"description"`
	AuthFlow         string `json:"authFlow"`
	RegistrationFlow string `json:"registrationFlow"`
	Registration     bool   `json:"isRegistrationFlowEnabled,omitempty"`
}

// Seed fills an empty store and returns the administrator, with the password in
// clear if it was made up here. It returns nil for a store that was filled
// before, and leaves that as it is.
func Seed(ctx context.Context, s Store, h Hasher, admin Admin, now time.Time) (*Admin, error) {
	if _, err := s.Application(ctx, ConsoleID); err == nil {
		return nil, nil
	} else if !schemas.HasCode(err, schemas.CodeAppNotFound) {
		return nil, err
	}
	file, err := parse(seedText)
	if err != nil {
		return nil, err
	}
	seed, made, err := compose(ctx, file, h, admin, now)
	if err != nil {
		return nil, err
	}
	seeded, err := s.Seed(ctx, seed)
	if err != nil || !seeded {
		return nil, err
	}
	return made, nil
}

// EnsureTry makes the application of the try-it page exist.
func EnsureTry(ctx context.Context, s Store, now time.Time) error {
	if _, err := s.Application(ctx, TryID); !schemas.HasCode(err, schemas.CodeAppNotFound) {
		return err
	}
	file, err := parse(tryText)
	if err != nil {
		return err
	}
	for _, a := range file.Applications {
		app, err := a.application(now, func(t schemas.FlowType, handle string) (string, error) {
			f, err := s.FlowByHandle(ctx, t, handle)
			if err != nil {
				return "", err
			}
			return f.ID, nil
		})
		if err != nil {
			return err
		}
		if err := s.CreateApplication(ctx, app); err != nil && !schemas.HasCode(err, schemas.CodeAppExists) {
			return err
		}
	}
	return nil
}

func parse(text []byte) (*seedFile, error) {
	doc, problems := schemas.ParseYAML(text)
	if len(problems) > 0 {
		return nil, fmt.Errorf("bootstrap: %s", problems[0])
	}
	var f seedFile
	if err := schemas.Strict(doc.JSON(), &f); err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	return &f, nil
}

// compose puts the seed together.
func compose(ctx context.Context, file *seedFile, h Hasher, admin Admin, now time.Time) (store.Seed, *Admin, error) {
	var seed store.Seed
	builtin, err := flows.Builtin()
	if err != nil {
		return seed, nil, err
	}
	for _, f := range builtin {
		f.ID, f.ActiveVersion, f.CreatedAt, f.UpdatedAt = schemas.NewID(), 1, &now, &now
		seed.Flows = append(seed.Flows, f)
	}
	for _, a := range file.Applications {
		app, err := a.application(now, seededFlow(seed.Flows))
		if err != nil {
			return seed, nil, err
		}
		seed.Applications = append(seed.Applications, app)
	}
	made, changes, err := administrator(ctx, h, admin, now)
	if err != nil {
		return seed, nil, err
	}
	seed.Changes = changes
	seed.Permissions = map[string][]string{changes[0].(schemas.CreateUser).User.ID: file.Permissions}
	return seed, made, nil
}

// seededFlow finds flows among those of the seed.
func seededFlow(list []schemas.Flow) func(schemas.FlowType, string) (string, error) {
	return func(t schemas.FlowType, handle string) (string, error) {
		for _, f := range list {
			if f.FlowType == t && f.Handle == handle {
				return f.ID, nil
			}
		}
		return "", fmt.Errorf("bootstrap: there is no built-in %s flow %q", t, handle)
	}
}

// application is the application as it is stored.
func (a seedApplication) application(now time.Time, flowID func(schemas.FlowType, string) (string, error)) (schemas.Application, error) {
	signIn, err1 := flowID(schemas.Authentication, a.AuthFlow)
	signUp, err2 := flowID(schemas.Registration, a.RegistrationFlow)
	return schemas.Application{
		ID: a.ID, ClientID: a.ClientID, Name: a.Name, Description: a.Description, OUID: a.OUID,
		AuthFlowID: signIn, RegistrationFlowID: signUp, IsRegistrationFlowEnabled: a.Registration,
		CreatedAt: now, UpdatedAt: now,
	}, errors.Join(err1, err2)
}

// administrator is the first user, and how they can be told of.
func administrator(ctx context.Context, h Hasher, admin Admin, now time.Time) (*Admin, []schemas.Change, error) {
	made := &Admin{Username: admin.Username}
	if made.Username == "" {
		made.Username = "admin"
	}
	password := admin.Password
	if password == "" {
		password = rand.Text()
		made.Password = password
	}
	if fault := schemas.CheckIdentifier("username", made.Username); fault != "" {
		return nil, nil, fmt.Errorf("ADMIN_USERNAME %q cannot be a username: %s", made.Username, fault)
	}
	if utf8.RuneCountInString(password) < minPassword {
		return nil, nil, fmt.Errorf("ADMIN_PASSWORD is too short: expected at least %d characters, got %d", minPassword, utf8.RuneCountInString(password))
	}
	hash, err := h.Hash(ctx, password)
	if err != nil {
		return nil, nil, err
	}
	u := schemas.User{ID: schemas.NewID(), Type: "Person", OUID: DefaultUnitID, Attributes: map[string]any{"username": made.Username}, CreatedAt: now, UpdatedAt: now}
	return made, []schemas.Change{
		schemas.CreateUser{User: u},
		schemas.SetPassword{UserID: u.ID, Hash: hash, At: now},
		schemas.RecordEvent{Event: schemas.Event{ID: schemas.NewID(), At: now, Action: "store.seeded", UserID: u.ID}},
	}, nil
}
