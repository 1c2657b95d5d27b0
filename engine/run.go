package engine

import (
	"encoding/json"
	"fmt"
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
	Limited     bool                      `json:"limited,omitempty"` // a decision was: Decision.Limited
	Type        schemas.FlowType          `json:"type,omitempty"`    // Request.FlowType
}

// stateFormat is the current format of a state. In format 0 the methods and the class of an
// authentication claimed more than was proved: see schemas.RevaluedAssurance. In format 1 proofs did
// not state what they proved.
const stateFormat = 2

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

	draftStored bool             // the draft is among the changes
	concealed   bool             // a decision of this step was: Decision.Conceal
	preceding   []schemas.Change // are committed before the others, even if the run fails
	changes     []schemas.Change
	result      *Result
	failure     *schemas.Error
}

// newRun returns a run before its entry, of no application if app is nil.
func newRun(id string, g *Graph, app *schemas.Application, now time.Time) *run {
	r := &run{
		rec: schemas.Run{
			ID: id, Revision: 0, Status: schemas.Incomplete,
			FlowID: g.flow.ID, FlowVersion: g.flow.ActiveVersion, CreatedAt: now,
		},
		facts: NewFacts(), graph: g, app: app, now: now,
	}
	if app != nil {
		r.rec.ApplicationID = app.ID
	}
	return r
}

// loadRun restores a stored run at the node that asked. Of its question it reads what an answer needs:
// see readQuestion.
func loadRun(rec *schemas.Run, g *Graph, app *schemas.Application, now time.Time) (*run, error) {
	at, found := g.find(rec.Node)
	r := &run{rec: *rec, graph: g, app: app, now: now, at: at}
	var stored struct {
		*state
		Ask *struct {
			Actions  []schemas.Action `json:"actions"`
			Implicit bool             `json:"implicit"`
		} `json:"ask"`
	}
	stored.state = &r.state
	if err := json.Unmarshal(rec.State, &stored); err != nil {
		return nil, fmt.Errorf("the state of run %s: %w", rec.Digest(), err)
	}
	if !found || stored.Ask == nil {
		return nil, fmt.Errorf("run %s is at node %q, which has asked nothing", rec.Digest(), rec.Node)
	}
	r.state.Ask = &Ask{Actions: stored.Ask.Actions, Implicit: stored.Ask.Implicit}
	r.facts = NewFacts(r.state.Facts...)
	r.revalueAssurance()
	return r, nil
}

// readQuestion reads the whole question, to ask it again. Decoding it takes as long as the rest of the state.
func (r *run) readQuestion() error {
	err := json.Unmarshal(r.rec.State, &struct {
		Ask *Ask `json:"ask"`
	}{r.state.Ask})
	if err != nil {
		return fmt.Errorf("the question of run %s: %w", r.rec.Digest(), err)
	}
	return nil
}

// revalueAssurance removes authentication claims of an earlier release that were not proved.
func (r *run) revalueAssurance() {
	auth := r.state.Auth
	if r.state.Format >= stateFormat || auth == nil {
		return
	}
	if r.state.Format < 1 {
		auth.ACR, auth.Methods = schemas.RevaluedAssurance(auth.ACR, auth.Methods)
	}
	if len(auth.Proofs) > 0 { // which of them proved what is not known: all of it is as old as the run
		auth.Proofs[0] = auth.Proofs[0].Proving(auth.Methods, auth.ACR)
		if auth.Proofs[0].At = auth.Time; r.rec.CreatedAt.Before(auth.Time) {
			auth.Proofs[0].At = r.rec.CreatedAt
		}
		auth.derive()
	}
	r.dropUnbacked()
}

// dropUnbacked removes the facts that are not true of the run.
func (r *run) dropUnbacked() {
	r.facts = r.facts.without(func(f Fact) bool { return !r.backs(f) })
}

// finishedTTL is how long a finished run is stored: for answers to its last question that are in
// flight. It cannot be continued.
const finishedTTL = time.Minute

// newRecord returns the run as it is stored, at its next revision. It waits for the ttl, and not beyond
// its end.
func (r *run) newRecord(ttl time.Duration, end time.Time) (*schemas.Run, error) {
	rec := r.rec
	rec.Revision++
	rec.UserID = r.state.Subject.UserID
	rec.UpdatedAt = r.now
	if rec.ExpiresAt = r.now.Add(ttl); end.Before(rec.ExpiresAt) {
		rec.ExpiresAt = end
	}
	rec.State = nil // a finished run stores no secrets
	if rec.Status != schemas.Incomplete {
		rec.ExpiresAt = r.now.Add(min(ttl, finishedTTL))
		return &rec, nil
	}
	kept := r.state
	kept.Facts, kept.Format = r.facts, stateFormat
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
		Identity: r.state.Identity, Guarantees: r.graph.flow.Guarantees,
	}
	if a := r.app; a != nil {
		v.Recovers = r.rec.FlowID == a.RecoveryFlowID && r.rec.FlowID != a.AuthFlowID
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
