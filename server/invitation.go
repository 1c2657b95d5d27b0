package server

import (
	"net/http"
	"time"

	"github.com/postern-id/postern/schemas"
)

// invitationBody is the body of POST /users/{id}/invitation.
type invitationBody struct {
	ApplicationID *string `json:"applicationId"`
}

func (b *invitationBody) check() []schemas.Problem {
	if b.ApplicationID == nil {
		return []schemas.Problem{missingMember("applicationId", "the id of the application to invite the user to")}
	}
	return nil
}

// sentInvitation is the reply of POST /users/{id}/invitation: an invitation without the address, if the
// caller may not read users.
type sentInvitation struct {
	ApplicationID string    `json:"applicationId"`
	Email         string    `json:"email,omitempty"`
	CreatedAt     time.Time `json:"createdAt"`
	ExpiresAt     time.Time `json:"expiresAt"`
	Opened        bool      `json:"opened"`
}

// invite handles POST /users/{id}/invitation.
func (s *server) invite(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body invitationBody
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	invitation, err := s.Directory.Invite(r.Context(), c.Call, pathID(r), *body.ApplicationID)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, sentInvitation(*invitation))
}

// invitation handles GET /users/{id}/invitation.
func (s *server) invitation(w http.ResponseWriter, r *http.Request, c *caller) error {
	invitation, err := s.Directory.Invitation(r.Context(), c.Call, pathID(r))
	return writeResult(w, invitation, err)
}

// withdrawInvitation handles DELETE /users/{id}/invitation.
func (s *server) withdrawInvitation(w http.ResponseWriter, r *http.Request, c *caller) error {
	return writeNoContent(w, s.Directory.WithdrawInvitation(r.Context(), c.Call, pathID(r)))
}
