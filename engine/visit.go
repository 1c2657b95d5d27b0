package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Visit is an executor's view of the run at its node. It is read-only.
type Visit struct {
	ExecutionID string
	// Revision is the number of steps of the run that were committed before this one.
	Revision    int64
	FlowType    schemas.FlowType
	Application *schemas.Application
	// Recovers reports whether the flow is the one with which users of the application regain access.
	Recovers bool
	Request  Request
	Now      time.Time

	// Answer is the client's answer to the node's last question; nil on arrival.
	Answer *Answer
	// NodeState is the state that the node stored with its question; nil on arrival. No other
	// node and no client ever sees it.
	NodeState json.RawMessage

	// Inputs contains the values collected so far. A secret (a password, a one-time code) is
	// among them only in the step that received it, and only for the SecretUser of that input.
	Inputs map[string]string
	// Replies contains replies of services, by the name in the flow and the name of the value. A
	// value is a string, a bool or a float64.
	Replies map[string]map[string]any
	// Subject is the user of the run; the zero value if unknown.
	Subject Subject
	// Identity is the external identity of the run; nil without the fact Federated.
	Identity *Identity
	// Facts contains what holds in this run: at least what the analysis found certain here.
	Facts Facts
	// Pending contains the changes that this step has decided so far. They are not in the store
	// yet, so an executor that reads related data must include them.
	Pending []schemas.Change
	// Authentication describes how the subject authenticated in this run; nil if not.
	Authentication *Authentication
	// Guarantees are the declared guarantees of the flow.
	Guarantees schemas.Guarantees

	// AuthRequestID is the authorization request that the run answers, "" for none. Login
	// contains what it requires of the sign-in. LoginHint is the user that the client expects;
	// it is unverified.
	AuthRequestID string
	Login         schemas.LoginRules
	LoginHint     string
}

// Request contains the transport's data about the client's request.
type Request struct {
	Origin   string // the Origin header, "" if there was none
	Language string // BCP 47, "" if unknown
	TraceID  string
	// UserAgent is the unverified User-Agent header.
	UserAgent string
	// Verbose requests components with the questions. Nil means the setting at the start of the
	// run, where the default is false.
	Verbose *bool

	// AuthRequest is the authorization request that the run answers; nil for a run that the
	// application started itself. Only Start reads it: the run stays bound to it.
	AuthRequest *schemas.AuthRequest
	// StoresAuthRequest stores the authorization request with the first step of the run.
	StoresAuthRequest bool
	// FlowType is the type of the application's flow that the run is started for, "" for that of the
	// flow. Only Start reads it.
	FlowType schemas.FlowType
	// Browser is the SHA-256 of the cookie that binds authorization requests to the browser; nil
	// if there is none. A run for an authorization request starts in the browser of that
	// request.
	Browser []byte
	// Session is the live session of the browser, nil for none. Only a run that answers an
	// authorization request sees it.
	Session *schemas.Session
	// SignsIn reports that a hosted page sent the request: the run signs in the browser, which keeps the session
	// of a run for no authorization request too.
	SignsIn bool
	// WithoutAssertion reports that the client needs none: the run ends without a session.
	WithoutAssertion bool
}

// Answer is the client's answer. Action is one of the question's actions, or "" if the question
// has one action or none.
type Answer struct {
	Action string
	Inputs map[string]string
}

// Subject is the user of a run.
type Subject struct {
	UserID string `json:"userId,omitempty"`
	// Draft is the user that this run creates. It is stored with the first change that concerns
	// it, or when the run completes, so that an abandoned registration leaves nothing behind. It
	// is nil once stored; the fact New means that the user is new.
	Draft *schemas.User `json:"draft,omitempty"`
	// Input is the input that identified the user, for an outcome with ClaimFact. When a prompt
	// withdraws that input, the engine forgets a user who was merely identified.
	Input string `json:"input,omitempty"`
	// Name is the name that the client sent, for flows that conceal whether the user exists:
	// later nodes behave the same with and without a user.
	Name string `json:"name,omitempty"`
}

// Known reports whether there is a user.
func (s Subject) Known() bool { return s.UserID != "" }

// Authentication describes how and when the subject authenticated. Methods, ACR and Time follow
// from Proofs. Time is that of ACR: see schemas.ProvenSince.
type Authentication struct {
	Time    time.Time `json:"time"`
	Methods []string  `json:"methods"` // amr values, RFC 8176
	ACR     string    `json:"acr"`
	// Session is the session that proves all of this, if it was proved in an earlier run; ""
	// once this run has proved anything itself.
	Session string `json:"session,omitempty"`
	// Proofs are the credentials that the authentication rests on, with what each proved and when.
	// Every commit of the run requires that the user still has them: schemas.RequireProofs.
	Proofs []schemas.Proof `json:"proofs,omitempty"`
}

// Since returns when the subject proved a class that the authentication satisfies.
func (a *Authentication) Since(acr string) time.Time { return schemas.ProvenSince(a.Proofs, acr) }

// With returns the class of the authentication together with further proofs; a can be nil.
func (a *Authentication) With(proofs ...schemas.Proof) (acr string) {
	if a != nil {
		proofs = schemas.MergeProofs(a.Proofs, proofs)
	}
	return schemas.ProvenACR(proofs)
}

// derive sets what follows from the proofs.
func (a *Authentication) derive() {
	a.Methods, a.ACR = schemas.ProvenMethods(a.Proofs), schemas.ProvenACR(a.Proofs)
	a.Time = a.Since(a.ACR)
}

// Decision is the result of an executor: leave by an outcome, ask and wait, end the run (a
// terminal kind), or refuse to continue it.
type Decision struct {
	// Outcome is the outcome to leave by. Exactly one of Outcome, Ask, Result, Fail and Refuse
	// is set.
	Outcome string
	// Ask is the next question.
	Ask *Ask
	// Result ends the run.
	Result *Result
	// Fail ends the run in ERROR: none of this step's decisions takes effect.
	Fail *schemas.Error
	// Refuse ends the run like Fail, but with a reply for the client of the authorization
	// request. Outcome may name the corresponding outcome.
	Refuse *Refusal

	// NodeState is stored for the node until its question is answered.
	NodeState json.RawMessage
	// Notice describes what went wrong. It is sent with the next question, whichever node asks
	// it.
	Notice *schemas.Error
	// Failed marks a failed attempt to prove something. Too many of them end the run.
	Failed bool
	// Reason is why the attempt failed, one of the reasons of schemas, "" if it is the code of
	// Notice. It is only for the audit log: the reply must not reveal it.
	Reason string
	// Conceal marks a reply whose duration must not reveal whether the user exists.
	Conceal bool

	// Subject replaces the run's user, if not nil.
	Subject *Subject
	// Identity replaces the run's identity, if not nil.
	Identity *Identity
	// Proofs are the credentials that were used, in their state after Changes, with what this
	// proved. For outcomes that establish Authenticated they are added to the subject's
	// authentication. A proof without a time was given just now. A node that replaces a credential
	// adds one that proves nothing, so that the run does not rest on the old credential.
	Proofs []schemas.Proof
	// Limited says that they prove less than the outcome establishes: see schemas.Provenance. The
	// run then has only those facts that they prove.
	Limited bool
	// Session is the session that the proofs come from, if they were not given just now. The run
	// can then be continued only by requests with that session.
	Session string
	// Set adds collected inputs, and Drop removes them.
	Set  map[string]string
	Drop []string
	// Replies are stored by name, for outcomes that establish their facts.
	Replies map[string]map[string]any
	// Data is added to additionalData of this and every later reply of the run.
	Data map[string]string
	// Changes are applied in the transaction that commits the step.
	Changes []schemas.Change
}

// Ask is a question to the client. The engine adds IDs and the challenge token.
type Ask struct {
	Inputs      []schemas.Input      `json:"inputs,omitempty"`
	Actions     []schemas.Action     `json:"actions,omitempty"`
	Data        map[string]string    `json:"data,omitempty"` // additionalData of this question only
	Components  []schemas.Component  `json:"components,omitempty"`
	FieldErrors []schemas.FieldError `json:"fieldErrors,omitempty"`
	RedirectURL string               `json:"redirectURL,omitempty"` // makes the step a REDIRECTION
	Implicit    bool                 `json:"implicit,omitempty"`    // an answer may omit the action
}

// Result is the result of a completed run. User is who signed in, nil if it is not known.
type Result struct {
	User        *schemas.User
	Assertion   string
	RedirectURL string
}

// Refusal is the end of a refused run: in ERROR, with the error and a URL to continue at. Only
// its changes take effect.
type Refusal struct {
	Error       *schemas.Error
	RedirectURL string
	Changes     []schemas.Change
}

// authenticates reports whether the decision contains a proof.
func (d *Decision) authenticates() bool {
	return slices.ContainsFunc(d.Proofs, schemas.Proof.Proves)
}

// LeaveBy returns the decision to leave by an outcome.
func LeaveBy(outcome string) *Decision { return &Decision{Outcome: outcome} }
