package engine

import "bytes"

// bringer is whom a run belongs to: who has proved something in it. Browser is the
// SHA-256 of the cookie of their browser, nil where that is not known.
//
// Else somebody could begin a run and lead another person into it by its id, on the
// server's own pages. That person would authenticate there, and whoever began the run
// could go on with it: agree to what an application asks for, or register a passkey of
// their own with the other's account. Or they could bring an identity of their own at
// another provider, for the other to link to their account. Where no cookie tells
// browsers apart, the challenge token of the newest step does: only who got the replies
// to the proof and since then has it.
type bringer struct {
	Browser []byte `json:"browser,omitempty"`
}

// bring makes the run the one of whom the request comes from, if the decision proves
// anything. A program that is no browser cannot be led anywhere: what it proves about a
// user binds the run to nobody. A session is a bond of its own: see admit.
func (r *run) bring(d *Decision) {
	browser := r.request.Browser != nil || r.request.Origin != ""
	if d.Identity != nil || browser && len(d.Methods) > 0 && d.Session == "" {
		r.state.Bringer = &bringer{r.request.Browser}
	}
}

// isBringers reports whether the request comes from whom the run belongs to, who may
// show it by the token. A run in which nothing has been proved is anybody's who knows its
// id.
func (r *run) isBringers(token string) bool {
	b := r.state.Bringer
	return b == nil || b.Browser != nil && bytes.Equal(b.Browser, r.request.Browser) || token != "" && token == r.state.Token
}
