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

// state is the stored state of a run between two steps. Only the engine reads it.
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

// stateFormat is the current format of a state. In format 0 the methods and the class of an
// authentication claimed more than was proved: see schemas.RevaluedAssurance.
const stateFormat = 1

// run is a run while one step is being decided. It is used by one goroutine and then dropped.
// Its decisions take effect only by its commit.
type run struct {
	rec   schemas.Run
	state state
	facts Facts
	graph *Graph
	at    int // index of the current node

	app     *schemas.Application
	request Request
	now     time.Time
	secrets map[string]string // secret inputs of this step

	draftStored bool // the draft is among the changes
	changes     []schemas.Change
	result      *Result
	failure     *schemas.Error
}

// newRun returns a run before its entry.
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

// loadRun restores a stored run at the node that asked.
func loadRun(rec *schemas.Run, g *Graph, app *schemas.Application, now time.Time) (*run, error) {
	at, found := g.find(rec.Node)
	r := &run{rec: *rec, graph: g, app: app, now: now, at: at}
	if err := json.Unmarshal(rec.State, &r.state); err != nil {
		return nil, fmt.Errorf("the state of run %s: %w", rec.Digest(), err)
	}
	if !found || r.state.Ask == nil {
		return nil, fmt.Errorf("run %s is at node %q, which has asked nothing", rec.Digest(), rec.Node)
	}
	r.facts = NewFacts(r.state.Facts...)
	r.revalueAssurance()
	return r, nil
}

// revalueAssurance removes authentication claims of an earlier release that were not proved.
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

// finishedTTL is how long a finished run is stored: for answers to its last question that are in
// flight. It cannot be continued.
const finishedTTL = time.Minute

// newRecord returns the run as it is stored, at its next revision.
func (r *run) newRecord(ttl time.Duration) (*schemas.Run, error) {
	rec := r.rec
	rec.Revision++
	rec.UserID = r.state.Subject.UserID
	rec.UpdatedAt = r.now
	rec.ExpiresAt = r.now.Add(ttl)
	rec.State = nil // a finished run stores no secrets
	if rec.Status != schemas.Incomplete {
		rec.ExpiresAt = r.now.Add(min(ttl, finishedTTL))
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

// changesToCommit returns the changes of the step with their precondition: an authenticated run
// rests on credentials that may be changed or removed at any time. A failed run has no changes
// that rest on them.
func (r *run) changesToCommit() []schemas.Change {
	auth := r.state.Auth
	draft := r.state.Subject.Draft != nil && !r.draftStored // no other run knows the user yet
	if auth == nil || draft || r.rec.Status == schemas.Failed {
		return r.changes
	}
	return append(slices.Clip(r.changes), schemas.RequireProofs{
		UserID: r.state.Subject.UserID, Proofs: auth.Proofs, At: r.now,
	})
}

// newVisit returns the run as the executor of the current node sees it.
func (r *run) newVisit(answer *Answer) *Visit {
	v := &Visit{
		ExecutionID: r.rec.ID, Revision: r.rec.Revision, FlowType: r.graph.flow.FlowType, Application: r.app,
		Request: r.request, Now: r.now, Answer: answer, NodeState: r.state.NodeState,
		Inputs: r.visibleInputs(), Replies: r.state.Replies, Subject: r.state.Subject, Facts: r.facts, Pending: r.changes, Authentication: r.state.Auth,
		Identity: r.state.Identity,
	}
	if b := r.state.AuthRequest; b != nil {
		v.AuthRequestID, v.Login, v.LoginHint = b.ID, b.Login, b.LoginHint
	}
	return v
}

// visibleInputs returns the values that the current node may read. The only secret among them is
// the one that the node verifies or sets. A prompt asks for a password on behalf of the service,
// and the author of the flow must not get it, even if a check of the flow were wrong.
func (r *run) visibleInputs() map[string]string {
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

// applyEffects applies everything in a decision but the next move.
func (r *run) applyEffects(d *Decision) {
	r.setInputs(d)
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
		case schemas.RecordEvent, schemas.QueueDelivery: // a mail to a person does not create a user
		default:
			r.storeDraft()
		}
		r.changes = append(r.changes, change)
	}
}

// failedAttempt returns the event of a failed attempt to prove something. It contains the user
// only if that is certain: a typed name is not.
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

// recordRefusal records the refusal of an authenticated user who is disabled or locked.
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

// setInputs sets and drops inputs. Secrets never enter the state.
func (r *run) setInputs(d *Decision) {
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

// storeDraft adds the creation of the run's new user before the changes that concern it.
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

// followEdge moves the run along an edge and checks that the decision fulfills what the outcome
// declares: the proofs depend on it.
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
	if err := r.updateReplies(d); err != nil {
		return fmt.Errorf("node %q left by %q: %w", node, e.Name, err)
	}
	r.state.NodeState, r.state.Ask = nil, nil
	r.at = e.target
	return nil
}

// unfoundedFact returns a fact that is not true of the user's authentication. The guarantees of
// flows depend on these facts.
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

// recordAuthentication records the authentication in a decision.
func (r *run) recordAuthentication(d *Decision) error {
	if len(d.Methods) > 0 && len(d.Proofs) == 0 {
		return errors.New("it authenticates without naming a credential")
	}
	if r.facts.Has(Authenticated) && len(d.Methods) > 0 {
		r.authenticate(d)
	}
	if auth := r.state.Auth; auth != nil && len(d.Proofs) > 0 {
		auth.Proofs = schemas.MergeProofs(auth.Proofs, d.Proofs)
	}
	return nil
}

// authenticate adds to the subject's authentication. Its time is that of the last proof and
// never in the future: the clock of the instance that created a session may be ahead.
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
		auth.Session = "" // a session alone does not include the other proof
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
	r.changes, r.result = to.Changes, &Result{RedirectURL: to.RedirectURL}
}

// newStep returns the reply to the client.
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
