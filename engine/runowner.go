package engine

import (
	"bytes"
	"crypto/subtle"
)

// runOwner is the client that a run belongs to: the one that proved something in it.
// Browser is the SHA-256 of the cookie of its browser, nil if the request had none.
//
// Else somebody could begin a run and lead another person into it by its id, on the
// server's own pages. That person would authenticate there, and whoever began the run
// could go on with it: agree to what an application asks for, or register a passkey of
// their own with the other's account. Or they could bring an identity of their own at
// another provider, for the other to link to their account. Where no cookie tells
// browsers apart, the challenge token of the newest step does: only who got the replies
// to the proof and since then has it.
//
// The same holds for programs, which send neither a cookie nor an Origin. The id of a run
// identifies it and authorizes nothing: it stands in addresses, and so in the logs of
// proxies, and applications may log it.
type runOwner struct {
	Browser []byte `json:"browser,omitempty"`
}

// claimOwnership makes the run the one of whom the request comes from, if the decision proves
// anything. A session is a bond of its own: see admit.
func (r *run) claimOwnership(d *Decision) {
	if d.Identity != nil || len(d.Methods) > 0 && d.Session == "" {
		r.state.Owner = &runOwner{Browser: r.request.Browser}
	}
}

// isOwner reports whether the request comes from the client that the run belongs to:
// from its browser, or with the newest challenge token. Any client that knows the id may
// continue a run in which nothing has been proved.
func (r *run) isOwner(token string) bool {
	b := r.state.Owner
	if b == nil || r.isNewest(token) {
		return true
	}
	return b.Browser != nil && bytes.Equal(b.Browser, r.request.Browser)
}

// isNewest reports whether a challenge token is that of the current question. It compares
// in constant time, because the token authorizes.
func (r *run) isNewest(token string) bool {
	return token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(r.state.Token)) == 1
}
