package server

import (
	"net/http"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/schemas"
)

// sessionResponse describes a session. Current marks the session of the token.
type sessionResponse struct {
	schemas.Session
	Current bool `json:"current"`
}

// sessions handles GET /users/me/sessions and GET /users/{id}/sessions.
func (s *server) sessions(w http.ResponseWriter, r *http.Request, c *caller) error {
	found, err := s.Directory.Sessions(r.Context(), c.Call, userOf(r, c))
	if err != nil {
		return err
	}
	list := make([]any, len(found))
	for i, session := range found {
		session.AMR = append([]string{}, session.AMR...) // [], not null
		list[i] = sessionResponse{session, session.ID == c.Session}
	}
	page, err := s.pageOf(r, "sessions", list)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, page)
}

// endSession handles DELETE …/sessions/{sid}: every token of the session is worthless
// from now on.
func (s *server) endSession(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := s.Directory.EndSession(r.Context(), c.Call, userOf(r, c), mux.Vars(r)["sid"]); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// endedSessions is the number of ended sessions.
type endedSessions struct {
	Ended int `json:"ended"`
}

// endSessions handles DELETE …/sessions: it ends all but the one that the token
// belongs to, if that is one of them.
func (s *server) endSessions(w http.ResponseWriter, r *http.Request, c *caller) error {
	n, err := s.Directory.EndSessions(r.Context(), c.Call, userOf(r, c), c.Session)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, endedSessions{n})
}
