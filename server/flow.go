package server

import (
	"context"
	"net/http"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/runs"
)

// executeFlow handles POST /flow/execute: it starts a run, answers its step, or returns the step
// again. The reply is 200 whenever the engine ran, also if the step reports an error to the user.
func (s *server) executeFlow(w http.ResponseWriter, r *http.Request) error {
	var body executeBody
	if err := readJSON(w, r, largeBody, &body); err != nil {
		return err
	}
	if err := s.admitRun(r, &body); err != nil {
		return err
	}
	req, err := s.boundRequest(r, &body)
	if err != nil {
		return err
	}
	device, arrived := s.device(r), time.Now()
	step, err := s.step(r.WithContext(throttle.WithDevice(r.Context(), device)), &body, req)
	if err != nil {
		return requestFault(err)
	}
	if step.Concealed {
		waitUntil(r.Context(), arrived.Add(concealedDuration))
	}
	s.keepDevice(w, device, step)
	if req.SignsIn {
		if err := s.keepSession(w, r, step); err != nil {
			return err
		}
	}
	return writeJSON(w, http.StatusOK, step)
}

// concealedDuration is the duration of a reply that must not reveal whether a user exists. It is
// far more than such a reply takes, so that the work for a user who exists does not show.
const concealedDuration = 25 * time.Millisecond

// waitUntil returns at a time, or earlier if the client gives up.
func waitUntil(ctx context.Context, t time.Time) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(t)):
	}
}

func (s *server) step(r *http.Request, body *executeBody, req engine.Request) (*schemas.Step, error) {
	switch {
	case body.ExecutionID == nil:
		return s.Runs.Begin(r.Context(), *body.ApplicationID, schemas.FlowType(*body.FlowType), body.inputs(), req)
	case body.asks():
		return s.Runs.Engine.Resume(r.Context(), *body.ExecutionID, text(body.ChallengeToken), req)
	}
	return s.Runs.Engine.Continue(withPasskey(r.Context(), body.inputs()), engine.Reply{
		ExecutionID:    *body.ExecutionID,
		Action:         text(body.Action),
		Inputs:         body.inputs(),
		ChallengeToken: text(body.ChallengeToken),
	}, req)
}

// withPasskey names the passkey of an answer.
func withPasskey(ctx context.Context, inputs map[string]string) context.Context {
	id, err := schemas.ParseBytes(inputs["credentialId"])
	if err != nil || len(id) == 0 {
		return ctx // the node rejects it, or needs none
	}
	return schemas.WithNamed(ctx, schemas.Named{Passkey: id})
}

// boundRequest returns the request for the engine. For runs that answer an authorization request it
// has the contents of the browser's cookies; the engine ignores them in other runs.
func (s *server) boundRequest(r *http.Request, body *executeBody) (engine.Request, error) {
	req := runs.NewRequest(r)
	req.Verbose, req.Origin = body.Verbose, r.Header.Get("Origin")
	req.SignsIn = s.OAuth != nil && s.isOwnPage(r)
	if s.OAuth == nil || body.ExecutionID == nil && body.AuthID == nil {
		return req, nil
	}
	err := s.OAuth.BindRun(r, &req, body.AuthID)
	if a := req.AuthRequest; err == nil && a != nil && a.ApplicationID != *body.ApplicationID {
		err = schemas.Errorf(schemas.Invalid, schemas.CodeAuthRequest, "the authorization request belongs to another application: send the applicationId that came with the authId")
	}
	return req, err
}

// executeBody is the body of POST /flow/execute. Members that are absent or null are nil.
type executeBody struct {
	ApplicationID  *string            `json:"applicationId"`
	FlowType       *string            `json:"flowType"`
	AuthID         *string            `json:"authId"`
	ExecutionID    *string            `json:"executionId"`
	Action         *string            `json:"action"`
	Inputs         map[string]*string `json:"inputs"`
	ChallengeToken *string            `json:"challengeToken"`
	Verbose        *bool              `json:"verbose"`
}

// asks reports whether a body with an executionId only requests the current step. An empty `inputs`
// is an answer.
func (b *executeBody) asks() bool { return b.Action == nil && b.Inputs == nil }

// inputs returns the inputs with a value.
func (b *executeBody) inputs() map[string]string {
	values := make(map[string]string, len(b.Inputs))
	for name, value := range b.Inputs {
		if value != nil {
			values[name] = *value
		}
	}
	return values
}

// check reports members that are missing or inconsistent.
func (b *executeBody) check() []schemas.Problem {
	switch {
	case b.ExecutionID != nil:
		const why = "applicationId and flowType start a run, and executionId continues one: send one or the other"
		return unwantedMembers(why, member{"applicationId", b.ApplicationID}, member{"flowType", b.FlowType}, member{"authId", b.AuthID})
	case b.ApplicationID == nil && b.FlowType == nil:
		return []schemas.Problem{{Message: "expected applicationId and flowType to start a run, or executionId to continue one"}}
	}
	const why = "it answers a step, but a new run has no step yet: leave it out, or send the executionId of the run"
	// A challenge token is ignored here: clients that store it across pages may send an old one.
	problems := unwantedMembers(why, member{"action", b.Action})
	if b.ApplicationID == nil {
		problems = append(problems, missingMember("applicationId", "the id of the application to sign in to"))
	}
	types := []string{string(schemas.Authentication), string(schemas.Registration)}
	for _, f := range new(schemas.Application).OptionalFlows() {
		types = append(types, string(f.Type))
	}
	if b.FlowType == nil {
		return append(problems, missingMember("flowType", schemas.OneOf(types)))
	}
	return append(problems, checkChoice("flowType", *b.FlowType, types...)...)
}

// member is an optional member of a body.
type member struct {
	name  string
	value *string
}

// unwantedMembers reports each member that was sent.
func unwantedMembers(why string, members ...member) []schemas.Problem {
	var problems []schemas.Problem
	for _, m := range members {
		if m.value != nil {
			problems = append(problems, schemas.Problem{Path: m.name, Message: m.name + " does not belong here: " + why})
		}
	}
	return problems
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
