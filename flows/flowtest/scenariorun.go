package flowtest

import (
	"context"
	"errors"
	"maps"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// scenarioRun is one scenario in progress.
type scenarioRun struct {
	*environment
	scenario   Scenario
	number     int // index of the scenario
	browser    *browser
	steps      []*schemas.Step              // received by the client, oldest first
	replies    []*reply                     // to each step
	answers    map[string]map[string]string // last answer of each device
	isSignedIn map[string]string            // last answer from a provider
	left       []exit                       // nodes that the run left, with their outcomes
	transcript []string
	normalizer *normalizer
}

// play runs the scenario up to the first step that is not as expected, if any.
func (p *scenarioRun) play(ctx context.Context) *Failure {
	p.answers, p.normalizer = map[string]map[string]string{}, newNormalizer(p.file.Users)
	for j, x := range p.scenario.Steps {
		p.transcript = append(p.transcript, x.Send.describe(j == 0, p.scenario.Start))
		r, err := p.exchange(ctx, j, x.Send)
		if err != nil {
			p.transcript = append(p.transcript, p.normalizer.normalizeLines("  "+err.Error())...)
			return p.failure(j, differences{{Member: "", Got: err.Error()}})
		}
		p.transcript = append(p.transcript, p.normalizer.normalizeLines(r.describe()...)...)
		d := x.Expect.compare(r.members)
		p.replies = append(p.replies, r)
		if like := x.Expect.like(); like > 0 {
			compareLike(&d, p.replies[like-1], r)
		}
		if len(d) > 0 {
			return p.failure(j, d)
		}
	}
	return nil
}

// exchange sends one request and returns the reply. The error reports a request that could
// not be made, or a defect of the product.
func (p *scenarioRun) exchange(ctx context.Context, j int, send Send) (*reply, error) {
	since, left := p.counts(), len(p.left)
	step, err := p.request(ctx, j, send)
	r := &reply{}
	switch {
	case err == nil:
		r.step = step
		p.steps = append(p.steps, step)
	case reason(err) != "":
		r.declined = err
	case !errors.As(err, &r.refused):
		return nil, err
	}
	r.left = p.left[left:]
	p.setMembers(r, since)
	return r, nil
}

// request starts the run, or answers its last step.
func (p *scenarioRun) request(ctx context.Context, j int, send Send) (*schemas.Step, error) {
	wait, err := duration(send.After)
	if err != nil {
		return nil, err
	}
	p.now = p.now.Add(wait)
	for name, subjects := range send.Meanwhile {
		if err := p.Apply(ctx, p.linked(userID(name), subjects)); err != nil {
			return nil, err
		}
	}
	req := p.browser.request(p.now)
	if send.Elsewhere {
		req = (&browser{}).request(p.now)
	}
	if j == 0 {
		return p.engine.Start(ctx, p.graph, &p.app, p.scenario.Start, req)
	}
	last, err := p.step(0)
	if err != nil {
		return nil, err
	}
	token := last.ChallengeToken
	if send.Elsewhere {
		token = ""
	}
	if send.Resume {
		return p.engine.Resume(ctx, last.ExecutionID, token, req)
	}
	answer, err := p.answer(last, send)
	if err != nil {
		return nil, err
	}
	if send.Elsewhere {
		answer.ChallengeToken = ""
	}
	return p.engine.Continue(ctx, *answer, req)
}

// answer returns the client's answer to a step.
func (p *scenarioRun) answer(step *schemas.Step, send Send) (*engine.Reply, error) {
	r := &engine.Reply{ExecutionID: step.ExecutionID, Action: send.Action, Inputs: map[string]string{}, ChallengeToken: step.ChallengeToken}
	if send.Stale {
		earlier, err := p.step(1)
		if err != nil {
			return nil, err
		}
		r.ChallengeToken = earlier.ChallengeToken
	}
	if send.Passkey != nil {
		inputs, err := p.ceremony(*send.Passkey)
		if err != nil {
			return nil, err
		}
		r.Inputs = inputs
	}
	if send.Federated != nil {
		inputs, err := p.signInAtProvider(*send.Federated)
		if err != nil {
			return nil, err
		}
		maps.Copy(r.Inputs, inputs)
	}
	if err := p.enterCodes(send, r.Inputs); err != nil {
		return nil, err
	}
	maps.Copy(r.Inputs, send.Inputs)
	return r, nil
}

// step returns the nth step before the last.
func (p *scenarioRun) step(n int) (*schemas.Step, error) {
	if len(p.steps) <= n {
		return nil, errors.New("there is no earlier step to answer")
	}
	return p.steps[len(p.steps)-1-n], nil
}
