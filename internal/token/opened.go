package token

import (
	"crypto/sha256"
	"slices"

	"github.com/postern-id/postern/internal/recent"
)

// maxOpened bounds openedTokens, of about a kilobyte each.
const maxOpened = 4096

// openedTokens are the claims of tokens whose signatures were verified with the keys of a keySet, by
// the hash of the token. A client sends the same token many times, and the signature is most of the
// work. Nothing else is remembered: times, audience, revocation and permissions are checked at each
// use, and another keySet starts empty.
type openedTokens struct {
	recent.Map[[sha256.Size]byte, claims]
}

// find returns a copy of the claims of a token; nil if it is unknown.
func (o *openedTokens) find(hash [sha256.Size]byte) *claims {
	c, found := o.Find(hash)
	if !found {
		return nil
	}
	c.Audience, c.AMR = slices.Clone(c.Audience), slices.Clone(c.AMR)
	return &c
}

// add remembers the claims of a token that was verified.
func (o *openedTokens) add(hash [sha256.Size]byte, c claims) {
	c.Audience, c.AMR = slices.Clone(c.Audience), slices.Clone(c.AMR)
	o.Put(hash, c)
}
