package server

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
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
	// SkipAssertion leaves the assertion out of the reply, and nothing else.
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
	verified, err := s.Passkeys.FinishAuthentication(r.Context(), session.State, body.answer, s.Store.Credential, s.now())
	if err != nil {
		s.auditRefusal(r, body.answer.ID, err)
		return requestFault(err)
	}
	reply, err := s.signIn(r, verified, !body.SkipAssertion)
	if err != nil {
		return requestFault(err)
	}
	return writeJSON(w, http.StatusOK, reply)
}

// signIn records the authentication. If requested, it signs the assertion and starts its session.
func (s *server) signIn(r *http.Request, v *passkey.Verified, assert bool) (*authenticated, error) {
	user, err := s.Store.User(r.Context(), v.UserID)
	if err != nil {
		return nil, err
	}
	reply := &authenticated{ID: user.ID, Type: user.Type, OUID: user.OUID}
	detail := map[string]string{"credentialId": v.Use.ID.String()}
	if v.CounterRegressed {
		detail["counterRegressed"] = "true"
	}
	rests := schemas.RequireProofs{UserID: user.ID, Proofs: []schemas.Proof{{Kind: schemas.PasskeyProof, Of: v.Use.ID.String()}}, At: s.now()}
	changes := []schemas.Change{v.Use, s.event(r, "passkey.used", user.ID, detail)}
	if assert {
		var session schemas.Session
		if reply.Assertion, session, err = s.assert(r, user, v); err != nil {
			return nil, err
		}
		session.Proofs = rests.Proofs
		changes = append(changes, schemas.StartSession{Session: session},
			s.event(r, "user.signed_in", user.ID, map[string]string{"acr": v.ACR, "sessionId": session.ID}))
	}
	return reply, s.recordRefusal(r, user.ID, s.Store.Apply(r.Context(), append(changes, rests)))
}

// assert signs the assertion of a session that is not stored yet.
func (s *server) assert(r *http.Request, user *schemas.User, v *passkey.Verified) (string, schemas.Session, error) {
	permissions, err := s.permissionsAt(r, user, v.Origin)
	if err != nil {
		return "", schemas.Session{}, err
	}
	now := s.now()
	statement := schemas.Assertion{
		Subject:     user.ID,
		Audience:    []string{s.PublicURL},
		AuthTime:    now,
		AMR:         v.Methods,
		ACR:         v.ACR,
		Permissions: permissions,
		UserType:    user.Type,
		OUID:        user.OUID,
		Profile:     user.Profile(nil),
		Validity:    s.Tokens.AssertionTTL(),
	}
	session := statement.StartSession("", r.UserAgent(), now)
	assertion, err := s.Tokens.Assert(r.Context(), statement)
	if err != nil {
		return "", schemas.Session{}, fmt.Errorf("assert: %w", internalError(err))
	}
	return assertion, session, nil
}

// permissionsAt returns the permissions of a user who signs in at a page without naming an
// application. Only pages of this server get them: any other page might be one to which an attacker
// led the user.
func (s *server) permissionsAt(r *http.Request, user *schemas.User, origin string) ([]string, error) {
	if origin != s.origin {
		return nil, nil
	}
	return s.Store.Permissions(r.Context(), user.ID)
}
