package server

import (
	"encoding/json"
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// finish is the body that ends a ceremony.
type finish interface {
	checked
	token() *string // of the session that was begun
}

// finishBody is what the finishes of both ceremonies have.
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

// readFinish reads a finish and takes the session that it names. The first
// finish burns it whatever its result, so one whose body is refused does too;
// what is wrong with the session is then told no more.
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
