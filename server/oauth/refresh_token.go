package oauth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/zitadel/oidc/v3/pkg/oidc"

	"github.com/postern-id/postern/schemas"
)

// lostReplyWindow is how long a used refresh token can be used again, because the reply was lost.
const lostReplyWindow = 10 * time.Second

// errRefresh is the error for every unusable refresh token.
func errRefresh() *Error {
	return errorf(codeInvalidGrant, "there is no such refresh token, or it has expired, been used or been revoked, or it is another client's")
}

// refresh is the grant of RFC 6749 §6. A token can be used once, and the reply contains the next.
func (p *Provider) refresh(ctx context.Context, c *client, form url.Values) (*oidc.AccessTokenResponse, error) {
	f, generation, err := p.findFamily(ctx, c, form.Get("refresh_token"))
	if err != nil {
		return nil, err
	}
	if !p.mayContinue(c, f) {
		return nil, errorf(codeInvalidGrant, "the session of the user in this application has ended, or was not used for too long: sign the user in again")
	}
	// As with a code, a request that fails uses nothing up.
	asked, err := narrowedScope(f.Scopes, form.Get("scope"))
	if err != nil {
		return nil, err
	}
	narrow := *f
	narrow.Scopes = asked
	s, err := p.subject(ctx, c, &narrow, form)
	if err != nil {
		return nil, err
	}
	if err := p.rotate(ctx, c, f, generation); err != nil {
		return nil, err
	}
	if err := p.recordRefresh(ctx, c, f, s.scope); err != nil {
		return nil, err
	}
	s.family.Generation = generation + 1
	return p.issue(ctx, s)
}

// mayContinue reports whether the application's session of a family goes on. Tokens with offline_access belong to no
// session of a browser.
func (p *Provider) mayContinue(c *client, f *schemas.RefreshFamily) bool {
	isOffline, issued := f.SessionID == f.ID, f.RotatedAt
	if issued.Before(f.CreatedAt) {
		issued = f.CreatedAt
	}
	return isOffline || c.AcceptsRefresh(f.Grant.AuthTime, issued, p.now(), p.accessTTL(c), p.SessionIdleTimeout)
}

// findFamily returns the family of a refresh token of the client.
func (p *Provider) findFamily(ctx context.Context, c *client, raw string) (*schemas.RefreshFamily, int, error) {
	f, generation, err := p.liveFamily(ctx, raw)
	if err == nil && (f.ClientID != c.ClientID || f.Grant.Generation != c.TokenGeneration) {
		return nil, 0, errRefresh()
	}
	return f, generation, err
}

// liveFamily returns the family of a refresh token of any client. It returns errRefresh if there is
// none or it has expired.
func (p *Provider) liveFamily(ctx context.Context, raw string) (*schemas.RefreshFamily, int, error) {
	id, generation, ok := p.openRefresh(raw)
	if !ok {
		return nil, 0, errRefresh()
	}
	f, err := p.Store.RefreshFamily(ctx, id)
	if err != nil && !schemas.HasCode(err, schemas.CodeRefreshNotFound) {
		return nil, 0, err
	}
	if err != nil || !p.now().Before(f.ExpiresAt) {
		return nil, 0, errRefresh()
	}
	return f, generation, nil
}

func (p *Provider) rotate(ctx context.Context, c *client, f *schemas.RefreshFamily, generation int) error {
	reused, err := p.Store.RotateRefresh(ctx, schemas.Rotation{
		ID: f.ID, Generation: generation, At: p.now(), Window: lostReplyWindow, Revoke: p.revokeUntil(c),
	})
	switch {
	case schemas.HasCode(err, schemas.CodeRefreshNotFound):
		return errRefresh()
	case err != nil:
		return err
	case reused:
		return errors.Join(errRefresh(), p.recordTheft(ctx, c, f.Grant.UserID, "refresh_token"))
	}
	return nil
}

// narrowedScope returns the requested scopes among the granted ones.
func narrowedScope(granted []string, asked string) ([]string, error) {
	if asked == "" {
		return granted, nil
	}
	scopes, err := parseScope(asked)
	if err != nil {
		return nil, err
	}
	for _, scope := range scopes {
		if !slices.Contains(granted, scope) {
			return nil, errorf(codeInvalidScope, "the scope %.100s was not granted: leave scope out to get all granted scopes", shownValue(scope)).refusing("scope", scope)
		}
	}
	return scopes, nil
}

// Refresh tokens
//
// A refresh token is the id of its family, its generation and a MAC of both. It is not stored: the
// store has the current generation of a family. So a reader of the store cannot create one; a
// repeated reply contains the same token; and an old token is recognized at any age.

// refreshSize is the size of a refresh token in bytes: id, generation, MAC.
const refreshSize = 16 + 4 + sha256.Size

// refreshToken returns the token of a family's generation.
func (p *Provider) refreshToken(family string, generation int) string {
	id, err := uuid.Parse(family)
	if err != nil {
		panic(err) // ids are generated here
	}
	text := binary.BigEndian.AppendUint32(id[:], uint32(generation))
	return base64.RawURLEncoding.EncodeToString(append(text, p.refreshMAC(text)...))
}

func (p *Provider) refreshMAC(text []byte) []byte {
	mac := hmac.New(sha256.New, p.RefreshKey)
	mac.Write(text)
	return mac.Sum(nil)
}

// openRefresh parses and verifies a refresh token.
func (p *Provider) openRefresh(raw string) (family string, generation int, ok bool) {
	if len(raw) != base64.RawURLEncoding.EncodedLen(refreshSize) || strings.ContainsAny(raw, "\r\n") {
		return "", 0, false
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(raw)
	if err != nil || len(text) != refreshSize {
		return "", 0, false
	}
	head, mac := text[:refreshSize-sha256.Size], text[refreshSize-sha256.Size:]
	if !hmac.Equal(mac, p.refreshMAC(head)) {
		return "", 0, false
	}
	return uuid.UUID(head[:16]).String(), int(binary.BigEndian.Uint32(head[16:])), true
}
