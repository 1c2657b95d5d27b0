package engine

import "bytes"

// bringer is whom a run belongs to: who has proved something in it. Browser is the
// SHA-256 of the cookie of their browser, nil where that is not known. Program says that
// it was no browser.
//
// Else somebody could begin a run and lead another person into it by its id, on the
// server's own pages. That person would authenticate there, and whoever began the run
// could go on with it: agree to what an application asks for, or register a passkey of
// their own with the other's account. Or they could bring an identity of their own at
// another provider, for the other to link to their account. Where no cookie tells
// browsers apart, the challenge token of the newest step does: only who got the replies
// to the proof and since then has it.
//
// A program cannot be led anywhere, so it need not keep tokens. But what it has proved is
// not for browsers to go on with: else somebody could sign in by a program, and lead
// another's browser into the run to link their identity, or to register their passkey.
type bringer struct {
	Browser []byte `json:"browser,omitempty"`
	Program bool   `json:"program,omitempty"`
}

// bring makes the run the one of whom the request comes from, if the decision proves
// anything. A session is a bond of its own: see admit.
func (r *run) bring(d *Decision) {
	if d.Identity != nil || len(d.Methods) > 0 && d.Session == "" {
		r.state.Bringer = &bringer{Browser: r.request.Browser, Program: r.request.isProgram()}
	}
}

// isProgram reports whether the request comes from what is no browser: those name their
// page's origin, and bring their cookies.
func (r Request) isProgram() bool { return r.Browser == nil && r.Origin == "" }

// isBringers reports whether the request comes from whom the run belongs to, who may
// show it by the token. A run in which nothing has been proved is anybody's who knows its
// id.
func (r *run) isBringers(token string) bool {
	b := r.state.Bringer
	switch {
	case b == nil, token != "" && token == r.state.Token:
		return true
	case b.Program:
		return r.request.isProgram()
	}
	return b.Browser != nil && bytes.Equal(b.Browser, r.request.Browser)
}
