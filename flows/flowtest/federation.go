package flowtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/schemas"
)

// Federated is what a person does at the identity provider that the step before sends
// the browser to, and what the browser brings back.
type Federated struct {
	// Subject is what the provider calls the person.
	Subject string `json:"subject,omitempty"`
	// Claims are what it says of them.
	Claims map[string]any `json:"claims,omitempty"`
	// Fault is how the provider, or the browser that comes from it, misbehaves.
	Fault string `json:"fault,omitempty"`
	// Old goes where the step before the last sent the browser.
	Old bool `json:"old,omitempty"`
	// Replay brings the last answer once more.
	Replay bool `json:"replay,omitempty"`
}

// relyingParty is that of the scenario that is played.
type relyingParty struct{ *federation.Client }

// providerHost is the end of the hosts of all identity providers.
const providerHost = ".provider.example"

func issuerOf(handle string) string { return "https://" + handle + providerHost }

// openInternet gives a scenario the identity providers that the flow and the users of
// the file name.
func (w *world) openInternet(s Scenario) {
	w.internet = federationtest.Internet{}
	for _, handle := range w.file.providerNames(w.graph.Flow()) {
		p := federationtest.New(issuerOf(handle), w.clock)
		w.internet[p.Issuer] = p
		w.providers[handle] = schemas.IdentityProvider{
			ID: handle, Handle: handle, Name: handle, Issuer: p.Issuer, ClientID: p.ClientID, ClientSecret: p.ClientSecret, CreatedAt: w.now, UpdatedAt: w.now,
		}
	}
	for _, handle := range s.Down {
		if p := w.internet[issuerOf(handle)]; p != nil {
			p.Down = true
		}
	}
	w.relyingParty.Client = federation.New(w.internet)
}

// providerNames are the handles of identity providers that are spoken of.
func (f *File) providerNames(flow *schemas.Flow) (handles []string) {
	for _, n := range flow.Nodes {
		var with struct{ Provider string }
		if n.Use == "federated-oidc" && json.Unmarshal(n.With, &with) == nil {
			handles = append(handles, with.Provider)
		}
	}
	for _, user := range f.Users {
		for handle := range user.Identities {
			handles = append(handles, handle)
		}
	}
	return handles
}

// linked are the changes by which a user has the identities they are given.
func (w *world) linked(userID string, g Given) (changes []schemas.Change) {
	for handle, subject := range g.Identities {
		changes = append(changes, schemas.LinkIdentity{Identity: schemas.Identity{
			ID: userID + " " + handle, UserID: userID, ProviderID: handle, Subject: subject, CreatedAt: w.now,
		}})
	}
	return changes
}

// signInElsewhere is what the browser brings back from a provider.
func (p *playing) signInElsewhere(f Federated) (map[string]string, error) {
	if f.Replay {
		if p.brought == nil {
			return nil, errors.New("the browser has brought nothing back from a provider that could be sent again")
		}
		return p.brought, nil
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
		return nil, fmt.Errorf("the step %q sends the browser to no identity provider", step.StepID)
	}
	r, err := provider.SignIn(step.Data.RedirectURL, federationtest.Person{Subject: f.Subject, Claims: f.Claims}, federationtest.Fault(f.Fault))
	if err != nil {
		return nil, fmt.Errorf("the provider %s: %w", providerOf(step), err)
	}
	p.brought = map[string]string{}
	for name, value := range map[string]string{"code": r.Code, "state": r.State, "iss": r.Issuer, "error": r.Error} {
		if value != "" {
			p.brought[name] = value
		}
	}
	return p.brought, nil
}

// providerOf is the handle of the identity provider that a step sends the browser to,
// "" if to none.
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

func (f *Federated) words() string {
	switch {
	case f.Replay:
		return "what came from the provider once more"
	case f.Fault != "":
		return "sign-in there as " + show(f.Subject) + " with the fault " + f.Fault
	}
	return "sign-in there as " + show(f.Subject)
}

// federationFaults names every fault of a provider, and describes each as editors show
// it.
func federationFaults() map[string]any {
	var names, docs []string
	for _, d := range federationtest.Catalogue() {
		names, docs = append(names, string(d.Fault)), append(docs, "The provider "+d.Doc+".")
	}
	return map[string]any{
		"enum": names, "enumDescriptions": docs,
		"description": "How the provider, or the browser that comes from it, misbehaves. Everything else about the answer is right, signatures included.",
	}
}
