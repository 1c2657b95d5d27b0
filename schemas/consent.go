package schemas

import (
	"slices"
	"time"
)

// Consent is what a user lets the client of an application have: the scopes,
// and since when. One without any scope lets the client know that the user signed
// in to it, and nothing else.
type Consent struct {
	UserID        string           `json:"userId"`
	ApplicationID string           `json:"applicationId"`
	Scopes        []ConsentedScope `json:"scopes"`
	// GrantedAt is when the user last agreed to anything.
	GrantedAt time.Time `json:"grantedAt"`
	// AskAgainAt is from when the user is asked again, nil for never. Until the
	// consent is revoked the client keeps what it has.
	AskAgainAt *time.Time `json:"askAgainAt,omitempty"`
}

// ConsentedScope is a scope that a user agreed to.
type ConsentedScope struct {
	Scope      string     `json:"scope"`
	GrantedAt  time.Time  `json:"grantedAt"`
	AskAgainAt *time.Time `json:"askAgainAt,omitempty"`
}

// isDue reports whether the consent has expired at now.
func isDue(askAgainAt *time.Time, now time.Time) bool {
	return askAgainAt != nil && !now.Before(*askAgainAt)
}

// Missing returns the scopes without consent, and whether there is anything to ask: the first
// sign-in to a client is asked for as well. A nil consent means that the user was never asked.
func (c *Consent) Missing(scopes []string, now time.Time) (missing []string, ask bool) {
	if c == nil {
		return scopes, true
	}
	for _, scope := range scopes {
		if !slices.ContainsFunc(c.Scopes, func(s ConsentedScope) bool { return !isDue(s.AskAgainAt, now) && CoversPermission(s.Scope, scope) }) {
			missing = append(missing, scope)
		}
	}
	return missing, len(missing) > 0 || isDue(c.AskAgainAt, now)
}

// Restrict returns what of the scopes the consent lets the client have, also where
// the user is to be asked again the next time. Where a scope goes further than the
// user agreed to, as after they were given a role, it is what they agreed to.
func (c *Consent) Restrict(scopes []string) []string {
	has := make([]string, len(c.Scopes))
	for i, s := range c.Scopes {
		has[i] = s.Scope
	}
	return slices.DeleteFunc(GrantableScopes(scopes, has), func(scope string) bool {
		return slices.Contains(IdentityScopes(), scope) && !slices.Contains(has, scope)
	})
}

// GrantConsent adds scopes to what a user lets the client of an application have.
// The user is asked about them again from AskAgainAt on; zero means never.
type GrantConsent struct {
	UserID, ApplicationID string
	Scopes                []string
	At, AskAgainAt        time.Time
}

func (GrantConsent) change() {}

// ConsentData is the member of a step's additionalData with the question: a ConsentQuestion as JSON
// text.
const ConsentData = "consent"

// ConsentQuestion is what a person is asked to agree to.
type ConsentQuestion struct {
	Client ConsentClient `json:"client"`
	// Account is what the person who is signed in is called.
	Account string `json:"account,omitempty"`
	// Scopes are those that are asked about. They may be fewer than the client asks
	// for: the person has agreed to the others before.
	Scopes []ConsentScope `json:"scopes"`
}

// ConsentClient describes the client. Unverified means that only its Domain is known; the rest is
// its own claim.
type ConsentClient struct {
	Name   string `json:"name"`
	Domain string `json:"domain,omitempty"`
	// RedirectDomain is where the answer goes, if that is another than the Domain.
	RedirectDomain string `json:"redirectDomain,omitempty"`
	Unverified     bool   `json:"unverified,omitempty"`
	LogoURL        string `json:"logoUrl,omitempty"`
	URL            string `json:"url,omitempty"`
	PolicyURI      string `json:"policyUri,omitempty"`
	TosURI         string `json:"tosUri,omitempty"`
}

// Covers reports whether consent to q also covers now: the same client, and nothing that q did not
// show.
func (q *ConsentQuestion) Covers(now *ConsentQuestion) bool {
	isNew := func(s ConsentScope) bool {
		return !slices.ContainsFunc(q.Scopes, func(shown ConsentScope) bool { return shown.Scope == s.Scope })
	}
	return q.Client == now.Client && !slices.ContainsFunc(now.Scopes, isNew)
}

// ConsentScope is a scope in plain words.
type ConsentScope struct {
	Scope string `json:"scope"`
	Text  string `json:"text"`
}
