package passkey

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/postern-id/postern/schemas"
)

// session is the state between Begin and Finish. Its JSON is opaque to callers.
type session struct {
	Ceremony   schemas.Ceremony `json:"ceremony"`
	Challenge  string           `json:"challenge"` // base64url, as in the options and the client data
	RPID       string           `json:"rpId"`
	Origins    []string         `json:"origins"`           // allowed
	Apps       []string         `json:"apps,omitempty"`    // allowed origins of Android apps
	Outside    []string         `json:"outside,omitempty"` // allowed, but not for this RP ID
	RequireUV  bool             `json:"requireUv,omitempty"`
	ExpiresAt  time.Time        `json:"expiresAt"`
	UserID     string           `json:"userId,omitempty"`
	Algorithms []int64          `json:"algorithms,omitempty"` // offered, registration only
	Attachment string           `json:"attachment,omitempty"` // requested, registration only
	Allow      []schemas.Bytes  `json:"allow,omitempty"`      // IDs that may answer; if Decoys is empty too: any of the user's
	Decoys     []schemas.Bytes  `json:"decoys,omitempty"`     // IDs that were offered and are never accepted
}

// newSession returns a session with a new challenge of 256 bits.
func (c *Ceremonies) newSession(of schemas.Ceremony, rp relyingParty, uv string) (*session, protocol.URLEncodedBase64) {
	challenge := make(protocol.URLEncodedBase64, 32)
	rand.Read(challenge) // never fails
	return &session{
		Ceremony:  of,
		Challenge: challenge.String(),
		RPID:      rp.id,
		Origins:   rp.origins,
		Apps:      rp.apps,
		Outside:   rp.outside,
		RequireUV: uv == Required,
		ExpiresAt: c.config.Now().Add(c.config.Timeout).UTC(),
	}, challenge
}

// encode returns the options for the browser and the session.
func (s *session) encode(options any) (opts, state json.RawMessage, err error) {
	opts, err1 := json.Marshal(options)
	state, err2 := json.Marshal(s)
	return opts, state, errors.Join(err1, err2)
}

// openSession decodes a session and checks its ceremony and expiry. Without the check of
// the ceremony, an answer to a registration, which has fewer checks, could serve as an
// authentication, and vice versa.
func openSession(state json.RawMessage, want schemas.Ceremony, now time.Time) (*session, error) {
	var s session
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, fmt.Errorf("read the passkey session: %w", err)
	}
	if s.Ceremony == "" || s.Challenge == "" || s.RPID == "" {
		return nil, fmt.Errorf("read the passkey session: it has no ceremony, challenge or relying party id")
	}
	if s.Ceremony != want {
		return nil, refuse(StepCeremony, "this session was started for %s and cannot finish %s: start the ceremony again", s.Ceremony, want)
	}
	if !now.Before(s.ExpiresAt) {
		return nil, refuse(StepExpiry, "the ceremony took too long and expired at %s: start it again", s.ExpiresAt.Format(time.RFC3339))
	}
	return &s, nil
}

// listsCredentials reports whether the options named credentials, real or not.
func (s *session) listsCredentials() bool { return len(s.Allow)+len(s.Decoys) > 0 }

// isDecoy reports whether the ID is that of an offered decoy.
func (s *session) isDecoy(id []byte) bool { return contains(s.Decoys, id) && !contains(s.Allow, id) }

func contains(ids []schemas.Bytes, id []byte) bool {
	return slices.ContainsFunc(ids, func(b schemas.Bytes) bool { return bytes.Equal(b, id) })
}
