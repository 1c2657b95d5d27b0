package server

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

// event returns an audit event about an action of a user.
func (s *server) event(r *http.Request, action, userID string, detail map[string]string) schemas.RecordEvent {
	e := schemas.Event{ID: schemas.NewID(), At: s.now(), Action: action, UserID: userID, TraceID: exchangeOf(r).traceID, Detail: detail}
	if userID != "" {
		e.Actor = schemas.Actor{Type: schemas.UserActor, ID: userID}
	}
	return schemas.RecordEvent{Event: e}
}

// maxUserAgent is the length of a recorded User-Agent in bytes.
const maxUserAgent = 200

// requestOrigin returns where a request came from, for the audit log.
func (s *server) requestOrigin(r *http.Request) *schemas.Origin {
	agent := strings.ReplaceAll(r.UserAgent(), "\x00", "")
	agent = strings.ToValidUTF8(agent[:min(len(agent), maxUserAgent)], "")
	o := &schemas.Origin{UserAgent: agent}
	if client := s.client(r); client.IsValid() {
		o.Address = client.String()
	}
	return o
}

// record adds an event to the audit log outside a write.
func (s *server) record(r *http.Request, event schemas.RecordEvent) {
	ctx := throttle.NewContext(r.Context(), s.network(r))
	err := s.Repeats.Commit(ctx, []schemas.Change{event}, func(kept []schemas.Change) error { return s.Store.Apply(ctx, kept) })
	if err != nil {
		s.Log.ErrorContext(r.Context(), "cannot record an audit event", slog.String("traceId", event.Event.TraceID), slog.Any("error", err))
	}
}

// auditRefusal records that a passkey may have been copied. Only the holder of the key can cause
// this event, so anonymous callers cannot fill the audit log. A failure to record does not change
// the reply.
func (s *server) auditRefusal(r *http.Request, credentialID string, refusal error) {
	holder := passkey.CopiedOf(refusal)
	if holder == "" {
		return
	}
	event := s.event(r, "passkey.refused", holder, map[string]string{"credentialId": credentialID, "step": string(passkey.FailedStep(refusal))})
	event.Event.Actor = schemas.Actor{} // the caller may not be the user
	s.record(r, event)
}

// recordForbidden records that an authenticated caller was refused a request for which it lacks the
// permission, or a recent enough sign-in. A failure to record does not change the reply.
func (s *server) recordForbidden(r *http.Request, status int, e *schemas.Error) {
	x := exchangeOf(r)
	isRefused := status == http.StatusForbidden || e.Code == schemas.CodeStaleProof
	if !isRefused || x.caller == nil || x.needs.permission() == "" {
		return
	}
	event := s.event(r, "request.refused", x.caller.userID(), map[string]string{"method": r.Method, "route": x.route, "permission": x.needs.permission(), "code": e.Code})
	event.Event.Actor = s.loggedActor(r, x.caller.Actor)
	event.Event.ApplicationID = event.Event.Actor.Client
	s.record(r, event)
}

// loggedActor returns an actor in the form of the audit log: with the id of the application in
// place of its client id.
func (s *server) loggedActor(r *http.Request, actor schemas.Actor) schemas.Actor {
	if s.Directory == nil || actor.Client == "" {
		return actor
	}
	app, err := s.Directory.Client(r.Context(), actor.Client)
	if err != nil {
		return actor // an application without a client, whose id the token has
	}
	if actor.Type == schemas.ApplicationActor {
		actor.ID = app.ID
	}
	actor.Client = app.ID
	return actor
}
