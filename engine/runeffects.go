package engine

import (
	"maps"
	"slices"
	"strconv"

	"github.com/postern-id/postern/schemas"
)

// applyEffects applies everything in a decision but the next move.
func (r *run) applyEffects(d *Decision) {
	r.setInputs(d)
	r.state.Data = merged(r.state.Data, d.Data)
	if d.Notice != nil {
		r.state.Notice = d.Notice
	}
	r.concealed = r.concealed || d.Conceal
	if d.Failed {
		r.state.Failures++
		r.recordFailure(d)
	}
	for _, change := range d.Changes {
		switch change.(type) {
		case schemas.RecordEvent, schemas.QueueDelivery: // a mail to a person does not create a user
		default:
			r.storeDraft()
		}
		r.requireAuthority(change)
		r.changes = append(r.changes, r.locateFailure(change))
	}
}

// requireAuthority adds the precondition of a change of an account: what the run has proved so far.
func (r *run) requireAuthority(change schemas.Change) {
	userID := schemas.ChangedAccount(change)
	if userID == "" {
		return
	}
	by := authorityOf(r.state.Subject.UserID, r.state.Auth, r.facts)
	by.Enrolment = by.Enrolment && isEnrolment(change)
	if c, sets := change.(schemas.SetTOTP); sets {
		by.ReplacesUnused = c.ReplacesUnused
	}
	r.changes = append(r.changes, schemas.RequireAuthority{UserID: userID, By: by, At: r.now})
}

// isEnrolment reports whether an enrolment link permits a change: to add a passkey, which can replace the
// others.
func isEnrolment(change schemas.Change) bool {
	switch change.(type) {
	case schemas.CreateCredential, schemas.RemoveCredentials:
		return true
	}
	return false
}

// authorityOf returns what a run of a user has proved.
func authorityOf(userID string, auth *Authentication, facts Facts) schemas.Authority {
	a := schemas.Authority{UserID: userID, NewFactor: facts.Has(New) || facts.Has(Enrolled)}
	if auth == nil {
		return a
	}
	a.ACR, a.Methods, a.Time = auth.ACR, auth.Methods, auth.Time
	if schemas.Satisfies(auth.ACR, schemas.ACRPhishingResistant) {
		a.Time = auth.Since(schemas.ACRPhishingResistant)
	}
	for _, p := range auth.Proofs {
		a.Invited = a.Invited || p.Kind == schemas.InvitationProof
		a.Enrolment = a.Enrolment || p.Kind == schemas.EnrolmentProof
	}
	return a
}

// Authority returns what a change of the account of the run's user rests on.
func (v *Visit) Authority() schemas.Authority {
	return authorityOf(v.Subject.UserID, v.Authentication, v.Facts)
}

// merged returns m with the members of more, which it may have changed.
func merged[V any](m, more map[string]V) map[string]V {
	if m == nil && len(more) > 0 {
		m = map[string]V{}
	}
	maps.Copy(m, more)
	return m
}

// setInputs sets and drops inputs. Secrets never enter the state.
func (r *run) setInputs(d *Decision) {
	for _, k := range d.Drop {
		delete(r.state.Inputs, k)
		delete(r.secrets, k)
	}
	for k, v := range d.Set {
		one := map[string]string{k: v}
		if r.graph.inputs[k].Secret() {
			r.secrets = merged(r.secrets, one)
		} else {
			r.state.Inputs = merged(r.state.Inputs, one)
		}
	}
}

// storeDraft adds the creation of the run's new user before the changes that concern it.
func (r *run) storeDraft() {
	draft := r.state.Subject.Draft
	if draft == nil || r.draftStored {
		return
	}
	r.draftStored = true
	r.changes = append(r.changes, schemas.CreateUser{User: *draft})
	r.recordEvent("user.created", draft.ID, nil)
}

// recordFailure records a failed attempt to prove something: the error code of the reply and, if
// the reply conceals it, the reason. An attempt with the right credential is no failed one: if the
// account or the flow does not permit the sign-in, the event is the same as in other refusals. The
// event contains the user that the run is about.
func (r *run) recordFailure(d *Decision) {
	action, detail := "attempt.failed", map[string]string{}
	if d.Notice != nil {
		detail["error"] = d.Notice.Code
	}
	if d.Reason != "" {
		detail["reason"] = d.Reason
	}
	if isRefusal(d.Reason) {
		action = "user.sign_in_refused"
	}
	if r.failure != nil { // the attempt was one too many
		detail["end"] = r.failure.Code
	}
	userID := r.state.Subject.UserID
	if r.state.Subject.Draft != nil {
		userID = ""
	}
	r.recordEvent(action, userID, detail)
}

// isRefusal reports whether a reason is about a user who has authenticated and may not sign in.
func isRefusal(reason string) bool {
	return slices.Contains([]string{schemas.CodeAccountDisabled, schemas.CodeAccountLocked, schemas.CodeCredentialLimited}, reason)
}

// recordFault records and logs the end of a run by a fault of the flow, which its author must fix.
func (e *Engine) recordFault(r *run, n *node, fault *schemas.Error) {
	if fault.Code != schemas.CodeExpressionFailed || fault.Err == nil {
		return
	}
	userID := r.state.Subject.UserID
	if r.state.Subject.Draft != nil {
		userID = ""
	}
	reason := fault.Err.Error()
	r.recordEvent("flow.failed", userID, map[string]string{"error": fault.Code, "reason": reason})
	e.Log.Error("a flow failed", "flow", r.graph.flow.Handle, "version", r.rec.FlowVersion, "node", n.id, "kind", n.kind.Name,
		"error", fault.Code, "reason", reason, "execution", r.rec.Digest(), "traceId", r.request.TraceID)
}

// recordRefusal records the refusal of an authenticated user who is disabled or locked.
func (r *run) recordRefusal(err *schemas.Error) {
	if err.Code == schemas.CodeAccountDisabled || err.Code == schemas.CodeAccountLocked {
		r.recordEvent("user.sign_in_refused", r.state.Subject.UserID, map[string]string{"reason": err.Code})
	}
}

func (r *run) recordEvent(action, userID string, detail map[string]string) {
	r.changes = append(r.changes, r.locateFailure(schemas.RecordEvent{Event: schemas.Event{
		ID: schemas.NewID(), At: r.now, Action: action, UserID: userID, ApplicationID: r.rec.ApplicationID,
		ExecutionDigest: r.rec.Digest(), TraceID: r.request.TraceID, Detail: detail,
	}}))
}

// locateFailure adds the version of the flow and the node to the event of a failure, so that an
// administrator finds the place in the flow long after the run. Other changes stay as they are.
func (r *run) locateFailure(change schemas.Change) schemas.Change {
	c, ok := change.(schemas.RecordEvent)
	if !ok || !slices.Contains(schemas.FailureActions(), c.Event.Action) {
		return change
	}
	n, flow := &r.graph.nodes[r.at], r.graph.flow
	c.Event.Detail = merged(map[string]string{
		"flow": flow.Handle, "flowId": flow.ID, "flowVersion": strconv.Itoa(r.rec.FlowVersion), "node": n.id, "kind": n.kind.Name,
	}, c.Event.Detail)
	return c
}
