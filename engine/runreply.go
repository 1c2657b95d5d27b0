package engine

import (
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// askQuestion stores the question that the run now waits for.
func (r *run) askQuestion(d *Decision, token string) {
	r.state.Ask, r.state.NodeState, r.state.Token = d.Ask, d.NodeState, token
	r.addFieldErrors()
	if d.Subject != nil {
		r.state.Subject = *d.Subject
	}
	r.rec.Node = r.graph.nodes[r.at].id
}

// addFieldErrors copies the errors of a notice to the inputs that the question asks for: the
// error "name is taken" is shown next to the field.
func (r *run) addFieldErrors() {
	ask := r.state.Ask
	if r.state.Notice == nil {
		return
	}
	for _, p := range r.state.Notice.Errors {
		if slices.ContainsFunc(ask.Inputs, func(in schemas.Input) bool { return in.Identifier == p.Path }) {
			ask.FieldErrors = append(ask.FieldErrors, schemas.FieldError{Identifier: p.Path, Message: p.Message})
		}
	}
}

// complete ends the run successfully.
func (r *run) complete(result *Result) {
	r.storeDraft()
	r.rec.Status, r.result = schemas.Complete, result
}

// failRun ends the run and discards all decisions of this step.
func (r *run) failRun(err *schemas.Error) {
	r.rec.Status, r.failure, r.changes, r.result = schemas.Failed, err, nil, nil
}

// refuseRequest ends the run with a reply. Only the changes of the refusal take effect.
func (r *run) refuseRequest(to *Refusal) {
	r.failRun(to.Error)
	for _, change := range to.Changes {
		r.changes = append(r.changes, r.locateFailure(change))
	}
	r.result = &Result{RedirectURL: to.RedirectURL}
}

// newStep returns the reply to the client.
func (r *run) newStep() *schemas.Step {
	s := &schemas.Step{ExecutionID: r.rec.ID, FlowStatus: r.rec.Status, Concealed: r.concealed}
	reported := maps.Clone(r.state.Data)
	switch r.rec.Status {
	case schemas.Complete:
		s.Assertion, s.Data.RedirectURL = r.result.Assertion, r.result.RedirectURL
		s.User = r.result.User
		if s.Assertion != "" || s.User != nil {
			s.SignedIn = r.state.Subject.UserID
			if auth := r.state.Auth; auth != nil {
				s.Strength = schemas.BrowserStrength{ACR: auth.ACR, Secrets: schemas.SecretsOf(auth.Proofs)}
			}
		}
	case schemas.Failed:
		s.Error, reported = r.failure, nil
		if r.result != nil {
			s.Data.RedirectURL = r.result.RedirectURL
		}
	default:
		r.writeQuestion(s)
		s.Error = r.state.Notice
		if reported == nil {
			reported = map[string]string{}
		}
		maps.Copy(reported, r.state.Ask.Data)
	}
	if len(reported) > 0 {
		s.Data.AdditionalData = reported
	}
	if s.Error != nil {
		s.FailureReason = s.Error.Description.DefaultValue
	}
	return s
}

// writeQuestion writes the question that the run waits for.
func (r *run) writeQuestion(s *schemas.Step) {
	ask := r.state.Ask
	s.Type = schemas.View
	if ask.RedirectURL != "" {
		s.Type = schemas.Redirection
	}
	s.StepID, s.ChallengeToken = r.rec.Node, r.state.Token
	s.Data = schemas.StepData{
		Inputs: ask.Inputs, Actions: ask.Actions, FieldErrors: ask.FieldErrors, RedirectURL: ask.RedirectURL,
	}
	if verbose := r.request.Verbose; verbose == nil && r.state.Verbose || verbose != nil && *verbose {
		s.Data.Meta = &schemas.Meta{Components: ask.Components}
		if ask.Components == nil {
			s.Data.Meta.Components = []schemas.Component{} // clients iterate over the list, so it is never null
		}
	}
}
