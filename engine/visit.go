package engine

import (
	"encoding/json"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Visit is what an executor sees of the run that came to its node. It is for
// reading only.
type Visit struct {
	ExecutionID string
	// Revision counts the steps of the run that were committed before this one.
	Revision    int64
	FlowType    schemas.FlowType
	Application *schemas.Application
	Request     Request
	Now         time.Time

	// Answer is the client's answer to the node's last question; nil on arrival.
	Answer *Answer
	// NodeState is what the node kept when it asked; nil on arrival. No other node
	// ever sees it, and no client.
	NodeState json.RawMessage

	// Inputs are the values collected so far. A secret one (a password, a one-time
	// code) is among them only in the step that brought it, and only for the
	// SecretUser of that input.
	Inputs map[string]string
	// Replies are what services have answered, by the names that the flow gives them, and
	// the names of their values. A value is a string, a bool or a float64.
	Replies map[string]map[string]any
	// Subject is the user the run is about; the zero value when it knows none.
	Subject Subject
	// Identity is the identity that the run holds: nil unless there is the fact
	// Federated.
	Identity *Identity
	// Facts are what has come about in this run: at least what the analysis
	// found certain here.
	Facts Facts
	// Pending are the changes that this step has decided so far. They are not in
	// the store yet, so an executor that reads what they are about must look here
	// too.
	Pending []schemas.Change
	// Authentication is how the subject has been authenticated in this run; nil
	// when they have not been.
	Authentication *Authentication

	// AuthRequestID is the authorization request that the run answers, "" for
	// none; Login and LoginHint are what it asks of the sign-in, and whom the
	// client expects. The hint is anybody's word, nothing that was proved.
	AuthRequestID string
	Login         schemas.LoginRules
	LoginHint     string
}

// Request is what the transport knows of the client's request.
type Request struct {
	Origin   string // the Origin header, "" when there was none
	Language string // BCP 47, "" when not told
	TraceID  string
	// UserAgent is the User-Agent header as it came: anything.
	UserAgent string
	// Verbose asks for components with the questions. Nil means as at the start
	// of the run, and at the start it means no.
	Verbose *bool

	// AuthRequest is the authorization request that the run is to answer; nil for
	// a run that the application began itself. Start alone looks at it: the run
	// stays bound to it.
	AuthRequest *schemas.AuthRequest
	// Browser is the SHA-256 of the cookie that binds authorization requests to the
	// browser that asks; nil if it has none. A run for an authorization request
	// starts in the browser that this came from.
	Browser []byte
	// Session is the live session of the browser that asks, nil for none. Only a
	// run that answers an authorization request is told of it.
	Session *schemas.Session
}

// Answer is what the client sent back. Action is one that the question
// offered, or "" where the question had one action or took none.
type Answer struct {
	Action string
	Inputs map[string]string
}

// Subject is the user a run is about.
type Subject struct {
	UserID string `json:"userId,omitempty"`
	// Draft is the user as this run creates it. It is stored with the first
	// change that concerns it, or when the run completes, so that an abandoned
	// registration leaves nothing behind. Nil once it is stored; whether the
	// user is new is told by the fact New.
	Draft *schemas.User `json:"draft,omitempty"`
	// Input names the input the user was named by, for an outcome with
	// ClaimFact. When a prompt withdraws that input, the engine forgets a user
	// who is no more than named.
	Input string `json:"input,omitempty"`
	// Name is what the client called the user, where a flow conceals whether
	// there is one: later nodes carry on alike, with a user or without.
	Name string `json:"name,omitempty"`
}

// Known reports whether there is a user.
func (s Subject) Known() bool { return s.UserID != "" }

// Authentication is how and when the subject proved who they are.
type Authentication struct {
	Time    time.Time `json:"time"`
	Methods []string  `json:"methods"` // amr values, RFC 8176
	ACR     string    `json:"acr"`
	// Session is the session that says all of this, if it was proved in an
	// earlier run; "" once this run has proved anything itself.
	Session string `json:"session,omitempty"`
	// Proofs are the credentials that the authentication rests on. Every commit of
	// the run requires that the user still has them: schemas.RequireProofs.
	Proofs []schemas.Proof `json:"proofs,omitempty"`
}

// Decision is what an executor decided: leave by an outcome, ask and stay, end
// the run (a terminal kind), or refuse to go on with it.
type Decision struct {
	// Outcome names the way out. Exactly one of Outcome, Ask, Result, Fail and
	// Refuse is set.
	Outcome string
	// Ask is the next question.
	Ask *Ask
	// Result ends the run.
	Result *Result
	// Fail ends the run in ERROR: nothing that this step decided takes effect.
	Fail *schemas.Error
	// Refuse ends the run as Fail does, but with an answer for whom it was to serve.
	// Outcome may name the way out that leads there.
	Refuse *Refusal

	// NodeState is kept for the node until its question is answered.
	NodeState json.RawMessage
	// Notice tells the client what went wrong; it travels with the next
	// question, whichever node asks it.
	Notice *schemas.Error
	// Failed marks a failed attempt to prove something. A run that has failed
	// too often ends.
	Failed bool

	// Subject replaces the run's user, if not nil.
	Subject *Subject
	// Identity is held from now on, in place of the one before, if not nil.
	Identity *Identity
	// Methods are added to how the subject is authenticated, and ACR replaces
	// its class, for outcomes that establish Authenticated.
	Methods []string
	ACR     string
	// Proofs are the credentials that were used, as they are once Changes have been
	// applied. An outcome with Methods has some. Other outcomes add them where the
	// node replaces a credential, so that the run does not rest on the old one.
	Proofs []schemas.Proof
	// At is when that was proved, and Session the session that says so, where it
	// was not just now. The run can then be continued only by requests with that
	// session.
	At      time.Time
	Session string
	// Set adds collected inputs, and Drop removes them.
	Set  map[string]string
	Drop []string
	// Replies are kept, by their names, for outcomes that establish their facts.
	Replies map[string]map[string]any
	// Data is added to additionalData of this and every later reply of the run.
	Data map[string]string
	// Changes are applied in the transaction that commits the step.
	Changes []schemas.Change
}

// Ask is a question to the client. The engine adds ids and the challenge
// token.
type Ask struct {
	Inputs      []schemas.Input      `json:"inputs,omitempty"`
	Actions     []schemas.Action     `json:"actions,omitempty"`
	Data        map[string]string    `json:"data,omitempty"` // additionalData of this question alone
	Components  []schemas.Component  `json:"components,omitempty"`
	FieldErrors []schemas.FieldError `json:"fieldErrors,omitempty"`
	RedirectURL string               `json:"redirectURL,omitempty"` // makes the step a REDIRECTION
	Implicit    bool                 `json:"implicit,omitempty"`    // an answer may leave the action out
}

// Result is what a run ends with.
type Result struct {
	Assertion   string
	RedirectURL string
}

// Refusal is how a run ends that is refused: in ERROR, with the error and a way on.
// Its changes are the only ones of the step that take effect.
type Refusal struct {
	Error       *schemas.Error
	RedirectURL string
	Changes     []schemas.Change
}

// LeaveBy decides to leave by an outcome.
func LeaveBy(outcome string) *Decision { return &Decision{Outcome: outcome} }
