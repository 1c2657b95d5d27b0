package schemas

import (
	"slices"
	"time"
)

// AuthRequest is an authorization request (OpenID Connect Core §3.1.2.1) from
// when it was accepted until its code has been redeemed or it has expired.
type AuthRequest struct {
	ID            string
	ApplicationID string
	ClientID      string
	RedirectURI   string
	ResponseMode  string // "query" or "form_post"
	State, Nonce  string
	Scopes        []string
	Resources     []string // RFC 8707
	CodeChallenge string   // RFC 7636, S256; "" for none
	LoginHint     string
	// Login is what the client asks of the sign-in.
	Login LoginRules
	// BrowserHash is the SHA-256 of the cookie that binds the request to the
	// browser it came from: nobody else can finish it.
	BrowserHash []byte
	// Grant is what the request was granted; nil until then.
	Grant *Grant
	// Refusal is why it was refused; nil unless it was.
	Refusal *Refusal
	// Approval is what a user approved in the request; nil for nothing.
	Approval *Approval

	CreatedAt, ExpiresAt time.Time
}

// LoginRules are what an authorization request asks of a sign-in: OpenID Connect
// Core §3.1.2.1. MaxAge is in seconds, nil when not told. Subject is the id of the
// user whom the client means by id_token_hint, "" for none in particular.
type LoginRules struct {
	Subject   string   `json:"subject,omitempty"`
	Prompt    []string `json:"prompt,omitempty"`
	MaxAge    *int     `json:"maxAge,omitempty"`
	ACRValues []string `json:"acrValues,omitempty"`
}

// Accept reports whether a session is what the client asks for, so that nobody has to
// sign in once more. max_age=0 is a wish for a fresh sign-in, as prompt=login is, also
// in the very second of the last one. acr_values are a wish too: classes that there are
// not are passed over, and a session falls short of the others only where another
// sign-in could do better.
func (r LoginRules) Accept(s *Session, now time.Time) bool {
	if r.Subject != "" && r.Subject != s.UserID {
		return false
	}
	if slices.Contains(r.Prompt, "login") || slices.Contains(r.Prompt, "select_account") {
		return false
	}
	if limit := r.MaxAge; limit != nil && (*limit <= 0 || now.Sub(s.CreatedAt).Seconds() > float64(*limit)) {
		return false
	}
	known := slices.DeleteFunc(slices.Clone(r.ACRValues), func(acr string) bool { return !KnownACR(acr) })
	return len(known) == 0 || slices.ContainsFunc(known, func(acr string) bool { return Satisfies(s.ACR, acr) })
}

// Approval is what a user approved in an authorization request, shortly after they had
// signed in for it: permissions of this server's own API for a client that nobody
// vouches for. It is good for this request alone, and for what comes of it.
type Approval struct {
	UserID string    `json:"userId"`
	Scopes []string  `json:"scopes"`
	At     time.Time `json:"at"`
}

// ApproveAuthRequest keeps an approval. It fails, and does nothing in another browser, as
// GrantAuthRequest does, which it comes before.
type ApproveAuthRequest struct {
	ID          string
	Approval    Approval
	BrowserHash []byte
	At          time.Time
}

func (ApproveAuthRequest) change() {}

// Grant is who signed in for an authorization request, and how.
type Grant struct {
	UserID    string    `json:"userId"`
	SessionID string    `json:"sessionId"`
	AuthTime  time.Time `json:"authTime"`
	AMR       []string  `json:"amr"`
	ACR       string    `json:"acr,omitempty"`
	// Consented says that the user agreed to what the client asks for, or did not
	// have to.
	Consented bool `json:"consented,omitempty"`
	// ByAssertion says that the application has brought the assertion of a run of its
	// own, which may have been in another browser than this one.
	ByAssertion bool `json:"byAssertion,omitempty"`
	// Approved are the scopes that the user approved in the request: see Approval.
	Approved []string `json:"approved,omitempty"`
	// Generation is the TokenGeneration that the application had then. Codes and
	// refresh tokens of another generation are worthless.
	Generation string `json:"generation,omitempty"`
}

// Refusal is what a client is told instead of being granted its request: an error
// code of RFC 6749 §4.1.2.1 or OpenID Connect Core §3.1.2.6, and a text for who
// runs it.
type Refusal struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

// RefuseAuthRequest refuses an authorization request, in the transaction that ends
// the run it belongs to. It fails, and does nothing in another browser, as
// GrantAuthRequest does.
type RefuseAuthRequest struct {
	ID          string
	Refusal     Refusal
	BrowserHash []byte
	At          time.Time
}

func (RefuseAuthRequest) change() {}

// Codes of refusals.
const (
	RefusedAccessDenied    = "access_denied"
	RefusedConsentRequired = "consent_required"
	RefusedLoginRequired   = "login_required"
)

// GrantAuthRequest grants an authorization request, in the transaction that ends
// the run it belongs to. One that is gone, expired or granted already makes the
// whole commit fail with auth_request_not_found, Class Invalid; a session that has
// ended does with authentication_superseded.
//
// BrowserHash is that of the browser in which the run ended. If it is not that of
// the request nothing is granted: somebody else has been led to finish a sign-in
// that another had begun, who would get the code for it.
type GrantAuthRequest struct {
	ID          string
	Grant       Grant
	BrowserHash []byte
	At          time.Time
}

func (GrantAuthRequest) change() {}

// RefreshFamily is what a client may refresh its tokens by. Each token of it is a
// generation; of these the newest is good, and the one before it for as long as
// the reply with the newest may have been lost. Its ID is that of the
// authorization request it comes from.
type RefreshFamily struct {
	ID                      string
	ApplicationID, ClientID string
	Scopes, Resources       []string
	Grant                   Grant
	Generation              int
	RotatedAt               time.Time
	CreatedAt, ExpiresAt    time.Time
}

// Rotation asks for the generation after the given one. A reply with that is
// taken for lost if it is asked for again within Window; any other use of a
// generation that has had its turn ends the family.
type Rotation struct {
	ID         string
	Generation int
	At         time.Time
	Window     time.Duration
	// Revoke is when the last access token of the family will have expired.
	Revoke time.Time
}

// Codes of errors about authorization requests and what comes of them, all of
// Class Invalid.
const (
	CodeAuthCodeNotFound = "auth_code_not_found"
	CodeRefreshNotFound  = "refresh_token_not_found"
)
