package engine

import "bytes"

// Identity is what another provider calls the person who answers. They have proved it
// in this run, and it was nobody's here when they did. No client is told of it.
type Identity struct {
	ProviderID string `json:"providerId"`
	Subject    string `json:"subject"`
	// Name is how the person is called there, for people to recognize. It proves
	// nothing.
	Name string `json:"name,omitempty"`
}

// held is the identity that a run holds, and the browser that brought it: the SHA-256
// of its cookie, nil where that is not known.
type held struct {
	Identity
	Browser []byte `json:"browser,omitempty"`
}

// isWithBringer reports whether the request comes from the browser that has brought
// the identity which the run holds; it does where the run holds none.
//
// Else somebody could begin a run, bring an identity of their own, and lead another
// person into the run by its id, who would authenticate there and link it to their
// account: whoever began it could sign in to that account ever after. Where no cookie
// tells browsers apart, the challenge token of the newest step does: only who has the
// replies of the run knows it, and to ask for the step again brings none.
func (r *run) isWithBringer() bool {
	h := r.state.Held
	return h == nil || h.Browser != nil && bytes.Equal(h.Browser, r.request.Browser)
}
