package oauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/google/uuid"
)

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
