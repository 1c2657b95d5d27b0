package server

import (
	"encoding/json"
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// finish is the body that ends a ceremony.
type finish interface {
	checked
	token() *string // of the started session
}

// finishBody has the common members of both finishes.
type finishBody struct {
	PublicKeyCredential json.RawMessage `json:"publicKeyCredential"`
	SessionToken        *string         `json:"sessionToken"`
}

func (b *finishBody) token() *string { return b.SessionToken }

func (b *finishBody) check() []schemas.Problem {
	if b.SessionToken == nil {
		return []schemas.Problem{missingMember("sessionToken", "that of the start reply")}
	}
	return nil
}

// readFinish reads a finish and consumes its session. The first finish consumes the session
// whatever its result, so an invalid body does too; faults of the session are then not reported.
func (s *server) readFinish(w http.ResponseWriter, r *http.Request, body finish, of schemas.Ceremony) (*schemas.PasskeySession, error) {
	refusal := readJSON(w, r, largeBody, body)
	if body.token() == nil {
		return nil, refusal
	}
	session, err := s.consumeSession(r.Context(), *body.token(), of)
	if refusal != nil {
		return nil, refusal
	}
	return session, err
}
