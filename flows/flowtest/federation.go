package flowtest

import (
	"context"
	"errors"
	"fmt"
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

// openInternet gives a scenario its identity providers. Each is created on its first use.
func (w *environment) openInternet(s Scenario) {
	w.internet = federationtest.Internet{}
	w.down = s.Down
	w.relyingParty.Client = federation.New(w.internet)
}

// IdentityProvider returns an identity provider with the handle; any handle is valid.
func (w *environment) IdentityProvider(_ context.Context, handle string) (*schemas.IdentityProvider, error) {
	issuer := issuerOf(handle)
	p := w.internet[issuer]
	if p == nil {
		p = federationtest.New(issuer, w.clock)
		p.Down = slices.Contains(w.down, handle)
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
	if f.Replay {
		if p.isSignedIn == nil {
			return nil, errors.New("the browser has no earlier provider response to send again")
		}
		return p.isSignedIn, nil
	}
	n := 0
	if f.Old {
		n = 1
	}
	step, err := p.step(n)
	if err != nil {
		return nil, err
	}
	provider := p.internet[issuerOf(providerOf(step))]
	if provider == nil {
		return nil, fmt.Errorf("the step %q does not redirect to an identity provider", step.StepID)
	}
	r, err := provider.SignIn(step.Data.RedirectURL, federationtest.Person{Subject: f.Subject, Claims: f.Claims}, federationtest.Fault(f.Fault))
	if err != nil {
		return nil, fmt.Errorf("the provider %s: %w", providerOf(step), err)
	}
	p.isSignedIn = map[string]string{}
	for name, value := range map[string]string{"code": r.Code, "state": r.State, "iss": r.Issuer, "error": r.Error} {
		if value != "" {
			p.isSignedIn[name] = value
		}
	}
	return p.isSignedIn, nil
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

// federationFaults returns the schema of the faults of a provider, with the descriptions
// that editors show.
func federationFaults() map[string]any {
	var names, docs []string
	for _, d := range federationtest.Catalog() {
		names, docs = append(names, string(d.Fault)), append(docs, "The provider "+d.Doc+".")
	}
	return map[string]any{
		"enum": names, "enumDescriptions": docs,
		"description": "How the provider, or the browser on return from it, misbehaves. The rest of the answer is correct, signatures included.",
	}
}
