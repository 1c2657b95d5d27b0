package server

import (
	"context"
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// sessionResponse describes a session. Current marks the session of the token. ApplicationName is the name of
// the application that holds offline tokens in it.
type sessionResponse struct {
	schemas.Session
	ApplicationName string `json:"applicationName,omitempty"`
	Current         bool   `json:"current"`
}

// sessions lists the sessions of a user.
func (s *server) sessions(ctx context.Context, c *caller, userID string) ([]any, error) {
	found, err := s.Directory.Sessions(ctx, c.Call, userID)
	list := make([]any, len(found))
	for i, session := range found {
		session.AMR = append([]string{}, session.AMR...) // [], not null
		shown := sessionResponse{Session: session, Current: session.ID == c.Session}
		if session.OfflineOf != "" && err == nil {
			shown.ApplicationName, err = s.Directory.ApplicationName(ctx, session.ApplicationID)
		}
		list[i] = shown
	}
	return list, err
}

// endSessions handles DELETE …/sessions: it ends all but the one that the token belongs to, if that
// is one of them. It replies with their number.
func (s *server) endSessions(w http.ResponseWriter, r *http.Request, c *caller) error {
	n, err := s.Directory.EndSessions(r.Context(), c.Call, userOf(r, c), c.Session)
	return writeResult(w, map[string]int{"ended": n}, err)
}
