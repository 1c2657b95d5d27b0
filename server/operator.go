package server

import (
	"context"
	"net/http"
	"time"

	"github.com/postern-id/postern/schemas"
)

// SigningKeys are the keys that sign tokens.
type SigningKeys interface {
	SigningKeys() []schemas.SigningKey
	// SignsFrom is when a published key starts to sign.
	SignsFrom(k schemas.SigningKey) time.Time
	// Rotate publishes the next key of each algorithm; with now, the key signs at once. The events
	// contain the actor and the trace id of by.
	Rotate(ctx context.Context, now bool, by schemas.Event) error
}

// keyResponse describes a signing key without its private half.
type keyResponse struct {
	ID          string            `json:"id"` // the kid
	Algorithm   string            `json:"algorithm"`
	Status      schemas.KeyStatus `json:"status"`
	PublishedAt time.Time         `json:"publishedAt"`
	// SignsFrom is when the key starts to sign, or started to.
	SignsFrom time.Time  `json:"signsFrom"`
	RetiredAt *time.Time `json:"retiredAt,omitempty"`
	// NeededUntil is when the last token that a retired key has signed expires.
	NeededUntil *time.Time `json:"neededUntil,omitempty"`
}

type keyList struct {
	Keys []keyResponse `json:"keys"`
}

// signingKeys handles GET /signing-keys.
func (s *server) signingKeys(w http.ResponseWriter, _ *http.Request, _ *caller) error {
	list := keyList{Keys: []keyResponse{}}
	for _, k := range s.Keys.SigningKeys() {
		one := keyResponse{ID: k.ID, Algorithm: k.Algorithm, Status: k.Status, PublishedAt: k.CreatedAt, SignsFrom: k.SignsSince}
		if k.Status == schemas.KeyPublished {
			one.SignsFrom = s.Keys.SignsFrom(k)
		}
		if k.Status == schemas.KeyRetired {
			one.RetiredAt, one.NeededUntil = timeOrNil(k.RetiredAt), timeOrNil(k.NeededUntil)
		}
		list.Keys = append(list.Keys, one)
	}
	return writeJSON(w, http.StatusOK, list)
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// rotationBody is the body of POST /signing-keys/rotate.
type rotationBody struct {
	Now *bool `json:"now,omitempty"`
}

func (*rotationBody) check() []schemas.Problem { return nil }

// rotateKeys handles POST /signing-keys/rotate. It replies with the keys.
func (s *server) rotateKeys(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body rotationBody
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	if err := s.Keys.Rotate(r.Context(), body.Now != nil && *body.Now, schemas.Event{Actor: c.Actor, TraceID: c.TraceID}); err != nil {
		return err
	}
	return s.signingKeys(w, r, c)
}
