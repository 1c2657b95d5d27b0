package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Runs stores runs. Commit applies the changes and moves the run to run.Revision in one
// transaction, or does nothing. Revision 1 is inserted; any other revision must follow the
// stored one, or the error has the code stale_step. The error for a change that cannot be
// applied is an Error of class Conflict.
type Runs interface {
	Run(ctx context.Context, id string) (*schemas.Run, error)
	Commit(ctx context.Context, run *schemas.Run, changes []schemas.Change) error
}

// Graphs returns compiled flows. A graph never changes, so a run continues on the version it
// started with.
type Graphs interface {
	Graph(ctx context.Context, flowID string, version int) (*Graph, error)
}

// Applications returns the application that a run belongs to.
type Applications interface {
	Application(ctx context.Context, id string) (*schemas.Application, error)
}

// Engine runs flows. Its fields are set before its first use and only read afterwards. It has no
// state of its own, so several engines can work on the same runs.
type Engine struct {
	Runs         Runs
	Graphs       Graphs
	Applications Applications

	// Published returns the published version of the application's flow of a type, nil if it has none
	// now. A run that started with another one completes only if it has proved what this guarantees.
	// Nil: runs complete by the version that they started with.
	Published func(ctx context.Context, app *schemas.Application, t schemas.FlowType) (*Graph, error)

	// AuthRequest returns an authorization request; one that does not exist is auth_request_not_found. Nil: a
	// page learns only at the end of its run that another run has answered its request.
	AuthRequest func(ctx context.Context, id string) (*schemas.AuthRequest, error)

	// AuthenticationTTL and RegistrationTTL limit how long a run waits for an answer. A run ends
	// after twice that time, however many answers it got. Zero means 30 and 60 minutes.
	AuthenticationTTL, RegistrationTTL time.Duration
	// MaxFailures is the number of failed attempts that ends a run. Zero means 10.
	MaxFailures int
	// RequireToken rejects answers without a challenge token.
	RequireToken bool
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
	// Log receives the faults of flows. Nil means no log.
	Log *slog.Logger
	// Observe, if not nil, is called with each outcome that a run takes ("" at a node that ends
	// the run). It is called when the step is decided, even if the step is not committed. Tests
	// measure coverage with it.
	Observe func(g *Graph, node, outcome string)
	// Unanswered, if not nil, returns what rejects an authorization request whose run completes at the
	// target end. Otherwise its client would wait for an answer.
	Unanswered func(authRequestID string, r *Request, now time.Time) *Refusal
	// Observer observes runs, for metrics, traces and logs. Nil means none.
	Observer Observer
}

// NewEngine returns e with default values for unset fields.
func NewEngine(e Engine) *Engine {
	e.Log = cmp.Or(e.Log, slog.New(slog.DiscardHandler))
	e.AuthenticationTTL = cmp.Or(e.AuthenticationTTL, 30*time.Minute)
	e.RegistrationTTL = cmp.Or(e.RegistrationTTL, 60*time.Minute)
	e.MaxFailures = cmp.Or(e.MaxFailures, 10)
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.Observer == nil {
		e.Observer = noObserver{}
	}
	return &e
}

// Start starts a run of the graph for the application, bound to the authorization request if
// there is one. Inputs that the first question asks for answer it immediately, with its first
// action. Other inputs are ignored.
func (e *Engine) Start(ctx context.Context, g *Graph, app *schemas.Application, inputs map[string]string, req Request) (*schemas.Step, error) {
	if g.flow.FlowType == schemas.Subflow {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidFlow,
			"the flow %q is a sub-flow and cannot run alone; start a flow that uses it", g.flow.Handle)
	}
	r := newRun(schemas.NewID(), g, app, e.now())
	if err := r.bindAuthRequest(&req); err != nil {
		return nil, err
	}
	r.authorizeRequest(req)
	r.state.Verbose, r.state.Type = req.Verbose != nil && *req.Verbose, req.FlowType
	if err := e.advance(ctx, r, nil); err != nil {
		return nil, err
	}
	if answer := r.immediateAnswer(inputs); answer != nil {
		if err := e.advance(ctx, r, answer); err != nil {
			return nil, err
		}
	}
	return e.commit(ctx, r)
}

// Reply is a client's answer to a step. ChallengeToken, if not empty, must be the token of the
// newest step.
type Reply struct {
	ExecutionID    string
	Action         string
	Inputs         map[string]string
	ChallengeToken string
}

// Continue answers the question that a run waits for. Of several answers to one question exactly
// one is accepted. The others get stale_step, as does an answer with an old challenge token.
func (e *Engine) Continue(ctx context.Context, reply Reply, req Request) (*schemas.Step, error) {
	r, err := e.load(ctx, reply.ExecutionID, req)
	if err != nil {
		return nil, err
	}
	if err := e.checkToken(r, reply.ChallengeToken); err != nil {
		return nil, err
	}
	answer, err := r.acceptAnswer(reply.Action, reply.Inputs)
	if err != nil {
		return nil, err
	}
	if err := e.advance(ctx, r, answer); err != nil {
		return nil, err
	}
	return e.commit(ctx, r)
}

// Resume returns the current question again, unchanged. Once the run contains a proof, the
// request must come from the browser that sent the proof or carry the newest challenge token.
// For any other caller the run does not exist.
func (e *Engine) Resume(ctx context.Context, executionID, challengeToken string, req Request) (*schemas.Step, error) {
	r, err := e.load(ctx, executionID, req)
	if err != nil {
		return nil, err
	}
	if !r.isOwner(challengeToken) {
		return nil, NotFound(executionID)
	}
	if err := e.checkUnanswered(ctx, r); err != nil {
		return nil, err
	}
	if err := r.readQuestion(); err != nil {
		return nil, err
	}
	return r.newStep(), nil
}

// checkUnanswered rejects a run that a hosted page shows and whose authorization request another run has answered,
// such as a sign-up instead of a sign-in: its end would be refused.
func (e *Engine) checkUnanswered(ctx context.Context, r *run) error {
	b := r.state.AuthRequest
	if b == nil || !r.request.SignsIn || e.AuthRequest == nil {
		return nil
	}
	a, err := e.AuthRequest(ctx, b.ID)
	if schemas.HasCode(err, schemas.CodeAuthRequest) || err == nil && (a.Grant != nil || a.Refusal != nil || !e.now().Before(a.ExpiresAt)) {
		return NotFound(r.rec.ID)
	}
	return err
}

// load reads a run that the request may continue.
func (e *Engine) load(ctx context.Context, id string, req Request) (*run, error) {
	rec, err := e.Runs.Run(ctx, id)
	if schemas.HasCode(err, schemas.CodeExecutionNotFound) {
		return nil, NotFound(id) // like one that has ended
	}
	if err != nil {
		return nil, err
	}
	now := e.now()
	if rec.Status != schemas.Incomplete || !now.Before(rec.ExpiresAt) {
		return nil, NotFound(id)
	}
	g, err := e.Graphs.Graph(ctx, rec.FlowID, rec.FlowVersion)
	if schemas.HasCode(err, schemas.CodeFlowNotFound) {
		// The run started on another instance while the flow was being deleted.
		return nil, NotFound(id)
	}
	if err != nil {
		return nil, fmt.Errorf("the flow of run %s: %w", schemas.DigestExecution(id), hideError(err))
	}
	app, err := e.Applications.Application(ctx, rec.ApplicationID)
	if err != nil {
		return nil, err
	}
	if !now.Before(e.endOf(rec, g)) { // an earlier release stored a later end
		return nil, NotFound(id)
	}
	r, err := loadRun(rec, g, app, now)
	if err != nil {
		return nil, err
	}
	if !r.authorizeRequest(req) {
		return nil, NotFound(id)
	}
	return r, nil
}

// NotFound is the error for a run that is unknown, expired or finished.
func NotFound(id string) *schemas.Error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeExecutionNotFound,
		"the run %.64q is unknown, expired or finished; start the flow again", id)
}

// hideError prevents an error about stored data from being reported as the client's mistake.
// Clients may learn that the store is unavailable.
func hideError(err error) error {
	if schemas.HasClass(err, schemas.Unavailable) {
		return err
	}
	return errors.New(err.Error())
}

// checkToken checks that the client answers the newest question.
func (e *Engine) checkToken(r *run, token string) error {
	switch {
	case token == "" && e.RequireToken:
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
			"challengeToken is required (flow.require_challenge_token); send the challengeToken of the step you answer")
	case token == "" && !r.isOwner(""):
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
			"challengeToken is required: a user has authenticated in this run, so only the client that received the last reply may continue it; send the challengeToken of the step you answer")
	case token != "" && !r.isNewest(token):
		return staleStepError(r.rec.ID)
	}
	return nil
}

func staleStepError(id string) *schemas.Error {
	return schemas.Errorf(schemas.Conflict, schemas.CodeStaleStep,
		"this step is no longer the current one; send only {\"executionId\": %.64q} to get the current step", id)
}

// commit stores the step and everything it decided. If a change cannot be applied, because a
// name has been taken or the user's credentials have changed in the meantime, the run ends with
// that error.
func (e *Engine) commit(ctx context.Context, r *run) (*schemas.Step, error) {
	return e.commitBy(ctx, r, func() error { return e.tryCommit(ctx, r) })
}

// commitBy is commit with a function that tries it.
func (e *Engine) commitBy(ctx context.Context, r *run, try func() error) (*schemas.Step, error) {
	err := try()
	var refused *schemas.Error
	if errors.As(err, &refused) && endsRun(refused) {
		r.failRun(refused)
		r.recordRefusal(refused)
		err = try()
	}
	if err != nil {
		return nil, err
	}
	e.reportStep(ctx, r)
	return r.newStep(), nil
}

// endsRun reports whether a failed commit ends the run.
func endsRun(err *schemas.Error) bool {
	switch err.Class {
	case schemas.Conflict:
		return err.Code != schemas.CodeStaleStep
	case schemas.Forbidden, schemas.Unauthenticated:
		return true
	}
	return false
}

func (e *Engine) tryCommit(ctx context.Context, r *run) error {
	rec, err := r.newRecord(e.ttl(r.graph), e.endOf(&r.rec, r.graph))
	if err != nil {
		return fmt.Errorf("the state of run %s: %w", r.rec.Digest(), err)
	}
	return e.Runs.Commit(ctx, rec, append(r.preceding, r.changesToCommit()...))
}

// ttl is how long a run of a flow waits for an answer.
func (e *Engine) ttl(g *Graph) time.Duration {
	if g.flow.FlowType == schemas.Registration {
		return e.RegistrationTTL
	}
	return e.AuthenticationTTL
}

// endOf returns when a run ends, whatever is answered. Otherwise a client could keep a run on a version
// of the flow that has been replaced.
func (e *Engine) endOf(rec *schemas.Run, g *Graph) time.Time { return rec.CreatedAt.Add(2 * e.ttl(g)) }

func (e *Engine) now() time.Time { return e.Now().UTC() }

// newToken returns a challenge token: 256 random bits as 64 hexadecimal digits.
func (e *Engine) newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand.Read
	return hex.EncodeToString(b[:])
}
