package server

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/runs"
)

// authenticationStart is the body of POST /auth/passkey/start. Without userId, or with an empty
// one, any discoverable passkey can answer.
type authenticationStart struct {
	UserID         *string `json:"userId"`
	RelyingPartyID string  `json:"relyingPartyId"`
	SessionToken   *string `json:"sessionToken"` // of an earlier start that this one replaces
}

// maxUserIDLength is longer than the id of any user.
const maxUserIDLength = 64

func (b *authenticationStart) check() []schemas.Problem {
	if n := len(text(b.UserID)); n > maxUserIDLength {
		return []schemas.Problem{{Path: "userId", Message: fmt.Sprintf("expected the id of a user, which has 36 characters, got %d", n)}}
	}
	return nil
}

type authenticationOptions struct {
	Options      json.RawMessage `json:"publicKeyCredentialRequestOptions"`
	SessionToken string          `json:"sessionToken"`
}

// startAuthentication handles POST /auth/passkey/start. Anyone who knows a user's id can send it,
// such as every application to which the user signed in. So a start replaces only the session whose
// sessionToken it contains and the client's older one for the same user and relying party, not those
// of other clients, and the reply does not reveal whether the user exists. A stale sessionToken is no
// error: its session is over.
func (s *server) startAuthentication(w http.ResponseWriter, r *http.Request) error {
	var body authenticationStart
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	request, err := s.authenticationRequest(r, &body)
	if err != nil {
		return err
	}
	options, state, err := s.Passkeys.BeginAuthentication(*request)
	if err != nil {
		return err
	}
	if err := s.dropSession(r.Context(), body.SessionToken); err != nil {
		return err
	}
	token, err := s.openSession(r.Context(), schemas.AuthenticationCeremony, s.anonymousOwner(r, &body), state)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, authenticationOptions{options, token})
}

// authenticationRequest lists the passkeys of the user, which the browser needs to find those that
// are not discoverable. For an unknown id it does the same look-up, finds none, and lists decoys:
// the ceremony then fails at its finish.
func (s *server) authenticationRequest(r *http.Request, body *authenticationStart) (*passkey.AuthenticationRequest, error) {
	request := &passkey.AuthenticationRequest{RPID: body.RelyingPartyID, UserID: text(body.UserID)}
	if request.UserID == "" {
		return request, nil
	}
	var err error
	request.Allow, err = s.Store.Credentials(r.Context(), request.UserID)
	// Hexadecimal keeps the letter case of ids, which decoys ignore.
	request.Decoys = passkey.Decoys(s.DecoySecret, hex.EncodeToString([]byte(request.UserID)))
	return request, err
}

// authenticationFinish is the body of POST /auth/passkey/finish.
type authenticationFinish struct {
	finishBody
	// SkipAssertion leaves out the assertion and its session, and nothing else: the checks, the
	// events and the notices are the same.
	SkipAssertion bool `json:"skipAssertion"`

	answer passkey.AuthenticationResponse
}

func (b *authenticationFinish) check() (problems []schemas.Problem) {
	b.answer, problems = parseAssertion(b.PublicKeyCredential)
	return append(b.finishBody.check(), problems...)
}

// authenticated describes the authenticated user.
type authenticated struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	OUID      string `json:"ouId"`
	Assertion string `json:"assertion,omitempty"`
}

// finishAuthentication handles POST /auth/passkey/finish.
func (s *server) finishAuthentication(w http.ResponseWriter, r *http.Request) error {
	var body authenticationFinish
	session, err := s.readFinish(w, r, &body, schemas.AuthenticationCeremony)
	if err != nil {
		return err
	}
	device := s.device(r)
	step, err := s.signIn(r.WithContext(throttle.WithDevice(r.Context(), device)), &body, session.State)
	if err != nil {
		s.auditRefusal(r, body.answer.ID, err)
		return requestFault(err)
	}
	s.keepDevice(w, device, step)
	return writeJSON(w, http.StatusOK, authenticated{step.User.ID, step.User.Type, step.User.OUID, step.Assertion})
}

// signIn completes the flow of this endpoint with the answer to a ceremony. The engine decides what
// the sign-in proves and may do, as in every other flow.
func (s *server) signIn(r *http.Request, body *authenticationFinish, ceremony json.RawMessage) (*schemas.Step, error) {
	req := runs.NewRequest(r)
	req.Origin, req.WithoutAssertion = body.answer.Origin(), body.SkipAssertion
	step, err := s.Runs.Engine.RunOnce(r.Context(), engine.Once{
		Graph: s.PasskeyFlow, Asked: ceremony, Commit: s.Store.Apply,
		Inputs: map[string]string{
			"credentialId": body.answer.ID, "clientDataJSON": body.answer.ClientDataJSON, "authenticatorData": body.answer.AuthenticatorData,
			"signature": body.answer.Signature, "userHandle": body.answer.UserHandle,
		},
	}, req)
	if err == nil && step.Error != nil {
		err = step.Error
	}
	return step, err
}
