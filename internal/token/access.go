package token

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Access is the content of an access token. Subject, ClientID and Audience are required.
type Access struct {
	// Subject is a user's id. For a client that acts on its own behalf it is the ClientID
	// (RFC 9068 §2.2).
	Subject, ClientID string
	Audience, Scope   []string
	// ID is the jti; "" generates one. Tokens that are revoked together have ids with the
	// same prefix up to a dot.
	ID      string
	Session string // "" for a token without a session
	// Generation is the TokenGeneration of the client's application.
	Generation string
	Validity   time.Duration // 0: the issuer's default
	AuthTime   time.Time     // when the user authenticated; zero without a user
	ACR        string
	AMR        []string
}

// Access returns a signed access token (RFC 9068).
func (i *Issuer) Access(ctx context.Context, a Access) (string, error) {
	if a.Subject == "" || a.ClientID == "" || len(a.Audience) == 0 {
		return "", errors.New("token: an access token needs a subject, a client and an audience")
	}
	scope, err := joinScope(a.Scope)
	if err != nil {
		return "", err
	}
	return i.issue(ctx, ES256, AccessType, a.Validity, nil, claims{
		Subject: a.Subject, Audience: a.Audience, ClientID: a.ClientID, ID: cmp.Or(a.ID, schemas.NewID()),
		Scope: scope, Session: a.Session, Generation: a.Generation, AuthTime: unixSeconds(a.AuthTime), ACR: a.ACR, AMR: a.AMR,
	})
}
