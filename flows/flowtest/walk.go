package flowtest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Walk describes a played run.
type Walk struct {
	// Turns are the requests with their replies.
	Turns []Turn `json:"turns"`
	// Step is the last step that the client received, with its components.
	Step *schemas.Step `json:"step,omitempty"`
	// Facts are what the run has established so far; a run that is over has none.
	Facts []FactText `json:"facts"`
	// Mails contains all sent mails, oldest first.
	Mails []schemas.Mail `json:"mails"`
	// AppCodes are the codes that authenticator apps show now, by device.
	AppCodes map[string]string `json:"appCodes"`
	// User and Claims are those of the assertion of a completed run.
	User   string         `json:"user,omitempty"`
	Claims map[string]any `json:"claims,omitempty"`
	// Provider is the identity provider to which the last step redirects.
	Provider string `json:"provider,omitempty"`
	// Now is the simulated time.
	Now time.Time `json:"now"`
}

// FactText is a fact of the engine, and its description.
type FactText struct {
	Fact string `json:"fact"`
	Text string `json:"text"`
}

// Turn is a request and its reply.
type Turn struct {
	Send Send `json:"send"`
	// Status and Step describe the step of the reply. Both are empty if there is none.
	Status string `json:"status,omitempty"`
	Step   string `json:"step,omitempty"`
	// Error is the error of the step, Refused that of a reply without one.
	Error   *schemas.Error `json:"error,omitempty"`
	Refused *schemas.Error `json:"refused,omitempty"`
	// Check is the check of a passkey's answer that failed.
	Check string `json:"check,omitempty"`
	// Declined is why a device did not answer, so that nothing was sent.
	Declined string `json:"declined,omitempty"`
	// Left lists the nodes that the run left, with their outcomes.
	Left []Exit `json:"left"`
	// Events are the actions of the audit events, Mails the recipients of mails, and Requests the
	// requests to services.
	Events   []string `json:"events"`
	Mails    []string `json:"mails"`
	Requests []string `json:"requests"`
}

// Walk describes the run so far.
func (p *Player) Walk(ctx context.Context) *Walk {
	run := p.run
	w := &Walk{Step: run.lastStep(), Facts: []FactText{}, Mails: slices.Clone(run.Mails()), AppCodes: map[string]string{}, Now: run.now}
	w.Turns = make([]Turn, len(run.replies))
	for i, r := range run.replies {
		w.Turns[i] = describeTurn(run.scenario.Steps[i].Send, r)
	}
	for device, key := range run.codes {
		w.AppCodes[device], _ = key.Code(run.now) // a key that cannot be used shows no code
	}
	if w.Mails == nil {
		w.Mails = []schemas.Mail{}
	}
	if w.Step == nil {
		return w
	}
	w.Provider = providerOf(w.Step)
	for _, f := range run.facts(ctx, w.Step) {
		w.Facts = append(w.Facts, FactText{string(f), f.Describe()})
	}
	members := map[string]any{}
	run.addAssertion(members, w.Step.Assertion)
	if claims, ok := members["claims"].(map[string]any); ok {
		w.User, w.Claims = members["user"].(string), claims
	}
	return w
}

// facts returns the facts of the run of a step.
func (p *scenarioRun) facts(ctx context.Context, step *schemas.Step) []engine.Fact {
	r, err := p.Run(ctx, step.ExecutionID)
	if err != nil {
		return nil // a run that ended at once is not stored
	}
	return engine.FactsOf(r)
}

func describeTurn(s Send, r *reply) Turn {
	step := cmp.Or(r.step, &schemas.Step{})
	t := Turn{
		Send: s, Status: string(step.FlowStatus), Step: step.StepID, Error: step.Error, Refused: r.refused, Declined: reason(r.declined),
		Left: append([]Exit{}, r.left...), Events: []string{}, Mails: []string{}, Requests: []string{},
	}
	t.Check, _ = r.members["check"].(string)
	for name, list := range map[string]*[]string{"events": &t.Events, "mails": &t.Mails, "requests": &t.Requests} {
		items, _ := r.members[name].([]any)
		*list = titles(items)
	}
	return t
}

// Sends returns the requests of the run so far, as Play makes them.
func (p *Player) Sends() []Send {
	return namesOf(p.run.scenario.Steps, func(x Exchange) Send { return x.Send })
}

// reached returns the outcomes that the run has reached.
func (p *Player) reached() map[Exit]bool {
	return maps.Collect(func(yield func(Exit, bool) bool) {
		for _, at := range p.run.left {
			if !yield(at, true) {
				return
			}
		}
	})
}
