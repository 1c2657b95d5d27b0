package token

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// accessClaims are the claims of an access token: RFC 9068 §2.2.
type accessClaims struct {
	Issuer     string   `json:"iss"`
	Subject    string   `json:"sub"`
	Audience   audience `json:"aud"`
	ClientID   string   `json:"client_id"`
	IssuedAt   int64    `json:"iat"`
	Expires    int64    `json:"exp"`
	ID         string   `json:"jti"`
	Scope      string   `json:"scope,omitempty"`
	Session    string   `json:"sid,omitempty"`
	Generation string   `json:"tgen,omitempty"`
	AuthTime   int64    `json:"auth_time,omitempty"`
	ACR        string   `json:"acr,omitempty"`
	AMR        []string `json:"amr,omitempty"`
}

// Access returns a signed access token (RFC 9068).
func (i *Issuer) Access(ctx context.Context, a Access) (string, error) {
	if err := i.Ready(); err != nil {
		return "", err
	}
	if a.Subject == "" || a.ClientID == "" || len(a.Audience) == 0 {
		return "", errors.New("token: an access token needs a subject, a client and an audience")
	}
	scope, err := joinScope(a.Scope)
	if err != nil {
		return "", err
	}
	now := i.now()
	claims := &accessClaims{
		Issuer: i.issuer, Subject: a.Subject, Audience: a.Audience, ClientID: a.ClientID,
		IssuedAt: now.Unix(), Expires: now.Add(cmp.Or(a.Validity, i.accessTTL)).Unix(), ID: cmp.Or(a.ID, schemas.NewID()),
		Scope: scope, Session: a.Session, Generation: a.Generation, ACR: a.ACR, AMR: a.AMR,
	}
	if !a.AuthTime.IsZero() {
		claims.AuthTime = a.AuthTime.Unix()
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("token: writing the claims: %w", err)
	}
	return i.sign(ctx, ES256, AccessType, payload, claims.Expires)
}
