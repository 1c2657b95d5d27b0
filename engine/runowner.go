package engine

import (
	"bytes"
	"crypto/subtle"
)

// runOwner is the client that a run belongs to: the one that proved something in it. Browser is
// the SHA-256 of its browser cookie, nil if the request had none.
//
// Without an owner, an attacker could start a run and lead another person into it by its ID, on
// the server's own pages. After that person authenticates, the attacker could continue the run:
// grant an application's request, or register a passkey for the other person's account. An
// attacker could also prove an own identity at another provider and have the other person link
// it. Where no cookie identifies the browser, the challenge token of the newest step does: only
// the client that received the reply to the proof, and each later reply, has it.
//
// The same holds for programs, which send neither a cookie nor an Origin. The ID of a run
// authorizes nothing: it appears in URLs, and so in the logs of proxies and applications.
type runOwner struct {
	Browser []byte `json:"browser,omitempty"`
}

// claimOwnership makes the client of the current request the owner of the run if the decision
// contains a proof. A session is a binding of its own: see authorizeRequest.
func (r *run) claimOwnership(d *Decision) {
	if d.Identity != nil || d.authenticates() && d.Session == "" {
		r.state.Owner = &runOwner{Browser: r.request.Browser}
	}
}

// isOwner reports whether the request comes from the owner of the run: from its browser, or with
// the newest challenge token. Any client that knows the ID may continue a run without proofs.
func (r *run) isOwner(token string) bool {
	b := r.state.Owner
	if b == nil || r.isNewest(token) {
		return true
	}
	return b.Browser != nil && bytes.Equal(b.Browser, r.request.Browser)
}

// isNewest reports whether a challenge token is that of the current question. It compares in
// constant time because the token authorizes.
func (r *run) isNewest(token string) bool {
	return token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(r.state.Token)) == 1
}
