package server

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// openSession stores the state of a ceremony and returns the token for its finish. It replaces the
// owner's older session for the same ceremony.
func (s *server) openSession(ctx context.Context, of schemas.Ceremony, owner string, state json.RawMessage) (token string, err error) {
	token = schemas.NewSecret()
	return token, s.Store.PutPasskeySession(ctx, schemas.PasskeySession{
		TokenHash: schemas.HashSecret(token),
		Ceremony:  of,
		Owner:     owner,
		State:     state,
		ExpiresAt: s.now().Add(s.SessionTTL),
	})
}

// A ceremony belongs to one relying party: a passkey of one cannot answer a challenge of another. So
// owners distinguish relying parties, and a start replaces only an older one for the same.

// anonymousOwner returns the owner of a session that was started without a token: a client, the user
// it named and the relying party. A shared owner of all clients would let any of them invalidate the
// session of another, so the address and the User-Agent, as a digest, distinguish them. Many users
// can be behind one client, so a session without a user has an owner of its own.
func (s *server) anonymousOwner(r *http.Request, body *authenticationStart) string {
	userID := text(body.UserID)
	if userID == "" {
		return "anonymous:" + schemas.NewID()
	}
	parts := []string{userID, s.client(r).String(), r.UserAgent(), s.Passkeys.RPID(body.RelyingPartyID)}
	return "anonymous:" + hex.EncodeToString(schemas.HashSecret(strings.Join(parts, "\x00")))
}

// registrationOwner returns the owner of a registration: the user, and the relying party unless it is
// the default one.
func (s *server) registrationOwner(body *registrationStart) string {
	if rpID := s.Passkeys.RPID(body.RelyingPartyID); rpID != s.Passkeys.RPID("") {
		return *body.UserID + " " + rpID
	}
	return *body.UserID
}

// userOfRegistration returns the user of the owner of a registration.
func userOfRegistration(owner string) string {
	userID, _, _ := strings.Cut(owner, " ")
	return userID
}

// consumeSession removes and returns the session of a finish. A token of the other ceremony is
// consumed as well.
func (s *server) consumeSession(ctx context.Context, token string, of schemas.Ceremony) (*schemas.PasskeySession, error) {
	session, err := s.Store.TakePasskeySession(ctx, schemas.HashSecret(token), s.now())
	if err != nil {
		return nil, err
	}
	if session.Ceremony != of {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeStaleSession,
			"this sessionToken is that of a passkey %s and cannot finish a passkey %s; it is no longer valid; start again", session.Ceremony, of)
	}
	return session, nil
}

// dropSession removes the session of a client that starts again. Any holder of the token could also
// consume it with a finish; a stale token is ignored.
func (s *server) dropSession(ctx context.Context, token *string) error {
	if token == nil {
		return nil
	}
	_, err := s.Store.TakePasskeySession(ctx, schemas.HashSecret(*token), s.now())
	if schemas.HasCode(err, schemas.CodeStaleSession) {
		return nil
	}
	return err
}

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
