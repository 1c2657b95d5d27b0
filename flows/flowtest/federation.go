package flowtest

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/schemas"
)

// Federated is the sign-in of a user at the identity provider to which the previous step
// redirects, and the response that the browser returns.
type Federated struct {
	// Subject is the provider's subject for the user.
	Subject string `json:"subject,omitempty"`
	// Claims are the provider's claims about the user.
	Claims map[string]any `json:"claims,omitempty"`
	// Fault is how the provider, or the browser that comes from it, misbehaves.
	Fault string `json:"fault,omitempty"`
	// Old follows the redirect of the step before the last.
	Old bool `json:"old,omitempty"`
	// Replay sends the last response again.
	Replay bool `json:"replay,omitempty"`
}

// relyingParty is the client of the current scenario.
type relyingParty struct{ *federation.Client }

// providerHost is the common suffix of the hosts of identity providers.
const providerHost = ".provider.example"

func issuerOf(handle string) string { return "https://" + handle + providerHost }

// IdentityProvider returns an identity provider with the handle; any handle is valid.
func (w *environment) IdentityProvider(_ context.Context, handle string) (*schemas.IdentityProvider, error) {
	issuer := issuerOf(handle)
	p := w.internet[issuer]
	if p == nil {
		p = federationtest.New(issuer, w.clock)
		p.Down = slices.Contains(w.scenario.Down, handle)
		w.internet[issuer] = p
	}
	return &schemas.IdentityProvider{
		ID: handle, Handle: handle, Name: handle, Issuer: issuer, ClientID: p.ClientID, ClientSecret: p.ClientSecret,
	}, nil
}

// linked returns the changes that link a user's identities.
func (w *environment) linked(userID string, subjects map[string]string) (changes []schemas.Change) {
	for handle, subject := range subjects {
		changes = append(changes, schemas.LinkIdentity{Identity: schemas.Identity{
			ID: userID + " " + handle, UserID: userID, ProviderID: handle, Subject: subject, CreatedAt: w.now,
		}})
	}
	return changes
}

// signInAtProvider returns the response of a provider, as inputs.
func (p *scenarioRun) signInAtProvider(f Federated) (map[string]string, error) {
	return p.answerOf("the identity provider", f.Replay, f.Old, func(step *schemas.Step) (map[string]string, error) {
		provider := p.internet[issuerOf(providerOf(step))]
		if provider == nil {
			return nil, fmt.Errorf("the step %q does not redirect to one", step.StepID)
		}
		r, err := provider.SignIn(step.Data.RedirectURL, federationtest.Person{Subject: f.Subject, Claims: f.Claims}, federationtest.Fault(f.Fault))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", provider.Issuer, err)
		}
		inputs := map[string]string{"code": r.Code, "state": r.State, "iss": r.Issuer, "error": r.Error}
		maps.DeleteFunc(inputs, func(_, value string) bool { return value == "" })
		return inputs, nil
	})
}

// providerOf returns the handle of the identity provider to which a step redirects, "" if
// it redirects to none.
func providerOf(step *schemas.Step) string {
	u, err := url.Parse(step.Data.RedirectURL)
	if err != nil || step.Type != schemas.Redirection {
		return ""
	}
	handle, ok := strings.CutSuffix(u.Host, providerHost)
	if !ok {
		return ""
	}
	return handle
}
