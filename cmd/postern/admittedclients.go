package main

import (
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/recent"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// documentPolicy returns oauth.client_metadata_documents.
func (h *app) documentPolicy() oauth.DocumentPolicy {
	c := h.cfg.OAuth.ClientMetadataDocuments
	return oauth.DocumentPolicy{Disabled: !c.Enabled, Hosts: c.AllowedHosts}
}

// filteredApplications hides some of the applications. The reason contains one verb, for
// the id.
type filteredApplications struct {
	engine.Applications
	hides  func(*schemas.Application) bool
	reason string
}

// Application finds every application that is not hidden.
func (f filteredApplications) Application(ctx context.Context, id string) (*schemas.Application, error) {
	app, err := f.Applications.Application(ctx, id)
	if err == nil && f.hides(app) {
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, f.reason, id)
	}
	return app, err
}

// currentApplications returns the stored applications. It caches recently read ones, and asks the
// store only whether they have changed: a sign-in reads its application at each step. Callers must
// not write into the members.
type currentApplications struct {
	store *store.Store
	read  *recent.Map[string, schemas.Application]
}

// maxApplications limits the cached applications.
const maxApplications = 1000

func newCurrentApplications(s *store.Store) currentApplications {
	return currentApplications{s, &recent.Map[string, schemas.Application]{Limit: maxApplications}}
}

// Application implements engine.Applications.
func (c currentApplications) Application(ctx context.Context, id string) (*schemas.Application, error) {
	app, known := c.read.Find(id)
	if !known {
		return c.readAgain(ctx, id)
	}
	updated, auth, registration, err := c.store.ApplicationRevision(ctx, id)
	if err != nil {
		return nil, err
	}
	if !updated.Equal(app.UpdatedAt) {
		return c.readAgain(ctx, id)
	}
	app.AuthFlowVersion, app.RegistrationFlowVersion = auth, registration
	return &app, nil
}

func (c currentApplications) readAgain(ctx context.Context, id string) (*schemas.Application, error) {
	app, err := c.store.Application(ctx, id)
	if err == nil {
		c.read.Put(id, *app)
	}
	return app, err
}

// admittedApplications hides the applications whose clients the document policy excludes.
func (h *app) admittedApplications() engine.Applications {
	policy := h.documentPolicy()
	return filteredApplications{newCurrentApplications(h.store), func(a *schemas.Application) bool { return !policy.Admits(a.ClientID) },
		"the application %.64q is a client with a metadata document, which oauth.client_metadata_documents excludes"}
}

// tokenLive looks up a token: see token.Options. Tokens of excluded clients are not live. The
// application of an assertion is looked up only if the policy excludes clients.
func (h *app) tokenLive(ctx context.Context, t schemas.TokenRef, subject string, scope []string) (bool, []string, error) {
	policy := h.documentPolicy()
	if !policy.Admits(t.Client) {
		return false, nil, nil
	}
	if policy.Restricts() && t.Application != "" {
		if _, err := h.applications.Application(ctx, t.Application); err != nil {
			return false, nil, ignoreNotFound(err)
		}
	}
	return h.directory.LiveScope(ctx, t, subject, scope)
}

func ignoreNotFound(err error) error {
	if schemas.HasClass(err, schemas.NotFound) {
		return nil
	}
	return err
}
