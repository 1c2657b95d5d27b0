package schemas

import (
	"slices"
	"time"
)

// Consent is a user's consent to the client of an application: the scopes, and the times at which
// the user granted them. A consent without scopes reveals only that the user signed in to the
// client.
type Consent struct {
	UserID        string           `json:"userId"`
	ApplicationID string           `json:"applicationId"`
	Scopes        []ConsentedScope `json:"scopes"`
	// GrantedAt is when the user last granted a scope.
	GrantedAt time.Time `json:"grantedAt"`
	// AskAgainAt is the time after which the user is asked again, nil for never. The client keeps
	// its access until the consent is revoked.
	AskAgainAt *time.Time `json:"askAgainAt,omitempty"`
}

// ConsentedScope is a scope that a user agreed to.
type ConsentedScope struct {
	Scope      string     `json:"scope"`
	GrantedAt  time.Time  `json:"grantedAt"`
	AskAgainAt *time.Time `json:"askAgainAt,omitempty"`
	// Claims identify the claims that the scope released then. Nil, of an earlier release: the standard claims of the
	// scope.
	Claims []string `json:"claims,omitempty"`
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

// Restrict returns the part of the scopes to which the user consented, even if the user is to be
// asked again at the next sign-in. If a scope now contains more than the user consented to, for
// example because the user got a role, the result contains only what the user consented to. The identity
// scopes are those that need no permission.
func (c *Consent) Restrict(scopes, identity []string) []string {
	has := make([]string, len(c.Scopes))
	for i, s := range c.Scopes {
		has[i] = s.Scope
	}
	return slices.DeleteFunc(GrantableScopes(scopes, has, identity), func(scope string) bool {
		return slices.Contains(identity, scope) && !slices.Contains(has, scope)
	})
}

// Releases reports whether the user consented to a claim that the scope releases.
func (c *Consent) Releases(scope, claim string) bool {
	return slices.ContainsFunc(c.Scopes, func(s ConsentedScope) bool {
		names := s.Claims
		if names == nil {
			names = StandardClaims(s.Scope)
		}
		return CoversPermission(s.Scope, scope) && slices.Contains(names, claim)
	})
}

// GrantConsent adds scopes to a user's consent to the client of an application. After AskAgainAt
// the user is asked about them again; zero means never.
type GrantConsent struct {
	UserID, ApplicationID string
	Scopes                []string
	Claims                map[string][]string // that the scopes release: see ConsentedScope
	At, AskAgainAt        time.Time
}

func (GrantConsent) change() lock { return noLock() }

// ConsentData is the member of a step's additionalData with the question: a ConsentQuestion as JSON
// text.
const ConsentData = "consent"

// ConsentQuestion is the question to which a user consents.
type ConsentQuestion struct {
	Client ConsentClient `json:"client"`
	// Account is the account name of the signed-in user.
	Account string `json:"account,omitempty"`
	// Scopes are the scopes in question. Scopes of the request to which the user has already
	// consented are not included.
	Scopes []ConsentScope `json:"scopes"`
}

// ConsentClient describes the client. Unverified states that only its Domain is verified; the rest
// is self-asserted.
type ConsentClient struct {
	Name   string `json:"name"`
	Domain string `json:"domain,omitempty"`
	// RedirectDomain is the domain that receives the answer, if it differs from Domain.
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
		return !slices.ContainsFunc(q.Scopes, func(shown ConsentScope) bool { return shown.Scope == s.Scope && isSubset(s.Releases, shown.Releases) })
	}
	return q.Client == now.Client && !slices.ContainsFunc(now.Scopes, isNew)
}

// ConsentScope is a scope in plain words.
type ConsentScope struct {
	Scope string `json:"scope"`
	Text  string `json:"text"`
	// Claims are the claims that the scope releases, with the values that the user has now.
	Claims []ConsentClaim `json:"claims,omitempty"`
	// Releases identify the claims: see ConsentedScope.
	Releases []string `json:"releases,omitempty"`
}

// ConsentClaim is a claim in plain words.
type ConsentClaim struct {
	Name string `json:"name"`
	Text string `json:"text"`
	// Value is the value, shortened; "" if the user has none. A boolean is Yes or No.
	Value   string `json:"value,omitempty"`
	Boolean bool   `json:"boolean,omitempty"`
}

func isSubset(of, all []string) bool {
	return !slices.ContainsFunc(of, func(one string) bool { return !slices.Contains(all, one) })
}
