package flowtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// scenarioRun is one scenario in progress.
type scenarioRun struct {
	*environment
	number     int // index of the scenario
	browser    browser
	steps      []*schemas.Step              // received by the client, oldest first
	replies    []*reply                     // to each step
	answers    map[string]map[string]string // last answer of each device and of the provider
	left       []Exit                       // nodes that the run left, with their outcomes
	normalizer normalizer
	verbose    bool   // the client asks for the components of each step
	unmatched  string // the last input for whose pattern no value was found
}

// play runs the scenario up to the first step that is not as expected, if any.
func (p *scenarioRun) play(ctx context.Context) *Failure {
	for j, x := range p.scenario.Steps {
		r := p.exchange(ctx, j, x.Send)
		p.replies = append(p.replies, r)
		if r.failure != nil {
			return p.failure(j, differences{{Got: r.failure.Error()}})
		}
		d := x.Expect.compare(r.members)
		if like := x.Expect.like(); like > 0 {
			compareLike(&d, p.replies[like-1], r)
		}
		if len(d) > 0 {
			return p.failure(j, d)
		}
	}
	return nil
}

// transcript describes the requests and replies.
func (p *scenarioRun) transcript() []string {
	var lines []string
	for j, r := range p.replies {
		lines = append(lines, p.scenario.Steps[j].Send.describe(j == 0, p.scenario.Start))
		lines = append(lines, r.describe()...)
	}
	return strings.Split(p.normalizer.text(strings.Join(lines, "\n")), "\n")
}

// exchange sends one request and returns the reply.
func (p *scenarioRun) exchange(ctx context.Context, j int, send Send) *reply {
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
		r.failure = err
		return r
	}
	r.left = p.left[left:]
	p.setMembers(r, since)
	return r
}

// request starts the run, or answers its last step.
func (p *scenarioRun) request(ctx context.Context, j int, send Send) (*schemas.Step, error) {
	p.now = p.now.Add(duration(send.After))
	for name, subjects := range send.Meanwhile {
		if err := p.Apply(ctx, p.linked(userID(name), subjects)); err != nil {
			return nil, err
		}
	}
	from := p.browser
	p.elsewhere = send.Elsewhere
	if send.Elsewhere {
		from = browser{}
	}
	req := from.request(p.now)
	req.Verbose, req.Language = &p.verbose, p.file.language
	if j == 0 {
		return p.engine.Start(ctx, p.graph, &p.app, p.scenario.Start, req)
	}
	step, err := p.step(send.Stale)
	if err != nil {
		return nil, err
	}
	token := step.ChallengeToken
	if send.Elsewhere {
		token = ""
	}
	if send.Resume {
		return p.engine.Resume(ctx, step.ExecutionID, token, req)
	}
	inputs, err := p.inputs(send)
	if err != nil {
		return nil, err
	}
	return p.engine.Continue(ctx, engine.Reply{ExecutionID: step.ExecutionID, Action: send.Action, Inputs: inputs, ChallengeToken: token}, req)
}

// inputs returns the inputs of an answer to the last step.
func (p *scenarioRun) inputs(send Send) (map[string]string, error) {
	var inputs map[string]string
	var err error
	all := map[string]string{}
	if send.Passkey != nil {
		inputs, err = p.ceremony(*send.Passkey)
		maps.Copy(all, inputs)
	}
	if err == nil && send.Federated != nil {
		inputs, err = p.signInAtProvider(*send.Federated)
		maps.Copy(all, inputs)
	}
	if err == nil && send.RecoveryCode > 0 {
		all["recoveryCode"], err = p.recoveryCode(send.RecoveryCode)
	}
	if err == nil && send.MailedCode != "" {
		all["code"], err = p.mailedCode(send.MailedCode)
	}
	if send.Invitation != "" {
		all["invitation"] = invitationToken(send.Invitation)
	}
	if err == nil && send.TOTP != nil {
		all[cmp.Or(send.TOTP.Input, "otp")], err = p.totpCode(*send.TOTP)
	}
	maps.Copy(all, send.Inputs)
	return all, err
}

// step returns the last step, or the one before.
func (p *scenarioRun) step(old bool) (*schemas.Step, error) {
	n := 1
	if old {
		n = 2
	}
	if len(p.steps) < n {
		return nil, errors.New("there is no earlier step to answer")
	}
	return p.steps[len(p.steps)-n], nil
}

// answerOf returns a sender's answer to the last step or the one before, or its last answer
// again.
func (p *scenarioRun) answerOf(sender string, replay, old bool, answer func(*schemas.Step) (map[string]string, error)) (map[string]string, error) {
	if replay {
		if p.answers[sender] == nil {
			return nil, fmt.Errorf("%s has no earlier answer to send again", sender)
		}
		return p.answers[sender], nil
	}
	step, err := p.step(old)
	if err != nil {
		return nil, err
	}
	inputs, err := answer(step)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sender, err)
	}
	p.answers[sender] = inputs
	return inputs, nil
}
