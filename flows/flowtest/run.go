package flowtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// Report is what came of a scenario file.
type Report struct {
	Results []Result
	// Missed lists the outcomes no scenario reached, as "node outcome", and
	// nodes that end a run and were not reached, as "node".
	Missed []string
}

// Result is what came of one scenario. Failure is empty if it passed, else it
// says at which step what was expected and what came.
type Result struct {
	Name    string
	Failure string
}

// Run runs every scenario of the file. The error is for a flow that does not
// compile or a file that makes no sense; failed scenarios are in the report.
func (f *File) Run(ctx context.Context) (*Report, error) {
	w, err := newWorld(f)
	if err != nil {
		return nil, err
	}
	reached := map[string]bool{}
	w.engine.Observe = func(_ *engine.Graph, node, outcome string) { reached[node+" "+outcome] = true }
	report := &Report{}
	for _, s := range f.Scenarios {
		if err := w.reset(ctx, s); err != nil {
			return nil, err
		}
		r := Result{Name: s.Name}
		if err := (&playing{world: w, scenario: s}).play(ctx); err != nil {
			r.Failure = err.Error()
		}
		report.Results = append(report.Results, r)
	}
	report.Missed = missed(w.graph, reached)
	return report, nil
}

// missed lists the outcomes, and the ends, that were not reached.
func missed(g *engine.Graph, reached map[string]bool) []string {
	var list []string
	for _, n := range g.Nodes() {
		for _, e := range n.Edges {
			if !reached[n.ID+" "+e.Outcome] {
				list = append(list, n.ID+" "+e.Outcome)
			}
		}
		if len(n.Edges) == 0 && !reached[n.ID+" "] {
			list = append(list, n.ID)
		}
	}
	return list
}

// playing is one scenario while it is played.
type playing struct {
	*world
	scenario Scenario
	browser  *browser
	steps    []*schemas.Step // those the client got, oldest first
}

// play runs the scenario to its first step that is not as expected.
func (p *playing) play(ctx context.Context) error {
	var err error
	if p.browser, err = p.open(ctx, p.scenario); err != nil {
		return err
	}
	for i, exchange := range p.scenario.Steps {
		before := len(p.Events())
		step, err := p.request(ctx, i, exchange.Send)
		var refused *schemas.Error
		if err != nil && !errors.As(err, &refused) {
			return fmt.Errorf("step %d%s", i+1, lines(differences{err.Error()}))
		}
		if err == nil {
			p.steps = append(p.steps, step)
		}
		events := p.Events()[before:]
		differences := exchange.Expect.compare(step, refused, events)
		exchange.Expect.compareStore(&differences, len(p.users), len(p.sessions))
		exchange.Expect.compareRefusal(&differences, p.requests[requestID].Refusal)
		if len(differences) > 0 {
			return fmt.Errorf("step %d%s", i+1, lines(differences))
		}
	}
	return nil
}

// request starts the run, or answers its last step.
func (p *playing) request(ctx context.Context, i int, send Send) (*schemas.Step, error) {
	wait, err := send.wait()
	if err != nil {
		return nil, err
	}
	p.now = p.now.Add(wait)
	req := p.browser.request(p.now)
	if i == 0 {
		return p.engine.Start(ctx, p.graph, &p.app, p.scenario.Start, req)
	}
	last, err := p.step(0)
	if err != nil {
		return nil, err
	}
	reply := engine.Reply{ExecutionID: last.ExecutionID, Action: send.Action, Inputs: map[string]string{}, ChallengeToken: last.ChallengeToken}
	for k, v := range send.Inputs {
		reply.Inputs[k] = v
	}
	if send.Stale {
		earlier, err := p.step(1)
		if err != nil {
			return nil, err
		}
		reply.ChallengeToken = earlier.ChallengeToken
	}
	if send.Passkey != nil {
		if err := p.answer(*send.Passkey, reply.Inputs); err != nil {
			return nil, fmt.Errorf("the device %s: %w", send.Passkey.Device, err)
		}
	}
	return p.engine.Continue(ctx, reply, req)
}

// step returns the nth step before the last.
func (p *playing) step(n int) (*schemas.Step, error) {
	if len(p.steps) <= n {
		return nil, errors.New("there is no earlier step to answer")
	}
	return p.steps[len(p.steps)-1-n], nil
}

// answer lets the device answer the ceremony a step offered, into inputs.
func (p *playing) answer(c Ceremony, inputs map[string]string) error {
	n := 0
	if c.Old {
		n = 1
	}
	step, err := p.step(n)
	if err != nil {
		return err
	}
	var hows []passkeytest.How
	if c.Fault != "" {
		hows = append(hows, passkeytest.Fault(c.Fault))
	}
	device, from := p.device(c.Device), cmp.Or(c.Origin, origin)
	data := step.Data.AdditionalData
	if options := data["passkeyCreationOptions"]; options != "" {
		a, err := device.Register(json.RawMessage(options), from, hows...)
		if err != nil {
			return err
		}
		inputs["credentialId"], inputs["clientDataJSON"], inputs["attestationObject"] = a.ID, a.ClientDataJSON, a.AttestationObject
		if c.Name != "" {
			inputs["credentialName"] = c.Name
		}
		return nil
	}
	options := data["passkeyChallenge"]
	if options == "" {
		return fmt.Errorf("the step %q offers no ceremony", step.StepID)
	}
	a, err := device.Authenticate(json.RawMessage(options), from, hows...)
	if err != nil {
		return err
	}
	inputs["credentialId"], inputs["clientDataJSON"], inputs["authenticatorData"] = a.ID, a.ClientDataJSON, a.AuthenticatorData
	inputs["signature"], inputs["userHandle"] = a.Signature, a.UserHandle
	return nil
}
