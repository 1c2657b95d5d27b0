package flowtest

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// Player steps through a run of a flow. It makes each request when it is asked for, while a Runner
// makes those of a scenario. A walk is determined by its requests, so an earlier place is reached
// by making the requests up to there again.
type Player struct {
	environment *environment
	run         *scenarioRun
}

// Play makes the requests of the first scenario of the file, without comparing the replies. The
// error reports a flow that does not compile, or a request that cannot be made.
func (f *File) Play(ctx context.Context) (*Player, error) {
	w, err := newEnvironment(f)
	if err != nil {
		return nil, err
	}
	p := &Player{environment: w}
	return p, p.replay(ctx, namesOf(f.Scenarios[0].Steps, func(x Exchange) Send { return x.Send }))
}

// replay begins the run again, and makes the requests.
func (p *Player) replay(ctx context.Context, sends []Send) (err error) {
	if p.run, err = p.environment.begin(ctx, 0); err != nil {
		return err
	}
	p.run.verbose, p.run.scenario.Steps = true, nil
	for _, s := range sends {
		if err := p.Send(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// Send makes the next request. The first one starts the run. Codes among the inputs that the run has
// mailed or shown are replaced by references to them, which mean the same in another run. The error
// reports a request that cannot be made; the player is of no further use then.
func (p *Player) Send(ctx context.Context, s Send) error {
	s = p.run.recognizeCodes(s)
	r := p.run.exchange(ctx, len(p.run.scenario.Steps), s)
	if r.failure != nil {
		return r.failure
	}
	p.run.replies = append(p.run.replies, r)
	p.run.scenario.Steps = append(p.run.scenario.Steps, Exchange{Send: s})
	return nil
}

// lastStep returns the step that the client received last, nil if there is none.
func (p *scenarioRun) lastStep() *schemas.Step {
	if len(p.steps) == 0 {
		return nil
	}
	return p.steps[len(p.steps)-1]
}

// recognizeCodes replaces codes that a user has read in a mail, in an app or on the page.
func (p *scenarioRun) recognizeCodes(s Send) Send {
	last := p.lastStep()
	if last == nil || len(s.Inputs) == 0 {
		return s
	}
	inputs := map[string]string{}
	for _, in := range last.Data.Inputs {
		inputs[in.Identifier] = string(in.Type)
	}
	rest := map[string]string{}
	for name, value := range s.Inputs {
		_, asked := inputs[name]
		if !asked || !p.recognizeCode(&s, name, value) {
			rest[name] = value
		}
	}
	s.Inputs = rest
	return s
}

// recognizeCode replaces the value of an input, and reports whether it did.
func (p *scenarioRun) recognizeCode(s *Send, name, value string) bool {
	switch name {
	case "code":
		for _, which := range []string{"newest", "previous"} {
			if code, err := p.mailedCode(which); err == nil && code == value && code != "" {
				s.MailedCode = which
				return true
			}
		}
	case "recoveryCode":
		for n := 1; ; n++ {
			code, err := p.recoveryCode(n)
			if err != nil {
				return false
			}
			if code == value {
				s.RecoveryCode = n
				return true
			}
		}
	default:
		return p.recognizeAppCode(s, name, value)
	}
	return false
}

// recognizeAppCode replaces the code that an authenticator app shows now.
func (p *scenarioRun) recognizeAppCode(s *Send, name, value string) bool {
	for device, key := range p.codes {
		if code, err := key.Code(p.now.Add(duration(s.After))); err == nil && code == value {
			s.TOTP = &Code{Device: device}
			if name != "otp" {
				s.TOTP.Input = name
			}
			return true
		}
	}
	return false
}
