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
	// Login contains the client's requirements for the sign-in.
	Login LoginRules
	// BrowserHash is the SHA-256 of the cookie that binds the request to its browser: no other
	// browser can finish it.
	BrowserHash []byte
	// Grant is the result of the sign-in; nil until the request is granted.
	Grant *Grant
	// Refusal is the reason for which the request was refused; nil if it was not.
	Refusal *Refusal
	// Approval contains the permissions that the user approved in the request; nil if none.
	Approval *Approval

	CreatedAt, ExpiresAt time.Time
}

// LoginRules are the requirements of an authorization request for the sign-in: OpenID Connect Core
// §3.1.2.1. MaxAge is in seconds, nil if absent. Subject is the user of the id_token_hint, "" for
// none. OnlyPermissions are the scopes of a request that are all permissions; nil if one is not.
type LoginRules struct {
	Subject   string   `json:"subject,omitempty"`
	Prompt    []string `json:"prompt,omitempty"`
	MaxAge    *int     `json:"maxAge,omitempty"`
	ACRValues []string `json:"acrValues,omitempty"`

	OnlyPermissions []string `json:"onlyPermissions,omitempty"`

	// Claims are the claims that the client requests by name, nil for none. RequiredACR states that the sign-in
	// must satisfy one of ACRValues (OpenID Connect Core §5.5.1.1).
	Claims      *ClaimsRequest `json:"claims,omitempty"`
	RequiredACR bool           `json:"requiredAcr,omitempty"`
}

// Accept reports whether a session satisfies the client, so that the user need not sign in again.
// max_age=0 requests a fresh sign-in like prompt=login, also within the second of the last one.
// acr_values are a preference: unknown classes are ignored, and a session fails the others only if
// another sign-in could do better.
func (r LoginRules) Accept(s *Session, now time.Time) bool {
	if r.Subject != "" && r.Subject != s.UserID {
		return false
	}
	if slices.Contains(r.Prompt, "login") || slices.Contains(r.Prompt, "select_account") {
		return false
	}
	since := s.AuthTime(AnsweredACR(s.ACR, r.ACRValues))
	if limit := r.MaxAge; limit != nil && (*limit <= 0 || now.Sub(since).Seconds() > float64(*limit)) {
		return false
	}
	known := slices.DeleteFunc(slices.Clone(r.ACRValues), func(acr string) bool { return !KnownACR(acr) })
	return len(known) == 0 || slices.ContainsFunc(known, func(acr string) bool { return Satisfies(s.ACR, acr) })
}

// Approval is what a user approved in an authorization request, shortly after signing in for it:
// permissions of this API for an untrusted client. It is valid for this request and its tokens
// only.
type Approval struct {
	UserID string    `json:"userId"`
	Scopes []string  `json:"scopes"`
	At     time.Time `json:"at"`
}

// ApproveAuthRequest stores an approval, before GrantAuthRequest. It fails like GrantAuthRequest,
// and like that does nothing in another browser.
type ApproveAuthRequest struct {
	ID          string
	Approval    Approval
	BrowserHash []byte
	At          time.Time
}

func (ApproveAuthRequest) change() lock { return noLock() }

// Grant describes the user and the sign-in that answer an authorization request.
type Grant struct {
	UserID    string    `json:"userId"`
	SessionID string    `json:"sessionId"`
	AuthTime  time.Time `json:"authTime"`
	AMR       []string  `json:"amr"`
	ACR       string    `json:"acr,omitempty"`
	// Consented states that the user consented to the client's request, or that consent was not
	// needed.
	Consented bool `json:"consented,omitempty"`
	// ByAssertion states that the application presented the assertion of its own run, which may
	// have been in another browser.
	ByAssertion bool `json:"byAssertion,omitempty"`
	// Approved are the scopes that the user approved in the request: see Approval.
	Approved []string `json:"approved,omitempty"`
	// Generation is the TokenGeneration that the application had then. Codes and refresh tokens of
	// another generation are invalid.
	Generation string `json:"generation,omitempty"`
	// Claims are those of the LoginRules.
	Claims *ClaimsRequest `json:"claims,omitempty"`
}

// Refusal is the answer to a rejected request: an error code of RFC 6749 §4.1.2.1 or OpenID
// Connect Core §3.1.2.6, with a text for the client's developer.
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

func (RefuseAuthRequest) change() lock { return noLock() }

// Codes of refusals.
const (
	RefusedAccessDenied    = "access_denied"
	RefusedConsentRequired = "consent_required"
	RefusedLoginRequired   = "login_required"
	// RefusedClass is from OpenID Connect Core Unmet Authentication Requirements 1.0.
	RefusedClass = "unmet_authentication_requirements"
)

// CreateAuthRequest stores an authorization request. Its client must exist, else the error is
// application_not_found.
type CreateAuthRequest struct{ Request AuthRequest }

func (CreateAuthRequest) change() lock { return noLock() }

// GrantAuthRequest grants an authorization request, in the transaction that ends its run. If the
// request is gone, expired or already granted, the whole commit fails with auth_request_not_found,
// Class Invalid; if the session has ended, with authentication_superseded.
//
// BrowserHash is that of the browser in which the run ended. If it is not that of the request,
// nothing is granted: otherwise an attacker who started the sign-in could lead a user to finish it,
// and would get the code.
type GrantAuthRequest struct {
	ID          string
	Grant       Grant
	BrowserHash []byte
	At          time.Time
}

func (GrantAuthRequest) change() lock { return noLock() }

// RefreshFamily is a series of refresh tokens, one for each generation. The newest token is valid.
// The token before it is valid for a short time, because the client may not have received the
// newest one. ID is the id of the authorization request from which the family comes.
type RefreshFamily struct {
	ID                      string
	ApplicationID, ClientID string
	Scopes, Resources       []string
	Grant                   Grant
	// SessionID is the session that the tokens belong to: that of the grant, or with offline_access
	// one of their own, with the id of the family (see Session.OfflineOf).
	SessionID            string
	Generation           int
	RotatedAt            time.Time
	CreatedAt, ExpiresAt time.Time
}

// Rotation requests the generation after the given one. A repeated request within Window means that
// the reply was lost. Any other use of an earlier generation revokes the family.
type Rotation struct {
	ID         string
	Generation int
	At         time.Time
	Window     time.Duration
	// Revoke is when the last access token of the family will have expired.
	Revoke time.Time
}

// IssuedCode answers a granted authorization request of a browser with a code.
type IssuedCode struct {
	RequestID   string
	BrowserHash []byte
	CodeHash    []byte
	At, Expires time.Time
	// Token stores the session of the grant in the browser, whatever its SessionID; nil for no change.
	Token *SessionToken
}

// SessionToken is the token that a browser gets for a session.
type SessionToken struct {
	SessionID string
	Hash      []byte
	Browser   string // its name
}

// Redemption redeems the code of a granted authorization request.
type Redemption struct {
	CodeHash []byte
	// SessionID and ApplicationID are those of the grant and of the request.
	SessionID, ApplicationID string
	Family                   *RefreshFamily // nil for no refresh tokens
	Event                    *Event         // is recorded unless the code is a replay; nil for none
	At                       time.Time
	// Revoke is when the last access token for the code will have expired.
	Revoke time.Time
}

// Codes of errors about authorization requests, codes and refresh tokens, all of Class Invalid.
const (
	CodeAuthCodeNotFound = "auth_code_not_found"
	CodeRefreshNotFound  = "refresh_token_not_found"
)
