package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// state is what a run keeps between two steps. Only the engine reads it.
type state struct {
	Facts       []Fact                    `json:"facts,omitempty"`
	Inputs      map[string]string         `json:"inputs,omitempty"`
	Replies     map[string]map[string]any `json:"replies,omitempty"`
	Subject     Subject                   `json:"subject,omitzero"`
	Auth        *Authentication           `json:"auth,omitempty"`
	NodeState   json.RawMessage           `json:"keep,omitempty"`
	Ask         *Ask                      `json:"ask,omitempty"`
	Notice      *schemas.Error            `json:"notice,omitempty"`
	Data        map[string]string         `json:"tell,omitempty"`
	Token       string                    `json:"token"`
	Verbose     bool                      `json:"verbose,omitempty"`
	Failures    int                       `json:"failures,omitempty"`
	AuthRequest *authBinding              `json:"bound,omitempty"`
	Identity    *Identity                 `json:"held,omitempty"`
	Owner       *runOwner                 `json:"bringer,omitempty"`
	Format      int                       `json:"format,omitempty"`
}

// stateFormat is the newest format of a state. In 0 the methods and the class of an
// authentication said more than was proved: see schemas.RevaluedAssurance.
const stateFormat = 1

// run is a run while one step of it is being decided. It is used by one
// goroutine and thrown away; what it decided takes effect only by its commit.
type run struct {
	rec   schemas.Run
	state state
	facts Facts
	graph *Graph
	at    int // index of the node the run is at

	app     *schemas.Application
	request Request
	now     time.Time
	secrets map[string]string // secret inputs of this step

	draftStored bool // the draft is among the changes
	changes     []schemas.Change
	result      *Result
	failure     *schemas.Error
}

// newRun is a run that stands before the entry.
func newRun(id string, g *Graph, app *schemas.Application, now time.Time) *run {
	return &run{
		rec: schemas.Run{
			ID: id, Revision: 0, Status: schemas.Incomplete,
			FlowID: g.flow.ID, FlowVersion: g.flow.ActiveVersion,
			ApplicationID: app.ID, CreatedAt: now,
		},
		facts: NewFacts(), graph: g, app: app, now: now,
	}
}

// loadRun is a kept run, at the node that asked.
func loadRun(rec *schemas.Run, g *Graph, app *schemas.Application, now time.Time) (*run, error) {
	at, found := g.find(rec.Node)
	r := &run{rec: *rec, graph: g, app: app, now: now, at: at}
	if err := json.Unmarshal(rec.State, &r.state); err != nil {
		return nil, fmt.Errorf("the state of run %s: %w", rec.Digest(), err)
	}
	if !found || r.state.Ask == nil {
		return nil, fmt.Errorf("run %s stands at node %q, which asked nothing", rec.Digest(), rec.Node)
	}
	r.facts = NewFacts(r.state.Facts...)
	r.revalueAssurance()
	return r, nil
}

// revalueAssurance takes back what a run of an earlier release said that its user proved, and
// did not.
func (r *run) revalueAssurance() {
	auth := r.state.Auth
	if r.state.Format >= stateFormat || auth == nil {
		return
	}
	auth.ACR, auth.Methods = schemas.RevaluedAssurance(auth.ACR, auth.Methods)
	for f, is := r.unfoundedFact(); is; f, is = r.unfoundedFact() {
		delete(r.facts, f)
	}
}

// overTTL is how long a run that is over is kept: for answers to its last question that
// are under way. Nobody can continue it, so it only takes up room.
const overTTL = time.Minute

// newRecord is the run as it shall be kept, at its next revision.
func (r *run) newRecord(ttl time.Duration) (*schemas.Run, error) {
	rec := r.rec
	rec.Revision++
	rec.UserID = r.state.Subject.UserID
	rec.UpdatedAt = r.now
	rec.ExpiresAt = r.now.Add(ttl)
	rec.State = nil // a run that is over keeps no secrets
	if rec.Status != schemas.Incomplete {
		rec.ExpiresAt = r.now.Add(min(ttl, overTTL))
		return &rec, nil
	}
	kept := r.state
	kept.Facts, kept.Format = r.facts.List(), stateFormat
	if r.draftStored {
		kept.Subject.Draft = nil
	}
	var err error
	rec.State, err = json.Marshal(kept)
	return &rec, err
}

// changesToCommit are the changes of the step, with their precondition: what an
// authenticated run does rests on credentials that may be changed or removed at
// any time. A run that failed does nothing that rests on them.
func (r *run) changesToCommit() []schemas.Change {
	auth := r.state.Auth
	draft := r.state.Subject.Draft != nil && !r.draftStored // nobody else knows the user yet
	if auth == nil || draft || r.rec.Status == schemas.Failed {
		return r.changes
	}
	return append(slices.Clip(r.changes), schemas.RequireProofs{
		UserID: r.state.Subject.UserID, Proofs: auth.Proofs, At: r.now,
	})
}

// newVisit is what the executor of the current node sees.
func (r *run) newVisit(answer *Answer) *Visit {
	v := &Visit{
		ExecutionID: r.rec.ID, Revision: r.rec.Revision, FlowType: r.graph.flow.FlowType, Application: r.app,
		Request: r.request, Now: r.now, Answer: answer, NodeState: r.state.NodeState,
		Inputs: r.inputs(), Replies: r.state.Replies, Subject: r.state.Subject, Facts: r.facts, Pending: r.changes, Authentication: r.state.Auth,
		Identity: r.state.Identity,
	}
	if b := r.state.AuthRequest; b != nil {
		v.AuthRequestID, v.Login, v.LoginHint = b.ID, b.Login, b.LoginHint
	}
	return v
}

// inputs returns the values that the current node may read. It reads no secret but the
// one that it verifies or sets: a prompt asks for a password in the name of the service,
// and whoever wrote the flow must not get it, even if a check of the flow were wrong.
func (r *run) inputs() map[string]string {
	inputs := map[string]string{}
	for identifier, value := range r.state.Inputs {
		if !r.graph.inputs[identifier].Secret() {
			inputs[identifier] = value
		}
	}
	if user, ok := r.graph.nodes[r.at].exec.(SecretUser); ok {
		if value, collected := r.secrets[user.UsesSecret()]; collected {
			inputs[user.UsesSecret()] = value
		}
	}
	return inputs
}

// applyDecision notes what a decision says beside where to go.
func (r *run) applyDecision(d *Decision) {
	r.collectInputs(d)
	for k, v := range d.Data {
		if r.state.Data == nil {
			r.state.Data = map[string]string{}
		}
		r.state.Data[k] = v
	}
	if d.Notice != nil {
		r.state.Notice = d.Notice
	}
	if d.Failed {
		r.state.Failures++
		r.changes = append(r.changes, r.failedAttempt(d))
	}
	for _, change := range d.Changes {
		switch change.(type) {
		case schemas.RecordEvent, schemas.QueueDelivery: // a mail to somebody does not make them a user
		default:
			r.storeDraft()
		}
		r.changes = append(r.changes, change)
	}
}

// failedAttempt is the event of an attempt to prove something that failed. Whom it
// was about is said if that is certain: a name that somebody typed is not.
func (r *run) failedAttempt(d *Decision) schemas.RecordEvent {
	n := &r.graph.nodes[r.at]
	e := schemas.Event{
		ID: schemas.NewID(), At: r.now, Action: "attempt.failed",
		ApplicationID: r.rec.ApplicationID, ExecutionDigest: r.rec.Digest(), TraceID: r.request.TraceID,
		Detail: map[string]string{"node": n.id, "kind": n.kind.Name},
	}
	if d.Notice != nil {
		e.Detail["error"] = d.Notice.Code
	}
	if r.state.Subject.Draft == nil {
		e.UserID = r.state.Subject.UserID
	}
	return schemas.RecordEvent{Event: e}
}

// recordRefusal records that a user authenticated who is disabled or locked.
func (r *run) recordRefusal(err *schemas.Error) {
	if err.Code != schemas.CodeAccountDisabled && err.Code != schemas.CodeAccountLocked {
		return
	}
	r.changes = []schemas.Change{schemas.RecordEvent{Event: schemas.Event{
		ID: schemas.NewID(), At: r.now, Action: "user.sign_in_refused", UserID: r.state.Subject.UserID,
		ApplicationID: r.rec.ApplicationID, ExecutionDigest: r.rec.Digest(), TraceID: r.request.TraceID,
		Detail: map[string]string{"reason": err.Code},
	}}}
}

// collectInputs sets and drops inputs. Secret ones never enter the state.
func (r *run) collectInputs(d *Decision) {
	for _, k := range d.Drop {
		delete(r.state.Inputs, k)
		delete(r.secrets, k)
	}
	for k, v := range d.Set {
		if r.graph.inputs[k].Secret() {
			if r.secrets == nil {
				r.secrets = map[string]string{}
			}
			r.secrets[k] = v
			continue
		}
		if r.state.Inputs == nil {
			r.state.Inputs = map[string]string{}
		}
		r.state.Inputs[k] = v
	}
}

// storeDraft puts the user that this run creates before what concerns it.
func (r *run) storeDraft() {
	draft := r.state.Subject.Draft
	if draft == nil || r.draftStored {
		return
	}
	r.draftStored = true
	r.changes = append(r.changes, schemas.CreateUser{User: *draft}, schemas.RecordEvent{Event: schemas.Event{
		ID: schemas.NewID(), At: r.now, Action: "user.created", UserID: draft.ID,
		ApplicationID: r.rec.ApplicationID, ExecutionDigest: r.rec.Digest(), TraceID: r.request.TraceID,
	}})
}

// followEdge takes the run along an edge, and makes sure that the decision keeps
// what the outcome promises: the proofs rest on it.
func (r *run) followEdge(e edge, d *Decision) error {
	node := r.graph.nodes[r.at].id
	claimed := slices.Contains(e.Withdraws, r.state.Subject.Input) && !r.facts.Has(Own)
	if e.NewSubject || claimed {
		r.state.Subject, r.state.Auth, r.draftStored = Subject{}, nil, false
	}
	r.facts = r.facts.after(e.Outcome)
	if d.Subject != nil {
		r.state.Subject = *d.Subject
	}
	if d.Identity != nil {
		r.state.Identity = d.Identity
	}
	r.claimOwnership(d)
	if err := r.recordAuthentication(d); err != nil {
		return fmt.Errorf("node %q left by %q: %w", node, e.Name, err)
	}
	if r.facts.Has(User) && !r.state.Subject.Known() {
		return fmt.Errorf("node %q left by %q, which promises a user, without one", node, e.Name)
	}
	if r.facts.Has(Authenticated) != (r.state.Auth != nil) {
		return fmt.Errorf("node %q left by %q: it promises authenticated=%v, and the run says otherwise", node, e.Name, r.facts.Has(Authenticated))
	}
	if r.facts.Has(Federated) && r.state.Identity == nil {
		return fmt.Errorf("node %q left by %q, which promises an identity, without one", node, e.Name)
	}
	if f, ok := r.unfoundedFact(); ok {
		return fmt.Errorf("node %q left by %q, which promises %s, and the run has none", node, e.Name, factNames([]Fact{f}))
	}
	if err := r.keepReplies(d); err != nil {
		return fmt.Errorf("node %q left by %q: %w", node, e.Name, err)
	}
	r.state.NodeState, r.state.Ask = nil, nil
	r.at = e.target
	return nil
}

// unfoundedFact returns a fact that is not true of how the run's user authenticated.
// What flows guarantee rests on these.
func (r *run) unfoundedFact() (Fact, bool) {
	auth := r.state.Auth
	if auth == nil {
		auth = &Authentication{}
	}
	for f := range r.facts {
		if class, ok := f.class(); ok && !schemas.Satisfies(auth.ACR, class) {
			return f, true
		}
		if method, ok := f.method(); ok && !slices.Contains(auth.Methods, method) {
			return f, true
		}
	}
	return "", false
}

// recordAuthentication notes what the decision says of how the subject authenticated.
func (r *run) recordAuthentication(d *Decision) error {
	if len(d.Methods) > 0 && len(d.Proofs) == 0 {
		return errors.New("it authenticates, and does not say by which credential")
	}
	if r.facts.Has(Authenticated) && len(d.Methods) > 0 {
		r.authenticate(d)
	}
	if auth := r.state.Auth; auth != nil && len(d.Proofs) > 0 {
		auth.Proofs = schemas.MergeProofs(auth.Proofs, d.Proofs)
	}
	return nil
}

// authenticate adds to how the subject proved who they are. The time is that of
// the last proof, and never to come: the clock of the instance that began a
// session may be ahead.
func (r *run) authenticate(d *Decision) {
	auth := &Authentication{Time: r.now, ACR: d.ACR, Session: d.Session}
	if !d.At.IsZero() && d.At.Before(r.now) {
		auth.Time = d.At.UTC()
	}
	if before := r.state.Auth; before != nil {
		auth.Methods, auth.Proofs = slices.Clone(before.Methods), before.Proofs
		if before.Time.After(auth.Time) {
			auth.Time = before.Time
		}
		auth.Session = "" // it does not say what was proved beside it
		if auth.ACR == "" {
			auth.ACR = before.ACR
		}
	}
	for _, m := range d.Methods {
		if !slices.Contains(auth.Methods, m) {
			auth.Methods = append(auth.Methods, m)
		}
	}
	r.state.Auth = auth
}

// askQuestion notes the question the run now waits with.
func (r *run) askQuestion(d *Decision, token string) {
	r.state.Ask, r.state.NodeState, r.state.Token = d.Ask, d.NodeState, token
	r.addFieldErrors()
	if d.Subject != nil {
		r.state.Subject = *d.Subject
	}
	r.rec.Node = r.graph.nodes[r.at].id
}

// addFieldErrors tells a notice about inputs that the question asks for at these
// inputs too: a name that is taken belongs beside the field it was typed in.
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

// complete ends the run well.
func (r *run) complete(result *Result) {
	r.storeDraft()
	r.rec.Status, r.result = schemas.Complete, result
}

// failRun ends the run: nothing it decided in this step takes effect.
func (r *run) failRun(err *schemas.Error) {
	r.rec.Status, r.failure, r.changes, r.result = schemas.Failed, err, nil, nil
}

// refuseRequest ends the run with an answer: of this step nothing else takes effect.
func (r *run) refuseRequest(to *Refusal) {
	r.failRun(to.Error)
	r.changes, r.result = to.Changes, &Result{RedirectURL: to.RedirectURL}
}

// newStep is the reply to the client.
func (r *run) newStep() *schemas.Step {
	s := &schemas.Step{ExecutionID: r.rec.ID, FlowStatus: r.rec.Status}
	reported := maps.Clone(r.state.Data)
	switch r.rec.Status {
	case schemas.Complete:
		s.Assertion, s.Data.RedirectURL = r.result.Assertion, r.result.RedirectURL
		if s.Assertion != "" {
			s.SignedIn = r.state.Subject.UserID
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

// writeQuestion writes what the run waits with.
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
			s.Data.Meta.Components = []schemas.Component{} // a list, if an empty one: clients iterate
		}
	}
}
