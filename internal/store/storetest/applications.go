package storetest

import (
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func newApplication(name, clientID string) schemas.Application {
	return schemas.Application{ID: schemas.NewID(), Name: name, ClientID: clientID, AuthFlowID: schemas.NewID(),
		CreatedAt: noon(), UpdatedAt: noon()}
}

func testApplications(t *testing.T, s *store.Store) {
	ctx := t.Context()
	full := schemas.Application{
		ID: schemas.NewID(), Name: "shop", Description: "A shop", OUID: "default", URL: "https://shop.example",
		LogoURL: "https://shop.example/logo", TosURI: "https://shop.example/tos", PolicyURI: "https://shop.example/policy",
		AuthFlowID: schemas.NewID(), RegistrationFlowID: schemas.NewID(), IsRegistrationFlowEnabled: true,
		AllowedUserTypes: []string{"Person", "Customer"}, PasskeyAllowedOrigins: []string{"https://shop.example"},
		Assertion:      schemas.AssertionRules{ValidityPeriod: 60, UserAttributes: []string{}},
		Customizations: map[string]any{"theme": map[string]any{"dark": true}}, ClientID: "SHOP",
		CreatedAt: noon(), UpdatedAt: noon(),
	}
	// Upper case comes before lower case: names are ordered by their bytes.
	bare, last := newApplication("Zoo", ""), newApplication("zoo", "")
	for _, a := range []schemas.Application{last, full, bare} {
		must(t, s.CreateApplication(ctx, a))
	}
	for _, a := range []schemas.Application{bare, full} {
		got, err := s.Application(ctx, a.ID)
		must(t, err)
		wantEqual(t, "the application", got, &a)
	}
	all, err := s.Applications(ctx)
	must(t, err)
	wantEqual(t, "the applications", all, []schemas.Application{bare, full, last})
	_, err = s.Application(ctx, schemas.NewID())
	wantError(t, err, schemas.NotFound, schemas.CodeAppNotFound)
}

func testApplicationsUnique(t *testing.T, s *store.Store) {
	ctx := t.Context()
	must(t, s.CreateApplication(ctx, newApplication("shop", "SHOP")))
	for _, test := range []struct {
		name, clientID string
		paths          []string
	}{
		{"shop", "", []string{"name"}},
		{"other", "SHOP", []string{"clientId"}},
		{"shop", "SHOP", []string{"name", "clientId"}},
	} {
		err := s.CreateApplication(ctx, newApplication(test.name, test.clientID))
		wantError(t, err, schemas.Conflict, schemas.CodeAppExists)
		var paths []string
		for _, p := range schemas.AsError(err).Errors {
			paths = append(paths, p.Path)
		}
		wantEqual(t, "the paths", paths, test.paths)
	}
	// No client id is nobody's client id.
	must(t, s.CreateApplication(ctx, newApplication("a", "")))
	must(t, s.CreateApplication(ctx, newApplication("b", "")))
}
